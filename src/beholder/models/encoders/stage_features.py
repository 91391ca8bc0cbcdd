"""Statistics of the feature maps of every stage of a frozen network, from edges and textures up to objects.

The quality of an image depends on its texture and sharpness, which early stages respond to, as much as on its
content. The last features of a network, at the size it was trained for, have lost most of that. So the image is
taken at about the size at which raters saw it; the features are the mean and the standard deviation of each
channel of each stage and, of the early stages, the covariance of each two channels, which describes texture.

Two variants without textures cost less. ``moments`` takes the image at the size that the network was trained for:
hardly more work than its own forward pass, whose features are among them. ``details`` takes the early stages of a
square from the middle at full resolution, where sharpness and noise show.
"""

from dataclasses import dataclass
from itertools import islice

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


@dataclass(frozen=True, slots=True)
class Variant:
    """Which network, at which size of the image, and which of its statistics."""

    size: str
    side: int
    """Of the shortest side of the image."""
    crop: int
    """Side of the square cut from the middle."""
    textured: bool = True
    depth: int | None = None
    """Stages after the stem; ``None``: all, and the head."""


VARIANTS = {
    "lite0-512": Variant("lite0", 512, 512),
    "lite2-384": Variant("lite2", 384, 384),
    "lite0-moments": Variant("lite0", 224, 224, textured=False),
    "lite0-details": Variant("lite0", 512, 128, textured=False, depth=5),
}


def load(name: str, variant: str, weights: str) -> Encoder:
    """The encoder, from the package that carries the weights or from a file; ``variant`` is in ``VARIANTS``."""
    chosen = VARIANTS[variant]
    size = SIZES[chosen.size]
    network, sha256 = load_network(name, chosen.size, weights)
    preprocessing = Preprocessing("shortest", chosen.side, "bicubic", chosen.crop, scale=1.0, mean=MEAN, std=STD)
    stages = StageFeatures(network, textured=chosen.textured, depth=chosen.depth)
    called = as_network(stages)
    contains_features = chosen.depth is None and chosen.side == chosen.crop == size.side
    parts = {f"efficientnet-{chosen.size}": head_means(size)} if contains_features else {}
    groups = stage_groups(size, textured=chosen.textured, depth=chosen.depth)
    return Encoder(name, sha256, sum(groups), preprocessing, called, share_cores, parts, groups, stages)


def stage_groups(size: Size, *, textured: bool = True, depth: int | None = None) -> tuple[int, ...]:
    """Numbers of features per image: means and standard deviations of every stage in turn, then the textures."""
    channels = (STEM, *size.channels, FEATURES)[: None if depth is None else depth + 1]
    pairs = [width * (width - 1) // 2 for width in channels[: TEXTURED + 1]] if textured else []
    return (*(width for width in channels for _ in ("mean", "spread")), *pairs)


def head_means(size: Size) -> slice:
    """The columns with the means of the head, which are the network's own features."""
    before = 2 * (STEM + sum(size.channels))
    return slice(before, before + FEATURES)


class StageFeatures(nn.Module):
    """From images (n, 3, height, width) to the statistics of all stages, or of the first ``depth``: (n, dims)."""

    def __init__(self, network: EfficientNetLite, *, textured: bool = True, depth: int | None = None) -> None:
        super().__init__()
        self.network = network
        self.textured = textured
        self.depth = depth

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Means and standard deviations from the stem to the head, then the textures of the early stages."""
        maps = self.network.stem(images)
        statistics: list[torch.Tensor] = []
        textures: list[torch.Tensor] = []
        self._describe(maps, statistics, textures, textured=self.textured)
        for index, stage in enumerate(islice(self.network.stages(), self.depth)):
            maps = stage(maps)
            self._describe(maps, statistics, textures, textured=self.textured and index < TEXTURED)
        statistics += moments(self.network.head(maps)) if self.depth is None else []
        return torch.cat(statistics + textures, 1)

    @staticmethod
    def _describe(
        maps: torch.Tensor, statistics: list[torch.Tensor], textures: list[torch.Tensor], *, textured: bool
    ) -> None:
        """Append the statistics of the maps of a stage, and their texture if it is one of those with textures."""
        if not textured:
            statistics += moments(maps)
            return
        *both, pairs = moments_and_texture(maps)
        statistics += both
        textures.append(pairs)


def moments(maps: torch.Tensor) -> list[torch.Tensor]:
    """Mean and standard deviation over the positions of each channel, both (n, channels).

    In two passes: ``torch.var_mean`` takes nine times as long where channels are last.
    """
    mean = maps.mean((2, 3))
    centred = maps - mean[:, :, None, None]
    return [mean, centred.square_().mean((2, 3)).sqrt()]


def moments_and_texture(maps: torch.Tensor) -> list[torch.Tensor]:
    """Mean and standard deviation of each channel, (n, channels), and the texture, (n, pairs).

    The texture is the covariance of each two channels over the positions, as its signed root. The variances are
    the diagonal of the same matrix, so the maps are centred only once; and one image at a time, so that its maps
    stay in the processor's cache.
    """
    described = [_moments_and_texture(positions) for positions in maps.permute(0, 2, 3, 1).flatten(1, 2)]
    return [torch.stack(column) for column in zip(*described, strict=True)]


def _moments_and_texture(positions: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The same of one image (positions, channels)."""
    count, channels = positions.shape
    mean = positions.mean(0)
    centred = positions - mean
    covariance = centred.T @ centred / count  # (channels, channels)
    first, second = torch.triu_indices(channels, channels, 1)
    pairs = covariance[first, second]
    return mean, covariance.diagonal().sqrt(), pairs.sign() * pairs.abs().sqrt()
