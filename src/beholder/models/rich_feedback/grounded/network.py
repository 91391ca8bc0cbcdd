"""The network: convolutions on the frozen grid, layers over the words, a map for each word, and heads.

The trunk alone decides what depends on the image alone. Words are read by layers of their own, then grounded: each
gets a map over the cells of the image, and evidence read off it. What the words have become is returned to the
cells that match them, and every head reads cells and words together. With an image expert, its outputs are
combined with those of the heads.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional

from beholder.models.encoders.grid_features import fine_features, grid_channels, grid_fine_channels
from beholder.models.rich_feedback.calibration import OutputScales, rescale
from beholder.models.rich_feedback.grounded.image_expert import ExpertOutputs, ImageExpert
from beholder.models.rich_feedback.grounded.settings import GroundedSettings
from beholder.models.rich_feedback.grounded.word_maps import Naming, WordMaps
from beholder.models.rich_feedback.grounded.words import MASKED, Offsets, WordLayer, padding_bias

MAP_PLACES = 6
"""Places along a side of a heatmap whose means are read by the heads of scores."""
MAP_SCALE = 4.0
"""Factor of means of heatmaps, which are mostly small, so that as features they are about as large as others."""
TYPICAL_WORDS = 8
"""Divisor of sums over words, so that they are about as large as means."""


@dataclass(frozen=True, eq=False)
class EncodedImages:
    """What is computed from images before any word is read."""

    trunk: torch.Tensor  # (n, width, grid, grid)
    fine: torch.Tensor  # (n, …, 2 grid, 2 grid)
    features: torch.Tensor  # (n, channels, grid, grid), of the frozen encoder


@dataclass(frozen=True, eq=False)
class Grounded:
    """What the heads read."""

    cells: torch.Tensor  # (n, width, grid, grid), with the words
    words: torch.Tensor  # (n, words, width)
    mask: torch.Tensor  # (n, words)
    maps: Mapping[str, torch.Tensor]  # heatmap -> (n, map side, map side), before the sigmoid and calibration
    image_maps: Mapping[str, torch.Tensor]  # the part of them that the image alone decides
    expert: ExpertOutputs | None  # what the image expert predicts


class GroundedNetwork(nn.Module):
    """All weights of the model, and the calibration of its outputs."""

    def __init__(self, settings: GroundedSettings, vocabulary_size: int) -> None:
        super().__init__()
        self.settings, width = settings, settings.width
        self.trunk = Trunk(grid_channels(settings.encoder), width, settings.blocks, settings.dropout)
        self.fine = nn.Conv2d(grid_fine_channels(settings.encoder), settings.head_width // 2, 1)
        self.embedding = nn.Embedding(vocabulary_size, width)
        layers = [WordLayer(width, settings.heads, settings.word_dropout) for _ in range(2 * settings.layers)]
        self.reading = nn.ModuleList(layers[: settings.layers])
        self.judging = nn.ModuleList(layers[settings.layers :])
        self.naming = Naming(vocabulary_size, width)
        self.word_maps = WordMaps(width, settings.channels, settings.pointers, settings.grid)
        self.offsets = Offsets(width, settings.pointers)
        self.keywords = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 1))
        self.feedback = WordsToCells(width, settings.heads, settings.channels)
        self.heatmaps = nn.ModuleDict({name: MapHead(width, settings.head_width) for name in settings.heatmaps})
        self.image_heatmaps = nn.ModuleDict(
            {name: MapHead(width, settings.head_width) for name in settings.image_heatmaps}
        )
        maps = len(settings.heatmaps) if settings.scores_read_maps else 0
        self.scores = nn.ModuleDict(
            {name: GroundedScoreHead(width, settings.head_width, settings.grid, maps) for name in settings.scores}
        )
        self.expert = (
            None
            if settings.image_expert is None
            else ImageExpert(
                settings.image_expert,
                grid_channels(settings.encoder),
                settings.grid,
                settings.map_side,
                settings.heatmaps,
                settings.scores,
            )
        )
        experts = 1 if self.expert is None else 2
        self.scales = OutputScales(len(settings.scores), len(settings.heatmaps), experts)

    def encode_images(self, features: torch.Tensor) -> EncodedImages:
        """The trunk and the fine features of images, from what the frozen encoder gives (n, …)."""
        grid = self.settings.grid
        features = features.reshape(features.shape[0], -1, grid, grid)
        fine = functional.gelu(self.fine(fine_features(features, self.settings.encoder)))
        return EncodedImages(self.trunk(features), fine, features)

    def naming_logits(self, trunk: torch.Tensor, token_ids: torch.Tensor) -> torch.Tensor:
        """Logits (n, words) that images show the words of these ids (words,)."""
        similarity = self.naming.similarity(trunk, self.embedding(token_ids))
        return self.naming.logits(similarity, token_ids)

    def ground(self, images: EncodedImages, token_ids: torch.Tensor, mask: torch.Tensor) -> Grounded:
        """What the heads read, of encoded images and prompts (n, words) with their mask."""
        trunk, fine = images.trunk, images.fine
        embedded = self.embedding(token_ids)
        words = embedded
        for layer in self.reading:
            words = layer(words, mask)
        similarity = self.naming.similarity(trunk, embedded)
        logits = self.naming.logits(similarity, token_ids)
        maps, positions, evidence = self.word_maps(trunk, words, similarity, logits)
        words = words + evidence
        words = words + self.offsets(words, positions, mask)
        for layer in self.judging:
            words = layer(words, mask)
        cells = trunk + self.feedback(trunk, words, maps, mask)
        image_maps = {name: head(trunk, fine) for name, head in self.image_heatmaps.items()}
        heatmaps = {name: head(cells, fine) + image_maps.get(name, 0.0) for name, head in self.heatmaps.items()}
        expert = None if self.expert is None else self.expert(images.features)
        return Grounded(cells, words, mask, heatmaps, image_maps, expert)

    def keyword_logits(self, grounded: Grounded) -> torch.Tensor:
        """Logits (n, words) that each word is misaligned, calibrated."""
        logits: torch.Tensor = self.keywords(grounded.words)[..., 0]
        return rescale(self.scales.words[0], logits)

    def heatmap(self, grounded: Grounded, aspect: str) -> torch.Tensor:
        """The map (n, map side, map side) of an aspect before the sigmoid, calibrated."""
        return self.scales.heatmap(self.settings.heatmaps.index(aspect), *self.heatmap_logits(grounded, aspect))

    def score(self, grounded: Grounded, aspect: str) -> torch.Tensor:
        """The score (n,) of an aspect before the sigmoid, calibrated."""
        return self.scales.score(self.settings.scores.index(aspect), *self.score_logits(grounded, aspect))

    def heatmap_logits(self, grounded: Grounded, aspect: str) -> tuple[torch.Tensor, ...]:
        """The maps of an aspect before calibration: by image and words, then by the image expert, if any."""
        return (grounded.maps[aspect], *([grounded.expert.maps[aspect]] if grounded.expert else []))

    def score_logits(self, grounded: Grounded, aspect: str) -> tuple[torch.Tensor, ...]:
        """The scores of an aspect before calibration, in the same order."""
        return (self.scores[aspect](grounded), *([grounded.expert.scores[aspect]] if grounded.expert else []))


class Trunk(nn.Module):
    """From the frozen grid to cells (n, width, grid, grid), by residual blocks of convolutions."""

    def __init__(self, channels: int, width: int, blocks: int, dropout: float) -> None:
        super().__init__()
        self.dropout = nn.Dropout2d(dropout)
        self.first = nn.Conv2d(channels, width, 1)
        self.blocks = nn.ModuleList(
            [nn.Sequential(*_convolution(width, width), *_convolution(width, width)) for _ in range(blocks)]
        )

    def forward(self, grid: torch.Tensor) -> torch.Tensor:
        """The cells."""
        cells: torch.Tensor = self.first(self.dropout(grid))
        for block in self.blocks:
            cells = cells + block(cells)
        return cells


class WordsToCells(nn.Module):
    """What the words have become, returned to the cells: by attention, and by the words' own maps."""

    def __init__(self, width: int, heads: int, channels: int) -> None:
        super().__init__()
        self.heads = heads
        self.queries, self.keys_values = nn.Conv2d(width, width, 1), nn.Linear(width, 2 * width)
        self.gates = nn.Linear(width, channels)
        self.output = nn.Sequential(
            nn.Conv2d(2 * width + channels, width, 1), nn.GELU(), nn.Conv2d(width, width, 1)
        )

    def forward(
        self, trunk: torch.Tensor, words: torch.Tensor, maps: torch.Tensor, mask: torch.Tensor
    ) -> torch.Tensor:
        """The change (n, width, grid, grid) of the cells."""
        n, width, grid, _ = trunk.shape
        queries = self.queries(trunk).reshape(n, self.heads, -1, grid * grid).transpose(2, 3)
        split = self.keys_values(words).reshape(n, words.shape[1], 2, self.heads, -1)
        keys, values = split.permute(2, 0, 3, 1, 4)
        bias = padding_bias(mask)[:, None]
        attended = functional.scaled_dot_product_attention(queries, keys, values, attn_mask=bias)
        attended = attended.transpose(2, 3).reshape(n, width, grid, grid)
        gates = self.gates(words) * mask[..., None]
        marked = torch.einsum("nwc,nwcp->ncp", gates, maps).reshape(n, -1, grid, grid)
        change: torch.Tensor = self.output(torch.cat([trunk, attended, marked], 1))
        return change


class MapHead(nn.Module):
    """From cells, and fine features at twice their resolution, to a map of four times their resolution."""

    def __init__(self, width: int, inner: int) -> None:
        super().__init__()
        self.coarse = nn.Sequential(*_convolution(width, inner), nn.ConvTranspose2d(inner, inner // 2, 2, 2))
        self.refine = nn.Sequential(*_convolution(2 * (inner // 2), inner // 2), nn.GELU())
        self.output = nn.Conv2d(inner // 2, 4, 3, padding=1)

    def forward(self, cells: torch.Tensor, fine: torch.Tensor) -> torch.Tensor:
        """The map before the sigmoid."""
        refined = self.refine(torch.cat([self.coarse(cells), fine], 1))
        maps: torch.Tensor = functional.pixel_shuffle(self.output(refined), 2)
        return maps[:, 0]


class GroundedScoreHead(nn.Module):
    """From cells, words and heatmaps, of which there may be none, to a score (n,) before the sigmoid."""

    def __init__(self, width: int, inner: int, grid: int, maps: int) -> None:
        super().__init__()
        half, self.maps = inner // 2, maps
        self.cells = nn.Sequential(*_convolution(width, inner), nn.GELU(), nn.Conv2d(inner, half, 3, 2, padding=1))
        self.words = nn.Linear(width, inner)
        places = ((grid + 1) // 2) ** 2
        self.output = nn.Sequential(
            nn.Linear(half * places + 4 * inner + maps * (MAP_PLACES**2 + 2), 64), nn.GELU(), nn.Linear(64, 1)
        )

    def forward(self, grounded: Grounded) -> torch.Tensor:
        """The score."""
        cells = self.cells[:-1](grounded.cells)
        words, mask = functional.gelu(self.words(grounded.words)), grounded.mask[..., None]
        read = [
            functional.gelu(self.cells[-1](cells)).flatten(1),
            cells.mean((2, 3)),
            cells.amax((2, 3)),
            (words * mask).sum(1) / TYPICAL_WORDS,
            words.masked_fill(mask == 0, MASKED).amax(1),
        ]
        if self.maps:
            read.append(_summarise(torch.stack(list(grounded.maps.values()), 1).detach().sigmoid()))
        scores: torch.Tensor = self.output(torch.cat(read, 1))
        return scores[:, 0]


def _summarise(maps: torch.Tensor) -> torch.Tensor:
    """The means over places, over all and the maximum of maps (n, maps, side, side), as (n, features)."""
    places = functional.adaptive_avg_pool2d(maps, MAP_PLACES)
    return torch.cat([MAP_SCALE * places.flatten(1), MAP_SCALE * maps.mean((2, 3)), maps.amax((2, 3))], 1)


def _convolution(before: int, after: int) -> tuple[nn.Module, ...]:
    """A norm, an activation and a 3 × 3 convolution."""
    return nn.GroupNorm(1, before), nn.GELU(), nn.Conv2d(before, after, 3, padding=1)
