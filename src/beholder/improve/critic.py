"""A scorer as improving needs it: scores of pixels, with its own interval and, where it has them, heatmaps.

A model of rich feedback is named by its folder, or by ``FOLDER:ASPECT``; any other scorer by its name.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from beholder.errors import UserError
from beholder.images.decode import decode_file
from beholder.models.architectures import RICH_ARCHITECTURES
from beholder.models.weights.checkpoint import read_record
from beholder.scorers.catalogue import load_scorer, recipe_of, trained_folder
from beholder.scorers.rich.members import Member, load_members

Pixels = NDArray[np.uint8]
"""An image, (height, width, 3)."""

Heatmap = NDArray[np.float32]
"""The proportion of raters who would mark each place, (height, width)."""

BATCH = 16

MAP_OF = {"plausibility": "implausibility", "alignment": "misalignment"}
"""The aspect of a score -> that of the heatmap which says where it is low."""

DEFAULT_ASPECT = "plausibility"


@dataclass(frozen=True, eq=False)
class Critic:
    """Scores images; more is better."""

    name: str
    aspect: str
    score: Callable[[Sequence[Pixels], Sequence[str]], NDArray[np.float64]]
    """From images and prompts to scores (images,)."""
    half_width: float | None = None
    """Of its 95 % prediction interval of the raters' mean score."""
    heatmaps: Callable[[Sequence[Pixels], Sequence[str]], list[Heatmap]] | None = None
    """Where an image is wrong; ``None`` where it cannot say."""
    folder: Path | None = None
    """Of a trained model."""


def load_critic(name: str, device: str | None = None) -> Critic:
    """Load a scorer by name, or a trained model by its folder; an error says what cannot be used."""
    folder_and_aspect = trained_folder(name)
    if folder_and_aspect is not None:
        folder, aspect = folder_and_aspect
        if read_record(folder).architecture in RICH_ARCHITECTURES:
            return rich_critic(load_members([folder], device)[0], aspect or DEFAULT_ASPECT)
    scorer, recipe = load_scorer(name, device=device), recipe_of(name)
    if recipe.better is None:
        raise UserError(f"scorer '{name}' says neither more nor less is better: images cannot be improved by it")
    sign = 1.0 if recipe.better == "higher" else -1.0
    needs_prompt = "prompt" in recipe.needs

    def score(images: Sequence[Pixels], prompts: Sequence[str]) -> NDArray[np.float64]:
        return sign * scorer(list(images), list(prompts) if needs_prompt else None)

    trained = None if folder_and_aspect is None else folder_and_aspect[0]
    return Critic(scorer.identity, recipe.aspect, score, folder=trained)


def rich_critic(member: Member, aspect: str) -> Critic:
    """A model of rich feedback that scores one aspect, and points at where it is low."""

    def score(images: Sequence[Pixels], prompts: Sequence[str]) -> NDArray[np.float64]:
        parts = [member.feedback(*batch).scores[aspect] for batch in _batches(images, prompts)]
        return np.concatenate(parts).astype(np.float64) if parts else np.empty(0)

    def heatmaps(images: Sequence[Pixels], prompts: Sequence[str]) -> list[Heatmap]:
        parts = [member.feedback(*batch).heatmaps[MAP_OF[aspect]] for batch in _batches(images, prompts)]
        return [np.asarray(heatmap, np.float32) for part in parts for heatmap in part]

    feedback = member.feedback([Image.new("RGB", (32, 32))], ["a"])
    if aspect not in feedback.scores:
        choices = ", ".join(f"{member.name}:{choice}" for choice in feedback.scores)
        raise UserError(f"{member.name}: no aspect '{aspect}'; name one of: {choices}")
    points = MAP_OF.get(aspect) in feedback.heatmaps
    return Critic(
        f"{member.identity}:{aspect}",
        aspect,
        score,
        member.half_widths.get(aspect),
        heatmaps if points else None,
        Path(member.name),
    )


def read_image(path: Path, background: str) -> Pixels:
    """An image file as pixels, transparent ones on the background."""
    return np.asarray(decode_file(path, background).convert("RGB"), np.uint8)


def _batches(images: Sequence[Pixels], prompts: Sequence[str]) -> list[tuple[list[Image.Image], list[str]]]:
    return [
        ([Image.fromarray(image) for image in images[start : start + BATCH]], list(prompts[start : start + BATCH]))
        for start in range(0, len(images), BATCH)
    ]
