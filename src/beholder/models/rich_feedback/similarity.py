"""Two towers as a baseline of rich feedback: how alike image and prompt are, and where the image makes them so.

Off the shelf, the towers are taught like CLIP to tell the prompt of an image from others, and the likeness of the
two is the score of every aspect. Fine-tuned, they learn people's scores, each aspect with weights of its own over
the dims of the shared space. The map of misalignment is the gradient of the likeness with respect to the pixels.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from pydantic import Field, ValidationError
from torch import nn
from torch.nn import functional

from beholder.errors import RecipeError
from beholder.models.encoders.preprocessing import Preprocessing
from beholder.models.preference import two_tower
from beholder.models.rich_feedback.batch import RichBatch
from beholder.models.rich_feedback.judge import RichFeedback
from beholder.models.rich_feedback.losses import score_loss
from beholder.models.rich_feedback.settings import SCORES
from beholder.models.trainable import Config, Groups, decayed_groups
from beholder.study.faults import faults_of
from beholder.study.question import Settings
from beholder.tables.provenance import Plain

MAPPED = "misalignment"
SMOOTHED = 16
"""The gradient is averaged over places as large as this part of the image's side: single pixels say little."""


class SimilaritySettings(Settings):
    """The ``[model]`` table of a recipe."""

    architecture: Literal["rich-similarity"] = "rich-similarity"
    towers: two_tower.TwoTowerSettings = Field(two_tower.TwoTowerSettings(), description="as of two-tower")
    learns: Literal["prompts", "scores"] = Field(
        description="which prompt belongs to an image, as CLIP does, or people's scores"
    )
    scores: tuple[str, ...] = Field(SCORES, min_length=1, description="aspects of ratings")
    heatmaps: tuple[Literal["misalignment"], ...] = Field(
        ("misalignment",), description="empty: no map of gradients"
    )
    map_side: int = Field(32, ge=1, description="of the map, in pixels")
    built: dict[str, object] = Field({}, description="all of the towers, as they were built; left out at first")


def configure(settings: Mapping[str, Plain], prompts: Sequence[str], aspects: Sequence[str]) -> Config:
    """All that is needed to build the model; see :mod:`beholder.models.architectures`."""
    try:
        chosen = SimilaritySettings.model_validate(dict(settings))
    except ValidationError as error:
        raise RecipeError("[model]", faults_of(error, SimilaritySettings)) from error
    towers = two_tower.configure(chosen.towers.model_dump(mode="json"), prompts, aspects)
    return {**chosen.model_dump(mode="json"), "built": dict(towers)}


def build(config: Config, *, fresh: bool) -> "RichSimilarity":
    """The model of a configuration."""
    return RichSimilarity(SimilaritySettings.model_validate(dict(config)), config, fresh=fresh)


class RichSimilarity:
    """The towers with a weighing of each aspect; it says nothing of words."""

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
        """What :func:`build` takes."""
        return self._config

    def prepare(self, image: Image.Image, rng: np.random.Generator | None = None) -> NDArray[np.float32]:
        """The image at the size of the tower; augmentation comes before."""
        del rng
        return self.preprocessing.prepare(image)

    def parameter_groups(self, learning_rate: float, weight_decay: float) -> Groups:
        """Those of the towers that learn, and the weights of the aspects."""
        return decayed_groups(self._module, learning_rate, weight_decay)

    def after_step(self) -> None:
        """Keep the temperature within bounds."""
        self.towers.after_step()

    def loss(self, batch: RichBatch) -> torch.Tensor:
        """Of telling prompts apart, or of people's scores."""
        images, texts = self.towers.look(batch.pixels), self.towers.read(batch.prompts)
        if self.settings.learns == "prompts":
            return contrast(images, texts, batch.prompts, self.towers.temperature)
        losses = [
            score_loss(self._module.score(images * texts, aspect), batch.scores[:, place])
            for place, aspect in enumerate(self.settings.scores)
        ]
        return torch.stack(losses).sum()

    def predict(self, batch: RichBatch) -> Mapping[str, torch.Tensor]:
        """The scores by aspect."""
        return self._scores(self.towers.look(batch.pixels) * self.towers.read(batch.prompts))

    def feedback(self, pixels: torch.Tensor, prompts: Sequence[str]) -> RichFeedback:
        """Scores and, where it is asked for, the gradient map of prepared images (n, 3, side, side)."""
        self._module.eval()
        with torch.inference_mode(mode=False), torch.set_grad_enabled(bool(self.settings.heatmaps)):
            shown = pixels.detach().clone().requires_grad_(bool(self.settings.heatmaps))
            both = self.towers.look(shown) * self.towers.read(prompts).detach()
            maps = {}
            if self.settings.heatmaps:
                (slope,) = torch.autograd.grad(both.sum(), shown)
                maps[MAPPED] = gradient_map(slope, self.settings.map_side)
            scores = {aspect: _plain(one) for aspect, one in self._scores(both).items()}
        return RichFeedback(maps, scores, ())

    def _scores(self, both: torch.Tensor) -> dict[str, torch.Tensor]:
        """From 0 to 1: half of the likeness + 1, or what was learnt."""
        if self.settings.learns == "prompts":
            likeness = (both.sum(1) + 1) / 2
            return dict.fromkeys(self.settings.scores, likeness)
        return {aspect: self._module.score(both, aspect).sigmoid() for aspect in self.settings.scores}


class SimilarityNetwork(nn.Module):
    """All weights: the towers, and for each aspect those of the dims of the shared space."""

    def __init__(self, towers: nn.Module, aspects: Sequence[str], dims: int) -> None:
        super().__init__()
        self.towers = towers
        self.weighings = nn.ModuleDict({aspect: nn.Linear(dims, 1) for aspect in aspects})
        for weighing in self.weighings.values():
            nn.init.constant_(weighing.weight, math.sqrt(dims))  # type: ignore[arg-type]
            nn.init.zeros_(weighing.bias)  # type: ignore[arg-type]

    def score(self, both: torch.Tensor, aspect: str) -> torch.Tensor:
        """The score (n,) before the sigmoid, of products of unit vectors (n, dims)."""
        scores: torch.Tensor = self.weighings[aspect](both)[:, 0]
        return scores


def contrast(
    images: torch.Tensor, texts: torch.Tensor, prompts: Sequence[str], scale: torch.Tensor
) -> torch.Tensor:
    """CLIP's loss in both directions; images of the same prompt share the right answer evenly."""
    numbers = {prompt: place for place, prompt in enumerate(dict.fromkeys(prompts))}
    which = torch.tensor([numbers[prompt] for prompt in prompts], device=images.device)
    same = (which[:, None] == which[None]).float()
    right = same / same.sum(1, keepdim=True)
    logits = scale * images @ texts.T
    return (functional.cross_entropy(logits, right) + functional.cross_entropy(logits.T, right)) / 2


def gradient_map(slope: torch.Tensor, side: int) -> NDArray[np.float32]:
    """How strongly the likeness hangs on each place, (n, side, side), 1 at the strongest.

    Of gradients (n, 3, height, width); one that is 0 everywhere gives an empty map.
    """
    strength = slope.abs().sum(1, keepdim=True)
    width = max(strength.shape[-1] // SMOOTHED, 1) | 1
    smooth = functional.avg_pool2d(strength, width, 1, width // 2, count_include_pad=False)
    small = functional.interpolate(smooth, (side, side), mode="area")[:, 0]
    highest = small.amax((1, 2), keepdim=True)
    found: NDArray[np.float32] = (small / highest.clamp_min(torch.finfo(small.dtype).tiny)).float().cpu().numpy()
    return found


def _plain(scores: torch.Tensor) -> NDArray[np.float32]:
    found: NDArray[np.float32] = scores.detach().float().cpu().numpy()
    return found


def _dims(built: Mapping[str, Plain]) -> int:
    clip = built["clip"]
    if not isinstance(clip, dict):
        raise TypeError(f"a table is expected, not {clip!r}")
    return int(str(clip["projection_dim"]))
