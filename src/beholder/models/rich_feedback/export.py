"""The network as one program that runs without this package: ``torch.export``'s .pt2 file.

The program takes preprocessed images and prompts, any number of images and any lengths:

- ``pixels`` (images, …), prepared: pixels, or features of the frozen encoder, which is no part of the program;
- ``token_ids`` (images, longest) of the prompts, and ``prompt_mask``, 1 where there is a token;
- ``decoder_ids`` (images, written), what the decoder has written so far, starting with the pad token.

It returns a tensor for each heatmap (images, map side, map side) and each score (images,), both from 0 to 1, and
``keywords``, the logits (images, written, vocabulary size) of the next token, which are not calibrated. Nor are
outputs of a head that serves several aspects: which one it is, only the prompt says.
"""

from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch import nn
from torch.export import Dim, ExportedProgram

from beholder.models.rich_feedback.model import RichFeedbackModel
from beholder.models.rich_feedback.network import SHARED, RichFeedbackNetwork
from beholder.models.rich_feedback.settings import KEYWORDS

Inputs = tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]
"""``pixels``, ``token_ids``, ``prompt_mask`` and ``decoder_ids``."""


class ExportableNetwork(nn.Module):
    """Tower, encoder, every head and one pass of the decoder."""

    def __init__(self, network: RichFeedbackNetwork) -> None:
        super().__init__()
        self.network = network

    def forward(
        self, pixels: torch.Tensor, token_ids: torch.Tensor, prompt_mask: torch.Tensor, decoder_ids: torch.Tensor
    ) -> dict[str, torch.Tensor]:
        """Every output by its name."""
        network = self.network
        encoded = network.encode(network.encode_images(pixels), token_ids, prompt_mask)
        heatmap = network.heatmap_logits if SHARED in network.heatmaps else network.heatmap
        score = network.score_logits if SHARED in network.scores else network.score
        outputs = {f"{name} heatmap": heatmap(encoded, name).sigmoid() for name in network.heatmaps}
        outputs |= {f"{name} score": score(encoded, name).sigmoid() for name in network.scores}
        if network.settings.keywords:
            outputs[KEYWORDS] = network.next_token_logits(encoded, decoder_ids)
        return outputs


def export_network(model: RichFeedbackModel, path: Path) -> ExportedProgram:
    """Write the program to a .pt2 file; ``torch.export.load(path).module()`` runs it."""
    network = ExportableNetwork(model.module).eval()
    images, longest, written = Dim("images", min=1), Dim("longest", min=1), Dim("written", min=1)
    shapes = ({0: images}, {0: images, 1: longest}, {0: images, 1: longest}, {0: images, 1: written})
    with torch.no_grad():
        program = torch.export.export(network, example_inputs(model), dynamic_shapes=shapes)
    torch.export.save(program, path)
    return program


def example_inputs(model: RichFeedbackModel) -> Inputs:
    """Two blank images with prompts of different lengths, with which the program is traced."""
    tokenizer = model.tokenizer
    token_ids = torch.tensor(
        [
            [*tokenizer.mark, *tokenizer.mark, tokenizer.end],
            [tokenizer.end, *[tokenizer.pad] * 2 * len(tokenizer.mark)],
        ]
    )
    prompt_mask = torch.tensor([[1] * token_ids.shape[1], [1] + [0] * (token_ids.shape[1] - 1)])
    decoder_ids = torch.full((2, 4), tokenizer.pad)
    pixels = torch.from_numpy(np.stack([model.prepare(Image.new("RGB", (8, 8)))] * 2))
    return torch.zeros_like(pixels), token_ids, prompt_mask, decoder_ids
