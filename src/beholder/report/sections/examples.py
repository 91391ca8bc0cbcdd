"""Example images: for each generator the one that raters judged best and the one they judged worst."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl

from beholder.formats.imported import UNKNOWN
from beholder.images.thumbnail import thumbnail
from beholder.report.tables.leaderboard import Board
from beholder.report.text.words import count, percent
from beholder.stats.intervals.proportions import wilson

MOST_GENERATORS = 12
"""Of more generators, only the first and the last have examples, to keep the file small."""


@dataclass(frozen=True, slots=True)
class ImageRating:
    """The rating of one image, higher being better for its generator, and its confidence interval."""

    image: str
    value: float
    low: float
    high: float
    answers: int


@dataclass(frozen=True, slots=True)
class Example:
    """An image that the page shows."""

    role: str
    rating: str
    interval: str
    prompt: str | None
    alt: str
    source: str | None
    """A data URI; ``None`` where the file cannot be read."""


@dataclass(frozen=True, slots=True)
class GeneratorExamples:
    """The examples of one generator."""

    generator: str
    images: tuple[Example, ...]


@dataclass(frozen=True, slots=True)
class Wording:
    """How examples of a board are named: the best, the worst, and what a value means."""

    best: str
    worst: str
    meaning: str


WORDINGS: Mapping[str, Wording] = {
    "share": Wording("Most often taken for real", "Least often taken for real", "taken for real"),
    "preference": Wording("Preferred most", "Preferred least", "of votes won"),
    "mean": Wording("Rated best", "Rated worst", "points"),
    "published-mean": Wording("Rated best", "Rated worst", "points"),
    "credit": Wording("Passed over most", "Pressed for most", "passed over"),
}
"""By the method of the labels."""

REAL_WORDING = Wording("Real, and taken for real", "Real, yet taken for generated", "taken for real")


def select_examples(
    board: Board,
    labels: pl.DataFrame,
    images: pl.DataFrame,
    prompts: Mapping[str, str],
    folder: Path,
    background: str,
    *,
    real: str | None = None,
    scale: tuple[float, float] = (0.0, 1.0),
) -> tuple[GeneratorExamples, ...]:
    """The examples of a board's generators in the order of the board, then those of the ``real`` images.

    ``scale`` is the lowest and the highest value that a label can have, where confidence intervals end. Images
    without a file, as in imported data, are not shown; transparent ones are shown on the ``background``.
    """
    about = {row["image"]: row for row in images.filter(pl.col("sha256") != UNKNOWN).to_dicts()}
    if not about:
        return ()
    own_labels = labels.filter(
        (pl.col("question") == board.question) & (pl.col("aspect") == board.aspect) & pl.col("word").is_null()
    )
    method = next((m for m in own_labels["method"].unique().sort() if m in WORDINGS), None)
    if method is None:
        return ()
    ratings = RATINGS[method](own_labels.filter(pl.col("method") == method), board.level)
    ratings = [_within(rating, scale) for rating in ratings if rating.image in about]
    examples, by_points = [], method.endswith("mean")
    for generator in [*_some([row.generator for row in board.rows]), *([real] if real else [])]:
        wording = REAL_WORDING if generator == real else WORDINGS[method]
        own = [rating for rating in ratings if about[rating.image]["generator"] == generator]
        selected = tuple(
            _example(role, rating, wording, about[rating.image], prompts, folder, background, points=by_points)
            for role, rating in _extremes(own, wording)
        )
        if selected:
            examples.append(GeneratorExamples(generator, selected))
    return tuple(examples)


def _within(rating: ImageRating, scale: tuple[float, float]) -> ImageRating:
    return replace(rating, low=max(rating.low, scale[0]), high=min(rating.high, scale[1]))


def _some(generators: Sequence[str]) -> list[str]:
    if len(generators) <= MOST_GENERATORS:
        return list(generators)
    half = MOST_GENERATORS // 2
    return [*generators[:half], *generators[-half:]]


def _extremes(ratings: Sequence[ImageRating], wording: Wording) -> Iterator[tuple[str, ImageRating]]:
    """The image with the highest lower confidence limit, and the one with the lowest upper limit."""
    if not ratings:
        return
    best = min(ratings, key=lambda v: (-v.low, -v.value, v.image))
    yield wording.best, best
    rest = [rating for rating in ratings if rating is not best]
    if rest:
        yield wording.worst, min(rest, key=lambda v: (v.high, v.value, v.image))


def _complements(labels: pl.DataFrame, level: float) -> list[ImageRating]:  # noqa: ARG001 - the shape of RATINGS
    """The proportion who took the image for real, or did not press for it: the label counts the others."""
    return [
        ImageRating(r["image"], 1 - r["value"], 1 - _or(r["high"], 1.0), 1 - _or(r["low"], 0.0), r["answers"])
        for r in labels.to_dicts()
    ]


def _means(labels: pl.DataFrame, level: float) -> list[ImageRating]:  # noqa: ARG001 - the shape of RATINGS
    return [
        ImageRating(r["image"], r["value"], _or(r["low"], r["value"]), _or(r["high"], r["value"]), r["answers"])
        for r in labels.to_dicts()
    ]


def _preferences(labels: pl.DataFrame, level: float) -> list[ImageRating]:
    """The proportion of votes won against all rivals of an image, a tie counting half, with Wilson's interval."""
    won = pl.concat(
        [
            labels.select("image", "answers", votes=pl.col("value") * pl.col("answers")),
            labels.select(image="other", answers="answers", votes=(1 - pl.col("value")) * pl.col("answers")),
        ]
    )
    sums = won.group_by("image").agg(pl.col("votes").sum(), pl.col("answers").sum()).sort("image")
    votes, answers = sums["votes"].to_numpy(), sums["answers"].to_numpy()
    low, high = wilson(np.clip(votes, 0, answers), answers, level)
    columns = (sums["image"], votes / answers, low, high, answers)
    return [
        ImageRating(image, float(value), float(below), float(above), int(number))
        for image, value, below, above, number in zip(*columns, strict=True)
    ]


RATINGS = {
    "share": _complements,
    "preference": _preferences,
    "mean": _means,
    "published-mean": _means,
    "credit": _complements,
}
"""How the labels of each method rate an image."""


def _example(
    role: str,
    rating: ImageRating,
    wording: Wording,
    image: Mapping[str, str | None],
    prompts: Mapping[str, str],
    folder: Path,
    background: str,
    *,
    points: bool,
) -> Example:
    prompt = prompts.get(image["prompt"] or "")
    number = f"{rating.value:.2f}" if points else percent(rating.value)
    low, high = rating.low, rating.high
    interval = f"{low:.1f} to {high:.1f}" if points else f"{100 * low:.0f} to {100 * high:.0f} %"
    return Example(
        role=role,
        rating=f"{number} {wording.meaning}",
        interval=f"{interval}, {count(rating.answers, 'answer')}",
        prompt=prompt,
        alt=f"{image['generator']}: {prompt}" if prompt else f"an image of {image['generator']}",
        source=thumbnail(folder / str(image["path"]), background),
    )


def _or(value: float | None, instead: float) -> float:
    return instead if value is None else value
