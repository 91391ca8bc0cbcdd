"""The heads that read image tokens: a heatmap by doubling the grid, a score by convolutions and dense layers."""

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import nn


class ChannelNorm(nn.LayerNorm):
    """Layer norm over the channels of each pixel of (n, channels, height, width)."""

    def forward(self, maps: torch.Tensor) -> torch.Tensor:
        """The normalised maps."""
        return super().forward(maps.movedim(1, -1)).movedim(-1, 1)


def convolution(before: int, after: int, *, stride: int = 1) -> nn.Sequential:
    """A 3 × 3 convolution with layer norm over channels and ReLU."""
    return nn.Sequential(nn.Conv2d(before, after, 3, stride, padding=1), ChannelNorm(after), nn.ReLU())


def doubling(before: int, after: int) -> nn.Sequential:
    """A transposed convolution of stride 2 and the two read-out convolutions after it."""
    doubled = nn.ConvTranspose2d(before, after, 3, stride=2, padding=1, output_padding=1)
    return nn.Sequential(
        doubled, ChannelNorm(after), nn.ReLU(), convolution(after, after), convolution(after, after)
    )


class HeatmapHead(nn.Module):
    """From tokens (n, grid², width) to a map (n, side, side) before the sigmoid."""

    def __init__(self, grid: int, width: int, widths: Sequence[int]) -> None:
        super().__init__()
        self.grid = grid
        first = nn.Sequential(convolution(width, widths[0]), convolution(widths[0], widths[0]))
        steps = [doubling(before, after) for before, after in pairwise((widths[0], *widths))]
        self.layers = nn.Sequential(first, *steps, nn.Conv2d(widths[-1], 1, 3, padding=1))

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """The map."""
        maps: torch.Tensor = self.layers(as_map(tokens, self.grid))
        return maps[:, 0]


class ScoreHead(nn.Module):
    """From tokens (n, grid², width) to a score (n,) before the sigmoid."""

    def __init__(self, grid: int, width: int, widths: Sequence[int], dense: Sequence[int]) -> None:
        super().__init__()
        self.grid = grid
        steps = [convolution(before, after) for before, after in pairwise((width, *widths))]
        sizes = (widths[-1] * grid * grid, *dense)
        linear = [nn.Sequential(nn.Linear(before, after), nn.ReLU()) for before, after in pairwise(sizes)]
        self.layers = nn.Sequential(*steps, nn.Flatten(), *linear, nn.Linear(sizes[-1], 1))

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """The score."""
        scores: torch.Tensor = self.layers(as_map(tokens, self.grid))
        return scores[:, 0]


def as_map(tokens: torch.Tensor, grid: int) -> torch.Tensor:
    """Tokens (n, grid², width), row by row, as a map (n, width, grid, grid)."""
    return tokens.transpose(1, 2).reshape(tokens.shape[0], -1, grid, grid)
