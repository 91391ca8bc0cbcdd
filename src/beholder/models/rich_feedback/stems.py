"""Stems that turn an image into tokens: convolutions on its pixels, or on the grid of a frozen encoder."""

from itertools import pairwise

import torch
from torch import nn

from beholder.models.rich_feedback.heads import convolution


class Stem(nn.Conv2d):
    """Convolutions of stride 2, as many as reduce a patch to one token, each wider than the one before.

    It replaces a tower's patch convolution, whose weights the tower accesses: so it is a convolution itself.
    """

    def __init__(self, width: int, patch: int) -> None:
        steps = patch.bit_length() - 1
        widths = [max(width >> (steps - step), 8) for step in range(1, steps + 1)]
        super().__init__(widths[-1], width, 1)
        before = [convolution(inner, outer, stride=2) for inner, outer in pairwise((3, *widths))]
        self.before = nn.Sequential(*before)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """From (n, 3, side, side) to (n, width, grid, grid)."""
        return super().forward(self.before(images))


class GridStem(nn.Conv2d):
    """From the grid of a frozen encoder to tokens of ``stride`` × ``stride`` cells.

    In training a proportion of an image's channels is dropped at each step, so that no few of them dominate.
    """

    def __init__(self, channels: int, width: int, stride: int, dropout: float = 0.0) -> None:
        super().__init__(2 * width, width, 1)
        first = nn.Conv2d(channels, max(width // 2, 1), 1)
        second = nn.Conv2d(max(width // 2, 1), 2 * width, 3, stride, padding=1)
        self.before = nn.Sequential(first, nn.GELU(), second, nn.GELU())
        self.dropout = nn.Dropout2d(dropout)

    def forward(self, grid: torch.Tensor) -> torch.Tensor:
        """From (n, channels, grid, grid) to (n, width, grid / stride, grid / stride)."""
        return super().forward(self.before(self.dropout(grid)))
