"""Scores in Python: ``beholder.score(images=…, prompts=…, scorer=…)``."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from beholder.api.inputs import Images, Prompts, prompts_of, sources_of
from beholder.errors import UserError
from beholder.images.background import DEFAULT_BACKGROUND, checked_background
from beholder.images.reading import BrokenImage
from beholder.images.sources import ImageSource
from beholder.measure.meaning import Choices, Meaning, choices_of, meaning, read_choices
from beholder.measure.score import Progress, Scores
from beholder.measure.score import score as score_all
from beholder.measure.scorers.catalogue import load_scorer, recipe_of
from beholder.measure.scorers.scorer import Differentiable, Scorer
from beholder.stats.prediction.calibration import Calibration


@dataclass(frozen=True, eq=False)
class Scored:
    """Scores of images by one scorer, in the order of the names, with their calibration."""

    name: str
    """Of the scorer."""
    scorer: str
    """Name and weights."""
    names: tuple[str, ...]
    scores: NDArray[np.float64]  # (images,)
    meaning: Meaning | None
    """Relative to the reference set; ``None`` where none was given."""
    calibration: Calibration | None
    """On raters' choices; ``None`` where none were given."""
    broken: tuple[BrokenImage, ...]
    """What was skipped; always empty unless that was asked for."""


def score(
    *,
    images: Images,
    prompts: Prompts = None,
    scorer: str | Scorer,
    weights: Mapping[str, str] | str | Path | None = None,
    reference: Images | None = None,
    reference_prompts: Prompts = None,
    choices: pl.DataFrame | str | Path | None = None,
    device: str | None = None,
    background: str = DEFAULT_BACKGROUND,
    skip_broken: bool = False,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Scored:
    """Score images by a scorer: its name, the folder of a trained model, or one that was loaded.

    ``weights`` is a folder, file or hub name for the scorer's network, or several by name. With ``reference``
    images, scores come with their percentile among them and the probability to be preferred over one of them; with
    ``choices`` of raters (columns ``first``, ``second``, ``share``, maybe ``answers``; names of the images scored)
    that probability is calibrated. Images that are missing or broken stop the run, all listed, unless
    ``skip_broken``. Transparent images are flattened on the ``background`` (#rrggbb).
    """
    background = checked_background(background)
    loaded = scorer if isinstance(scorer, Scorer) else _loaded(scorer, weights, device)
    pictures = sources_of(images, background)
    texts = prompts_of(prompts, pictures)
    reference_sources: list[ImageSource] = []
    reference_texts: list[str | None] = []
    if reference is not None:
        reference_sources = sources_of(reference, background)
        reference_texts = prompts_of(
            prompts if reference_prompts is None else reference_prompts, reference_sources
        )
    if isinstance(scorer, str) and "prompt" in recipe_of(scorer).needs and None in (*texts, *reference_texts):
        raise UserError(f"scorer '{scorer}' needs prompts: one for all images, or one for each")
    return score_by(
        [loaded],
        pictures,
        texts,
        reference=reference_sources,
        reference_prompts=reference_texts,
        choices=choices if choices is None or isinstance(choices, pl.DataFrame) else read_choices(Path(choices)),
        background=background,
        skip_broken=skip_broken,
        workers=workers,
        progress=progress,
    )[0]


def score_by(
    scorers: Sequence[Scorer],
    pictures: Sequence[ImageSource],
    prompts: Sequence[str | None],
    *,
    reference: Sequence[ImageSource] = (),
    reference_prompts: Sequence[str | None] = (),
    choices: pl.DataFrame | None = None,
    background: str = DEFAULT_BACKGROUND,
    skip_broken: bool = False,
    workers: int | None = None,
    progress: Progress | None = None,
) -> list[Scored]:
    """Score images by several scorers, in their order: each image is decoded once for all of them."""

    def scored(images: Sequence[ImageSource], texts: Sequence[str | None]) -> Scores:
        return score_all(
            images,
            texts,
            scorers,
            background=background,
            skip_broken=skip_broken,
            workers=workers,
            progress=progress,
        )

    scores = scored(pictures, prompts)
    skipped = {broken.name for broken in scores.broken}
    texts = [text for picture, text in zip(pictures, prompts, strict=True) if picture.name not in skipped]
    chosen = None if choices is None else choices_of(choices, scores.names, texts)
    reference_scores = scored(reference, reference_prompts) if reference else None
    return [_scored(scorer, scores, reference_scores, chosen) for scorer in scorers]


def _scored(scorer: Scorer, scores: Scores, reference_scores: Scores | None, chosen: Choices | None) -> Scored:
    values = scores.values[scorer.name]
    calibration = None if chosen is None else chosen.calibration(values)
    read = (
        None
        if reference_scores is None
        else meaning(values, reference_scores.values[scorer.name], scorer, calibration)
    )
    return Scored(scorer.name, scorer.identity, scores.names, values, read, calibration, scores.broken)


def _loaded(scorer: str, weights: Mapping[str, str] | str | Path | None, device: str | None) -> Scorer:
    if weights is None or isinstance(weights, Mapping):
        return load_scorer(scorer, weights, device)
    networks = recipe_of(scorer).networks
    if not networks:
        raise UserError(f"scorer '{scorer}' has no weights; leave '{weights}' out")
    return load_scorer(scorer, {networks[0]: str(weights)}, device)


def differentiable_scores(
    *, scorer: str, weights: Mapping[str, str] | str | Path | None = None, device: str | None = None
) -> Differentiable:
    """Return a function from images (n, 3, height, width) in 0 to 1 and prompts to scores with gradients."""
    differentiable = _loaded(scorer, weights, device).differentiable
    if differentiable is None:
        raise UserError(f"scorer '{scorer}' has no gradients; preference models do, such as hps-v2")
    return differentiable
