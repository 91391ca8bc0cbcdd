"""Convolutions with heads for scores and heatmaps: the baseline that does not read the prompt."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, partial
from typing import Literal

import numpy as np
import torch
import transformers
from numpy.typing import NDArray
from PIL import Image
from pydantic import Field, model_validator
from torch import nn

from beholder.models.division import part_weight
from beholder.models.encoders.catalogue import load_encoder
from beholder.models.encoders.differentiable import prepare_with_gradients
from beholder.models.encoders.encoder import Encoder
from beholder.models.encoders.grid_features import grid_channels
from beholder.models.encoders.preprocessing import HALF, Preprocessing
from beholder.models.recipe_settings import validate_settings
from beholder.models.rich_feedback.calibration import Calibration, OutputScales
from beholder.models.rich_feedback.heads import HeatmapHead, ScoreHead
from beholder.models.rich_feedback.losses import count_heatmaps, count_scores, heatmap_loss, score_loss
from beholder.models.rich_feedback.settings import GRIDS, HEATMAPS, SCORES, Heads, Losses
from beholder.models.rich_feedback.stems import GridStem
from beholder.models.rich_feedback.trainable import FeedbackTensors, RichBatch, RichFeedback
from beholder.models.trainable import Config, Groups, decayed_groups
from beholder.study.question import Settings
from beholder.tables.provenance import Plain

STEM = 4
"""The first convolution and the pooling after it halve an image twice; each stage but the first once more."""


GRID_STRIDE = 2
"""Cells of a frozen encoder's grid along the side of one of ours."""


class CnnSettings(Settings):
    """The ``[model]`` table of a recipe; the defaults are ResNet-50."""

    architecture: Literal["rich-cnn"] = "rich-cnn"
    side: int = Field(224, ge=16, description="pixels")
    stem: int = Field(64, ge=4, description="channels of the first convolution")
    widths: tuple[int, ...] = Field((256, 512, 1024, 2048), min_length=1, description="channels of the stages")
    depths: tuple[int, ...] = Field((3, 4, 6, 3), min_length=1, description="blocks of the stages")
    encoder: str | None = Field(
        None,
        description="a frozen encoder with a grid of features: three convolutions on it, as wide as the last "
        "stage, replace all stages",
    )
    blocks: Literal["basic", "bottleneck"] = "bottleneck"
    heads: Heads = Heads()
    losses: Losses = Losses()
    heatmaps: tuple[str, ...] = Field(HEATMAPS, description="aspects of regions")
    scores: tuple[str, ...] = Field(SCORES, description="aspects of ratings")

    @model_validator(mode="after")
    def _fits(self) -> "CnnSettings":
        if len(self.widths) != len(self.depths):
            raise ValueError(f"widths has {len(self.widths)} stages, depths {len(self.depths)}; expected as many")
        if self.encoder is not None and self.encoder not in GRIDS:
            raise ValueError(f"encoder '{self.encoder}' gives no grid; those that do: {', '.join(GRIDS)}")
        if self.encoder is None and self.side % self.stride:
            raise ValueError(f"side ({self.side}) must be a multiple of {self.stride}, a cell of the last stage")
        if not (self.heatmaps or self.scores):
            raise ValueError("nothing is to be predicted: name heatmaps or scores")
        return self

    @property
    def stride(self) -> int:
        """Pixels along the side of a cell of the last stage."""
        return STEM << (len(self.widths) - 1)

    @property
    def grid(self) -> int:
        """Cells along a side of the last stage, or of the encoder's grid."""
        if self.encoder is None:
            return self.side // self.stride
        side, cell = GRIDS[self.encoder]
        return side // (cell * GRID_STRIDE)

    @property
    def map_side(self) -> int:
        """Side of the predicted heatmaps, in pixels."""
        return self.grid << len(self.heads.heatmap)


def configure(settings: Mapping[str, Plain], prompts: Sequence[str], aspects: Sequence[str]) -> Config:
    """Everything needed to build the model; see :mod:`beholder.models.architectures`."""
    del prompts, aspects
    return validate_settings(CnnSettings, settings).model_dump(mode="json")


def build(config: Config, *, fresh: bool) -> "RichCnn":
    """Build the model from its configuration."""
    del fresh  # it starts from random weights
    return RichCnn(CnnSettings.model_validate(dict(config)))


class RichCnn:
    """The network with its losses and predictions; it predicts no misaligned words. A ``RichTrainable``."""

    def __init__(self, settings: CnnSettings) -> None:
        self.settings = settings
        self._module = CnnNetwork(settings)
        self.preprocessing = Preprocessing("exact", settings.side, "bicubic", mean=HALF, std=HALF)

    @property
    def module(self) -> "CnnNetwork":
        """All weights."""
        return self._module

    @property
    def config(self) -> Config:
        """The configuration that builds the same model."""
        return self.settings.model_dump(mode="json")

    @cached_property
    def encoders(self) -> tuple[Encoder, ...]:
        """The frozen encoder; none where the network takes pixels."""
        return () if self.settings.encoder is None else (load_encoder(self.settings.encoder),)

    def prepare(self, image: Image.Image, rng: np.random.Generator | None = None) -> NDArray[np.float32]:
        """The image at the size of the network; augmentation, which changes heatmaps as well, comes before."""
        del rng
        if self.encoders:
            features: NDArray[np.float32] = self.encoders[0].encode([np.asarray(image)])[0]
            return features
        return self.preprocessing.prepare(image)

    def parameter_groups(self, learning_rate: float, weight_decay: float) -> Groups:
        """All parameters are trained."""
        return decayed_groups(self._module, learning_rate, weight_decay)

    def after_step(self) -> None:
        """Nothing is clamped."""

    def loss(self, batch: RichBatch) -> torch.Tensor:
        """The weighted sum of the losses of all outputs."""
        weights = self.settings.losses
        tokens = self._module.encode_images(batch.pixels)
        total = torch.zeros((), device=batch.pixels.device)
        for column, aspect in enumerate(self.settings.heatmaps):
            logits = self._module.heatmaps[aspect](tokens)
            weight = weights.heatmap * part_weight(batch, partial(count_heatmaps, column=column))
            total = total + weight * heatmap_loss(logits, batch.heatmaps[:, column], weights.floor)
        for column, aspect in enumerate(self.settings.scores):
            weight = weights.score * part_weight(batch, partial(count_scores, column=column))
            total = total + weight * score_loss(self._module.score(tokens, aspect), batch.scores[:, column])
        return total

    def predict(self, batch: RichBatch) -> Mapping[str, torch.Tensor]:
        """The scores by aspect."""
        tokens = self._module.encode_images(batch.pixels)
        return {aspect: self._module.score(tokens, aspect).sigmoid() for aspect in self.settings.scores}

    @torch.inference_mode()
    def feedback(self, pixels: torch.Tensor, prompts: Sequence[str]) -> RichFeedback:
        """Heatmaps and scores of prepared images; prompts are not read."""
        del prompts
        self._module.eval()
        tokens = self._module.encode_images(pixels)
        return RichFeedback(
            {name: _as_probabilities(self._module.heatmap(tokens, name)) for name in self.settings.heatmaps},
            {name: _as_probabilities(self._module.score(tokens, name)) for name in self.settings.scores},
            (),
        )

    def with_gradients(self, images: torch.Tensor, prompts: Sequence[str]) -> FeedbackTensors:
        """Scores and heatmaps of images (n, 3, height, width) of 0 to 1, with gradients towards the pixels."""
        del prompts
        tokens = self._module.encode_images(prepare_with_gradients(images, self.encoders, self.preprocessing))
        return FeedbackTensors(
            {name: self._module.score(tokens, name).sigmoid() for name in self.settings.scores},
            {name: self._module.heatmap(tokens, name).sigmoid() for name in self.settings.heatmaps},
        )

    @torch.no_grad()
    def calibrate(self, batches: Iterable[RichBatch]) -> None:
        """Fit scale and shift of every output to labelled images held out of training."""
        self._module.eval()
        calibration = Calibration(self._module.scales)
        for batch in batches:
            tokens = self._module.encode_images(batch.pixels)
            for column, name in enumerate(self.settings.scores):
                calibration.add_scores(column, batch.scores[:, column], self._module.score(tokens, name))
            for column, name in enumerate(self.settings.heatmaps):
                calibration.add_heatmaps(column, batch.heatmaps[:, column], self._module.heatmaps[name](tokens))
        calibration.fit()


class CnnNetwork(nn.Module):
    """All weights of the model, and the calibration of its outputs."""

    def __init__(self, settings: CnnSettings) -> None:
        super().__init__()
        self.settings = settings
        self.scales = OutputScales(len(settings.scores), len(settings.heatmaps))
        heads, width = settings.heads, settings.widths[-1]
        self.grid = settings.grid
        self.tower = (
            transformers.ResNetModel(_config(settings))
            if settings.encoder is None
            else GridStem(grid_channels(settings.encoder), width, GRID_STRIDE)
        )
        self.heatmaps = nn.ModuleDict(
            {name: HeatmapHead(settings.grid, width, heads.heatmap) for name in settings.heatmaps}
        )
        self.scores = nn.ModuleDict(
            {name: ScoreHead(settings.grid, width, heads.score, heads.dense) for name in settings.scores}
        )

    def encode_images(self, pixels: torch.Tensor) -> torch.Tensor:
        """The last stage (n, grid², width) of images (n, 3, side, side), or of features of the frozen encoder."""
        if isinstance(self.tower, GridStem):
            side = self.grid * GRID_STRIDE
            maps: torch.Tensor = self.tower(pixels.reshape(len(pixels), -1, side, side))
        else:
            maps = self.tower(pixel_values=pixels).last_hidden_state
        return maps.flatten(2).transpose(1, 2)

    def heatmap(self, tokens: torch.Tensor, aspect: str) -> torch.Tensor:
        """The map (n, map side, map side) of an aspect before the sigmoid, calibrated."""
        return self.scales.heatmap(self.settings.heatmaps.index(aspect), self.heatmaps[aspect](tokens))

    def score(self, tokens: torch.Tensor, aspect: str) -> torch.Tensor:
        """The score (n,) of an aspect before the sigmoid, calibrated."""
        return self.scales.score(self.settings.scores.index(aspect), self.scores[aspect](tokens))


def _config(settings: CnnSettings) -> transformers.ResNetConfig:
    return transformers.ResNetConfig(
        embedding_size=settings.stem,
        hidden_sizes=list(settings.widths),
        depths=list(settings.depths),
        layer_type=settings.blocks,
    )


def _as_probabilities(logits: torch.Tensor) -> NDArray[np.float32]:
    probabilities: NDArray[np.float32] = logits.sigmoid().float().cpu().numpy()
    return probabilities
