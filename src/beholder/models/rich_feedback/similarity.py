"""Two towers as a baseline of rich feedback: the similarity of image and prompt, and its gradient map.

Off the shelf, the towers are trained like CLIP to match images with their prompts, and the similarity of the two
is the score of every aspect. Fine-tuned, they are trained on raters' scores, each aspect with its own weights over
the dims of the shared space. The misalignment heatmap is the gradient of the similarity with respect to the
pixels.
"""

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from pydantic import Field
from torch import nn
from torch.nn import functional

from beholder.models.division import part_weight
from beholder.models.encoders.preprocessing import Preprocessing
from beholder.models.preference import two_tower
from beholder.models.recipe_settings import validate_settings
from beholder.models.rich_feedback.losses import count_scores, score_loss
from beholder.models.rich_feedback.settings import SCORES
from beholder.models.rich_feedback.trainable import RichBatch, RichFeedback
from beholder.models.trainable import Config, Groups, decayed_groups
from beholder.study.question import Settings
from beholder.tables.provenance import Plain

MAPPED = "misalignment"
SMOOTHING = 16
"""The gradient is averaged over squares of 1 / this of the image's side, as single pixels are noisy."""


class SimilaritySettings(Settings):
    """The ``[model]`` table of a recipe."""

    architecture: Literal["rich-similarity"] = "rich-similarity"
    towers: two_tower.TwoTowerSettings = Field(
        two_tower.TwoTowerSettings(), description="settings of the architecture two-tower"
    )
    learns: Literal["prompts", "scores"] = Field(
        description="to match images with prompts, as CLIP does, or raters' scores"
    )
    scores: tuple[str, ...] = Field(SCORES, min_length=1, description="aspects of ratings")
    heatmaps: tuple[Literal["misalignment"], ...] = Field(("misalignment",), description="empty: no gradient map")
    map_side: int = Field(32, ge=1, description="side of the map, in pixels")
    built: dict[str, object] = Field({}, description="complete configuration of the towers; filled in")


def configure(settings: Mapping[str, Plain], prompts: Sequence[str], aspects: Sequence[str]) -> Config:
    """Everything needed to build the model; see :mod:`beholder.models.architectures`."""
    chosen = validate_settings(SimilaritySettings, settings)
    towers = two_tower.configure(chosen.towers.model_dump(mode="json"), prompts, aspects)
    return {**chosen.model_dump(mode="json"), "built": dict(towers)}


def build(config: Config, *, fresh: bool) -> "RichSimilarity":
    """Build the model from its configuration."""
    return RichSimilarity(SimilaritySettings.model_validate(dict(config)), config, fresh=fresh)


class RichSimilarity:
    """The towers with weights per aspect; it predicts no misaligned words. A ``RichTrainable``."""

    def __init__(self, settings: SimilaritySettings, config: Config, *, fresh: bool) -> None:
        built = config["built"]
        if not isinstance(built, dict):
            raise TypeError(f"a table is expected, not {built!r}")
        self.settings = settings
        self._config = config
        self.towers = two_tower.build(built, fresh=fresh)
        self._module = SimilarityNetwork(self.towers.module, settings.scores, int(_dims(built)))
        side = self.towers.preprocessing.side
        means = self.towers.preprocessing
        self.preprocessing = Preprocessing("exact", side, "bicubic", mean=means.mean, std=means.std)

    @property
    def module(self) -> "SimilarityNetwork":
        """Both towers and the weights of the aspects."""
        return self._module

    @property
    def config(self) -> Config:
        """The configuration that :func:`build` takes."""
        return self._config

    @property
    def compares_images(self) -> bool:
        """Whether images are compared with the prompts of all others in a batch."""
        return self.settings.learns == "prompts"

    def prepare(self, image: Image.Image, rng: np.random.Generator | None = None) -> NDArray[np.float32]:
        """The image at the size of the tower; augmentation comes before."""
        del rng
        return self.preprocessing.prepare(image)

    def parameter_groups(self, learning_rate: float, weight_decay: float) -> Groups:
        """The trainable parameters of the towers, and the weights of the aspects."""
        return decayed_groups(self._module, learning_rate, weight_decay)

    def after_step(self) -> None:
        """Clamp the temperature."""
        self.towers.after_step()

    def loss(self, batch: RichBatch) -> torch.Tensor:
        """The contrastive loss of images and prompts, or the loss of scores."""
        images, texts = self.towers.encode_images(batch.pixels), self.towers.encode_prompts(batch.prompts)
        if self.settings.learns == "prompts":
            return contrastive_loss(images, texts, batch.prompts, self.towers.temperature)
        losses = [
            score_loss(self._module.score(images * texts, aspect), batch.scores[:, column])
            * part_weight(batch, partial(count_scores, column=column))
            for column, aspect in enumerate(self.settings.scores)
        ]
        return torch.stack(losses).sum()

    def predict(self, batch: RichBatch) -> Mapping[str, torch.Tensor]:
        """The scores by aspect."""
        return self._scores(self.towers.encode_images(batch.pixels) * self.towers.encode_prompts(batch.prompts))

    def feedback(self, pixels: torch.Tensor, prompts: Sequence[str]) -> RichFeedback:
        """Scores and, where the settings have it, the gradient map of prepared images (n, 3, side, side)."""
        self._module.eval()
        with torch.inference_mode(mode=False), torch.set_grad_enabled(bool(self.settings.heatmaps)):
            inputs = pixels.detach().clone().requires_grad_(bool(self.settings.heatmaps))
            both = self.towers.encode_images(inputs) * self.towers.encode_prompts(prompts).detach()
            maps = {}
            if self.settings.heatmaps:
                (slope,) = torch.autograd.grad(both.sum(), inputs)
                maps[MAPPED] = gradient_map(slope, self.settings.map_side)
            scores = {aspect: _as_array(score) for aspect, score in self._scores(both).items()}
        return RichFeedback(maps, scores, ())

    def _scores(self, both: torch.Tensor) -> dict[str, torch.Tensor]:
        """Scores from 0 to 1: (similarity + 1) / 2, or the trained ones."""
        if self.settings.learns == "prompts":
            similarity = (both.sum(1) + 1) / 2
            return dict.fromkeys(self.settings.scores, similarity)
        return {aspect: self._module.score(both, aspect).sigmoid() for aspect in self.settings.scores}


class SimilarityNetwork(nn.Module):
    """All weights: the towers, and for each aspect a linear layer on the shared space."""

    def __init__(self, towers: nn.Module, aspects: Sequence[str], dims: int) -> None:
        super().__init__()
        self.towers = towers
        self.weighings = nn.ModuleDict({aspect: nn.Linear(dims, 1) for aspect in aspects})
        for weighing in self.weighings.values():
            nn.init.constant_(weighing.weight, math.sqrt(dims))  # type: ignore[arg-type]
            nn.init.zeros_(weighing.bias)  # type: ignore[arg-type]

    def score(self, both: torch.Tensor, aspect: str) -> torch.Tensor:
        """The score (n,) before the sigmoid, of elementwise products of unit vectors (n, dims)."""
        scores: torch.Tensor = self.weighings[aspect](both)[:, 0]
        return scores


def contrastive_loss(
    images: torch.Tensor, texts: torch.Tensor, prompts: Sequence[str], scale: torch.Tensor
) -> torch.Tensor:
    """CLIP's loss in both directions; the target is uniform over images of the same prompt."""
    numbers = {prompt: number for number, prompt in enumerate(dict.fromkeys(prompts))}
    which = torch.tensor([numbers[prompt] for prompt in prompts], device=images.device)
    same_prompt = (which[:, None] == which[None]).float()
    targets = same_prompt / same_prompt.sum(1, keepdim=True)
    logits = scale * images @ texts.T
    return (functional.cross_entropy(logits, targets) + functional.cross_entropy(logits.T, targets)) / 2


def gradient_map(slope: torch.Tensor, side: int) -> NDArray[np.float32]:
    """Smoothed absolute gradients (n, side, side) from gradients (n, 3, height, width), scaled to a maximum of 1.

    A gradient that is 0 everywhere gives an empty map.
    """
    strength = slope.abs().sum(1, keepdim=True)
    width = max(strength.shape[-1] // SMOOTHING, 1) | 1
    smooth = functional.avg_pool2d(strength, width, 1, width // 2, count_include_pad=False)
    small = functional.interpolate(smooth, (side, side), mode="area")[:, 0]
    highest = small.amax((1, 2), keepdim=True)
    normalised: NDArray[np.float32] = (
        (small / highest.clamp_min(torch.finfo(small.dtype).tiny)).float().cpu().numpy()
    )
    return normalised


def _as_array(scores: torch.Tensor) -> NDArray[np.float32]:
    array: NDArray[np.float32] = scores.detach().float().cpu().numpy()
    return array


def _dims(built: Mapping[str, Plain]) -> int:
    clip = built["clip"]
    if not isinstance(clip, dict):
        raise TypeError(f"a table is expected, not {clip!r}")
    return int(str(clip["projection_dim"]))
