"""The early part of a network, which stays frozen when the rest is fine-tuned: its last maps, and their moments.

Edges and textures of the first three stages serve any task, and take half of the time. So they are computed once
per image, and fine-tuning starts from them. A vector is the map of the third stage, channel by channel, then means
and standard deviations of the stem and the three stages.
"""

import torch
from torch import nn

from beholder.models.encoders.catalogue import ENCODERS
from beholder.models.encoders.efficientnet_lite import MEAN, SIZES, STD, STEM, EfficientNetLite, Size, load_network
from beholder.models.encoders.encoder import Encoder
from beholder.models.encoders.preprocessing import Preprocessing
from beholder.models.encoders.stage_features import moments
from beholder.models.encoders.torch_network import as_network, share_cores

DEPTH = 3
"""Stages after the stem."""
STRIDE = 8
"""Pixels per position of the map of the third stage."""


def load(name: str, variant: str, weights: str) -> Encoder:
    """The encoder, from the package that carries the weights or from a file; ``variant`` is ``size-side``."""
    size, side = _size_and_side(variant)
    network, sha256 = load_network(name, size, weights)
    preprocessing = Preprocessing("exact", side, "bicubic", scale=1.0, mean=MEAN, std=STD)
    early = EarlyMaps(network)
    dims = map_channels(SIZES[size]) * (side // STRIDE) ** 2 + moment_dims(SIZES[size])
    return Encoder(name, sha256, dims, preprocessing, as_network(early), share_cores, gradients=early)


class EarlyMaps(nn.Module):
    """From images (n, 3, side, side), the side a multiple of 8, to (n, map and moments)."""

    def __init__(self, network: EfficientNetLite) -> None:
        super().__init__()
        self.stem = network.stem
        self.stages = nn.ModuleList(list(network.stages())[:DEPTH])

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """The map of the last of these stages, then the moments of all."""
        maps = self.stem(images)
        described = moments(maps)
        for stage in self.stages:
            maps = stage(maps)
            described += moments(maps)
        return torch.cat([maps.flatten(1), *described], 1)


def split_vectors(vectors: torch.Tensor, size: Size, side: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The maps (n, channels, cells, cells) and the moments (n, moments) of vectors of such an encoder."""
    cells, channels = side // STRIDE, map_channels(size)
    positions = channels * cells**2
    return vectors[:, :positions].reshape(-1, channels, cells, cells), vectors[:, positions:]


def map_channels(size: Size) -> int:
    """Channels of the map."""
    return size.channels[DEPTH - 1]


def moment_dims(size: Size) -> int:
    """Number of means and standard deviations."""
    return 2 * (STEM + sum(size.channels[:DEPTH]))


def size_and_side(name: str) -> tuple[str, int]:
    """Size of the network and side of the image of the encoder of that name."""
    return _size_and_side(ENCODERS[name].variant)


def _size_and_side(variant: str) -> tuple[str, int]:
    size, _, side = variant.partition("-")
    return size, int(side)
