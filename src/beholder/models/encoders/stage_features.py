"""Statistics of the feature maps of every stage of a frozen network, from edges and textures up to objects.

The quality of an image depends on its texture and sharpness, which early stages respond to, as much as on its
content. The last features of a network, at the size it was trained for, have lost most of that. So the image is
taken at about the size at which raters saw it; the features are the mean and the standard deviation of each
channel of each stage and, of the early stages, the covariance of each two channels, which describes texture.
"""

import torch
from torch import nn

from beholder.models.encoders.efficientnet_lite import (
    FEATURES,
    MEAN,
    SIZES,
    STD,
    STEM,
    EfficientNetLite,
    Size,
    load_network,
)
from beholder.models.encoders.encoder import Encoder
from beholder.models.encoders.preprocessing import Preprocessing
from beholder.models.encoders.torch_network import as_network, share_cores

TEXTURED = 4
"""Stages after the stem whose covariances are used; later ones have too many channels."""


def load(name: str, variant: str, weights: str) -> Encoder:
    """The encoder, from the package that carries the weights or from a file; ``variant`` is ``size-side``."""
    size, _, side = variant.partition("-")
    network, sha256 = load_network(name, size, weights)
    preprocessing = Preprocessing("shortest", int(side), "bicubic", int(side), scale=1.0, mean=MEAN, std=STD)
    called = as_network(StageFeatures(network))
    return Encoder(name, sha256, stage_dims(SIZES[size]), preprocessing, called, share_cores)


def stage_dims(size: Size) -> int:
    """Number of features per image."""
    channels = (STEM, *size.channels, FEATURES)
    pairs = sum(width * (width - 1) // 2 for width in channels[: TEXTURED + 1])
    return 2 * sum(channels) + pairs


class StageFeatures(nn.Module):
    """From images (n, 3, height, width) to the statistics of all stages, (n, dims)."""

    def __init__(self, network: EfficientNetLite) -> None:
        super().__init__()
        self.network = network

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Means and standard deviations from the stem to the head, then the textures of the early stages."""
        maps = self.network.stem(images)
        statistics, textures = moments(maps), [texture(maps)]
        for index, stage in enumerate(self.network.stages()):
            maps = stage(maps)
            statistics += moments(maps)
            textures += [texture(maps)] if index < TEXTURED else []
        return torch.cat(statistics + moments(self.network.head(maps)) + textures, 1)


def moments(maps: torch.Tensor) -> list[torch.Tensor]:
    """Mean and standard deviation over the positions of each channel, both (n, channels)."""
    variance, mean = torch.var_mean(maps, (2, 3), correction=0)
    return [mean, variance.sqrt()]


def texture(maps: torch.Tensor) -> torch.Tensor:
    """The covariance of each two channels over the positions, (n, pairs), as its signed root."""
    channels = maps.shape[1]
    positions = maps.permute(0, 2, 3, 1).flatten(1, 2)  # (n, positions, channels)
    centred = positions - positions.mean(1, keepdim=True)
    covariance = centred.transpose(1, 2) @ centred / centred.shape[1]  # (n, channels, channels)
    first, second = torch.triu_indices(channels, channels, 1)
    pairs = covariance[:, first, second]
    return pairs.sign() * pairs.abs().sqrt()
