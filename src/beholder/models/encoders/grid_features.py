"""A grid of features of a frozen network, from edges up to parts of objects.

The cells are those of the fifth stage, one per 16 × 16 pixels. Each has that stage's channels, the channels of the
third stage at its four quarters, and the means of the second's: content, colour and texture.
"""

import torch
from torch import nn
from torch.nn import functional

from beholder.models.encoders.catalogue import ENCODERS
from beholder.models.encoders.efficientnet_lite import MEAN, SIZES, STD, EfficientNetLite, Size, load_network
from beholder.models.encoders.encoder import Encoder
from beholder.models.encoders.preprocessing import Preprocessing
from beholder.models.encoders.torch_network import as_network, share_cores

CELL = 16
"""Pixels along the side of a cell."""
SPREAD = 6.0
"""Approximate standard deviation of the channels; the features are divided by it."""


def load(name: str, variant: str, weights: str) -> Encoder:
    """The encoder, from the package that carries the weights or from a file; ``variant`` is ``size-side``.

    Its vectors are (channels, side / 16, side / 16), row by row.
    """
    size, _, side = variant.partition("-")
    network, sha256 = load_network(name, size, weights)
    preprocessing = Preprocessing("exact", int(side), "bicubic", scale=1.0, mean=MEAN, std=STD)
    dims = channels(SIZES[size]) * (int(side) // CELL) ** 2
    grid = GridFeatures(network)
    called = as_network(grid)
    return Encoder(name, sha256, dims, preprocessing, called, share_cores, gradients=grid)


def grid_channels(name: str) -> int:
    """Number of features per cell of the encoder of that name."""
    return channels(_size(name))


def channels(size: Size) -> int:
    """Number of features per cell."""
    return size.channels[4] + 4 * size.channels[2] + size.channels[1]


def grid_fine_channels(name: str) -> int:
    """Number of features of :func:`fine_features` per place of the encoder of that name."""
    return _size(name).channels[2]


def fine_features(features: torch.Tensor, name: str) -> torch.Tensor:
    """The third stage (n, channels, 2 × cells, 2 × cells) out of a grid (n, channels, cells, cells)."""
    deepest, quarters = _size(name).channels[4], 4 * _size(name).channels[2]
    return functional.pixel_shuffle(features[:, deepest : deepest + quarters], 2)


def _size(name: str) -> Size:
    return SIZES[ENCODERS[name].variant.partition("-")[0]]


class GridFeatures(nn.Module):
    """From images (n, 3, height, width), both multiples of 16, to (n, channels × cells)."""

    def __init__(self, network: EfficientNetLite) -> None:
        super().__init__()
        self.stem = network.stem
        self.stages = nn.ModuleList(list(network.stages())[:5])

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """The features of all cells, channel by channel."""
        maps = [self.stem(images)]
        for stage in self.stages:
            maps.append(stage(maps[-1]))
        quarters = functional.pixel_unshuffle(maps[3], 2)
        together = torch.cat([maps[5], quarters, functional.avg_pool2d(maps[2], 4)], 1)
        return together.flatten(1) / SPREAD
