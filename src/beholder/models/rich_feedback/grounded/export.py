"""The grounded network as one program that runs without this package: ``torch.export``'s .pt2 file.

The program takes any number of images with prompts of any lengths:

- ``features`` (images, …) of the frozen encoder, which is no part of the program;
- ``token_ids`` (images, longest) of the prompts with their end token, and ``mask``, 1 where there is a token.

It returns a tensor for each heatmap (images, map side, map side) and each score (images,), and ``keywords``, the
probability (images, longest) that each word is misaligned; all from 0 to 1.
"""

from pathlib import Path

import torch
from torch import nn
from torch.export import Dim, ExportedProgram

from beholder.models.encoders.grid_features import grid_channels
from beholder.models.rich_feedback.grounded.model import GroundedModel
from beholder.models.rich_feedback.grounded.network import GroundedNetwork
from beholder.models.rich_feedback.settings import KEYWORDS


class ExportableGrounded(nn.Module):
    """The network with all its outputs."""

    def __init__(self, network: GroundedNetwork) -> None:
        super().__init__()
        self.network = network

    def forward(
        self, features: torch.Tensor, token_ids: torch.Tensor, mask: torch.Tensor
    ) -> dict[str, torch.Tensor]:
        """Every output by its name."""
        network = self.network
        grounded = network.ground(network.encode_images(features), token_ids, mask)
        outputs = {f"{name} heatmap": network.heatmap(grounded, name).sigmoid() for name in network.heatmaps}
        outputs |= {f"{name} score": network.score(grounded, name).sigmoid() for name in network.scores}
        return outputs | {KEYWORDS: network.keyword_logits(grounded).sigmoid()}


def export_grounded(model: GroundedModel, path: Path) -> ExportedProgram:
    """Write the program to a .pt2 file; ``torch.export.load(path).module()`` runs it."""
    settings = model.settings
    features = torch.zeros(3, grid_channels(settings.encoder) * settings.grid**2)
    token_ids = torch.full((3, 5), model.tokenizer.end)
    images, longest = Dim("images", min=1), Dim("longest", min=1)
    shapes = ({0: images}, {0: images, 1: longest}, {0: images, 1: longest})
    with torch.no_grad():
        program = torch.export.export(
            ExportableGrounded(model.module).eval(),
            (features, token_ids, torch.ones_like(token_ids)),
            dynamic_shapes=shapes,
        )
    torch.export.save(program, path)
    return program
