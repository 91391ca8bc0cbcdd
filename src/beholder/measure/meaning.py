"""Interpreting scores: percentile in a reference set, and calibrated probability that people prefer the image."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from beholder.errors import TableError
from beholder.scorers.scorer import Scorer
from beholder.stats.prediction.calibration import FOLDS, Calibration, calibrate, chance_over, percentile

COLUMNS = ("first", "second", "share")
LABELS = {"image": "first", "other": "second", "value": "share", "answers": "answers"}
"""Columns of the table ``labels`` -> those of choices."""


@dataclass(frozen=True, eq=False)
class Meaning:
    """The scores of one scorer, relative to the scores of a reference set."""

    percentile: NDArray[np.float64]  # (images,) 0 to 100
    chance: NDArray[np.float64] | None  # (images,) probability of being preferred to an image of the reference
    scale: float | None
    scale_from: str
    """``choices`` of people, or the scorer's own ``training``; empty where there is no scale."""
    reference: int
    """Images in the reference set."""


def meaning(
    scores: NDArray[np.float64], reference: NDArray[np.float64], scorer: Scorer, calibration: Calibration | None
) -> Meaning:
    """Percentiles of scores in the reference; probabilities by the calibrated scale, or else the scorer's own."""
    scale = calibration.scale.value if calibration else scorer.scale
    return Meaning(
        percentile=percentile(scores, reference),
        chance=None if scale is None else chance_over(scores, reference, scale),
        scale=scale,
        scale_from="choices" if calibration else "training" if scale is not None else "",
        reference=len(reference),
    )


@dataclass(frozen=True, eq=False)
class Choices:
    """Raters' choices: indices of the first and second image of each pair, and the proportion for the first."""

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    share: NDArray[np.float64]
    answers: NDArray[np.float64]
    groups: NDArray[np.int64]
    """The prompt of each pair: scales are fitted and evaluated on different prompts."""

    def calibration(self, scores: NDArray[np.float64], seed: int = 0) -> Calibration:
        """Calibrate the differences of scores by the raters' choices."""
        differences = scores[self.first] - scores[self.second]
        count = int(self.groups.max()) + 1
        return calibrate(
            differences,
            self.share,
            answers=self.answers,
            groups=self.groups,
            folds=min(FOLDS, count),
            rng=np.random.default_rng(seed),
        )


def read_choices(path: Path) -> pl.DataFrame:
    """Read raters' choices from a CSV file, or from the pairs in the table ``labels`` of a study."""
    try:
        if path.suffix.lower() != ".parquet":
            return pl.read_csv(path, infer_schema=False)
        labels = pl.read_parquet(path)
    except (OSError, UnicodeDecodeError, pl.exceptions.PolarsError) as error:
        raise TableError(str(path), [f"cannot be read as a table ({error})"]) from error
    if not set(LABELS) <= set(labels.columns):
        raise TableError(str(path), [f"the table labels is expected; found columns: {', '.join(labels.columns)}"])
    pairs = labels.filter(pl.col("other").is_not_null() & pl.col("value").is_not_null())
    return pairs.select(*(pl.col(column).alias(name) for column, name in LABELS.items()))


def choices_of(table: pl.DataFrame, names: Sequence[str], prompts: Sequence[str | None]) -> Choices:
    """Choices from the columns ``first`` and ``second`` (names of images), ``share`` and optionally ``answers``.

    Every image that is named must be among those scored; an error lists all that are not. The prompt of a pair is
    that of its first image; without prompts each pair is a group of its own.
    """
    if not set(COLUMNS) <= set(table.columns):
        columns = ", ".join(table.columns)
        raise TableError("choices", [f"columns {', '.join(COLUMNS)} are expected; found: {columns}"])
    places = _places(names)
    named = [*table["first"], *table["second"]]
    lost = list(dict.fromkeys(str(name) for name in named if name not in places))
    share = table["share"].cast(pl.Float64, strict=False)
    answers = table["answers"].cast(pl.Float64, strict=False) if "answers" in table.columns else None
    faults = [f"image '{name}' is not among those scored" for name in lost]
    if not share.is_between(0, 1).fill_null(value=False).all():
        faults.append("share must be a number from 0 to 1: the proportion of raters who preferred the first")
    if answers is not None and not (answers > 0).fill_null(value=False).all():
        faults.append("answers must be a number above 0")
    if table.is_empty():
        faults.append("no choices")
    if faults:
        raise TableError("choices", faults)
    first = np.array([places[name] for name in table["first"]])
    by_prompt = {prompt: place for place, prompt in enumerate(dict.fromkeys(prompts[place] for place in first))}
    apart = any(prompt is None for prompt in by_prompt)
    return Choices(
        first=first,
        second=np.array([places[name] for name in table["second"]]),
        share=share.to_numpy(),
        answers=np.ones(len(first)) if answers is None else answers.to_numpy(),
        groups=np.arange(len(first)) if apart else np.array([by_prompt[prompts[place]] for place in first]),
    )


def _places(names: Sequence[str]) -> dict[str, int]:
    """The index of an image by its name, its file's name, or ``folder/stem``, as studies name images."""
    paths = [Path(name) for name in names]
    in_study = {f"{path.parent.name}/{path.stem}": place for place, path in enumerate(paths)}
    by_file = {path.name: place for place, path in enumerate(paths)}
    return in_study | by_file | {name: place for place, name in enumerate(names)}
