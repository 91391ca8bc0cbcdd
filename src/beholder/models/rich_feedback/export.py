"""The network as one program that runs without this package: ``torch.export``'s .pt2 file.

The program takes what the model makes of images and prompts, for any number of images and any lengths:

- ``pixels`` (images, …), prepared: pixels, or what the frozen encoder sees, which is no part of the program;
- ``numbers`` (images, longest), the prompts as pieces, and ``read``, 1 where there is one;
- ``given`` (images, written), what the decoder has written so far, beginning with the pad.

It gives a tensor for each heatmap (images, map side, map side) and each score (images,), both from 0 to 1, and
``keywords``, the logits (images, written, size) of what is written next.
"""

from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch import nn
from torch.export import Dim, ExportedProgram

from beholder.models.rich_feedback.model import RichFeedbackModel
from beholder.models.rich_feedback.network import RichFeedbackNetwork
from beholder.models.rich_feedback.settings import KEYWORDS

Inputs = tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]
"""``pixels``, ``numbers``, ``read`` and ``given``."""


class WholeNetwork(nn.Module):
    """Tower, encoder, every head and one pass of the decoder."""

    def __init__(self, network: RichFeedbackNetwork) -> None:
        super().__init__()
        self.network = network

    def forward(
        self, pixels: torch.Tensor, numbers: torch.Tensor, read: torch.Tensor, given: torch.Tensor
    ) -> dict[str, torch.Tensor]:
        """Every output by its name."""
        network = self.network
        encoded = network.encode(network.look(pixels), numbers, read)
        found = {f"{name} heatmap": network.heatmap(encoded, name).sigmoid() for name in network.heatmaps}
        found |= {f"{name} score": network.score(encoded, name).sigmoid() for name in network.scores}
        if network.settings.keywords:
            found[KEYWORDS] = network.write(encoded, given)
        return found


def export_network(model: RichFeedbackModel, path: Path) -> ExportedProgram:
    """Write the program to a .pt2 file; ``torch.export.load(path).module()`` runs it."""
    whole = WholeNetwork(model.module).eval()
    images, longest, written = Dim("images", min=1), Dim("longest", min=1), Dim("written", min=1)
    shapes = ({0: images}, {0: images, 1: longest}, {0: images, 1: longest}, {0: images, 1: written})
    with torch.no_grad():
        program = torch.export.export(whole, example_inputs(model), dynamic_shapes=shapes)
    torch.export.save(program, path)
    return program


def example_inputs(model: RichFeedbackModel) -> Inputs:
    """Two made-up images with prompts of different lengths, by which the program is traced."""
    pieces = model.pieces
    rows = torch.tensor(
        [[*pieces.mark, *pieces.mark, pieces.end], [pieces.end, *[pieces.pad] * 2 * len(pieces.mark)]]
    )
    read = torch.tensor([[1] * rows.shape[1], [1] + [0] * (rows.shape[1] - 1)])
    given = torch.full((2, 4), pieces.pad)
    pixels = torch.from_numpy(np.stack([model.prepare(Image.new("RGB", (8, 8)))] * 2))
    return torch.zeros_like(pixels), rows, read, given
