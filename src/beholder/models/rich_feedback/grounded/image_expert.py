"""The image expert: convolutions with heads of their own that see the image and never the prompt.

It shares no weights with the rest of the network, so it errs in other places, and calibration weighs the logits of
both. Scores and heatmaps that raters gave to an image stay valid for it when a word of the prompt was exchanged.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional

from beholder.models.rich_feedback.grounded.settings import ImageExpertSettings
from beholder.models.rich_feedback.heads import HeatmapHead, ScoreHead
from beholder.models.rich_feedback.stems import GridStem

STRIDE = 2
"""Cells of the encoder's grid along the side of one of the expert's."""


@dataclass(frozen=True, eq=False)
class ExpertOutputs:
    """What the expert predicts, before the sigmoid and calibration."""

    maps: Mapping[str, torch.Tensor]  # heatmap -> (n, map side, map side)
    scores: Mapping[str, torch.Tensor]  # score -> (n,)


class ImageExpert(nn.Module):
    """Three convolutions on the grid of the frozen encoder, and a head for each heatmap and each score."""

    def __init__(
        self,
        settings: ImageExpertSettings,
        channels: int,
        grid: int,
        map_side: int,
        heatmaps: Sequence[str],
        scores: Sequence[str],
    ) -> None:
        super().__init__()
        self.map_side, cells, width = map_side, grid // STRIDE, settings.width
        self.stem = GridStem(channels, width, STRIDE, settings.dropout)
        self.heatmaps = nn.ModuleDict({name: HeatmapHead(cells, width, settings.heatmap) for name in heatmaps})
        self.scores = nn.ModuleDict(
            {name: ScoreHead(cells, width, settings.score, settings.dense) for name in scores}
        )

    def forward(self, features: torch.Tensor) -> ExpertOutputs:
        """Heatmaps, enlarged to the size of the network's, and scores of features (n, channels, grid, grid)."""
        tokens = self.stem(features).flatten(2).transpose(1, 2)
        maps = {name: self._enlarge(head(tokens)) for name, head in self.heatmaps.items()}
        return ExpertOutputs(maps, {name: head(tokens) for name, head in self.scores.items()})

    def _enlarge(self, maps: torch.Tensor) -> torch.Tensor:
        size = (self.map_side, self.map_side)
        return functional.interpolate(maps[:, None], size, mode="bilinear", align_corners=False)[:, 0]
