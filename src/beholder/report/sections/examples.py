"""Example images: for each generator the one that raters judged best and the one they judged worst."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
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
    labels: pl.LazyFrame,
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
    with_file = images.filter(pl.col("sha256") != UNKNOWN)
    if with_file.is_empty():
        return ()
    own_labels = labels.filter(
        (pl.col("question") == board.question) & (pl.col("aspect") == board.aspect) & pl.col("word").is_null()
    )
    methods = own_labels.select(pl.col("method").unique()).collect(engine="streaming")["method"].sort()
    method = next((m for m in methods if m in WORDINGS), None)
    if method is None:
        return ()
    generators = [*_some([row.generator for row in board.rows]), *([real] if real else [])]
    shown_images = with_file.lazy().filter(pl.col("generator").is_in(generators)).select("image", "generator")
    ratings = (
        RATINGS[method](own_labels.filter(pl.col("method") == method), board.level)
        .lazy()
        .join(shown_images, on="image")
        .with_columns(pl.col("low").clip(lower_bound=scale[0]), pl.col("high").clip(upper_bound=scale[1]))
        .collect(engine="streaming")
    )
    examples, by_points = [], method.endswith("mean")
    for generator in generators:
        wording = REAL_WORDING if generator == real else WORDINGS[method]
        own = list(_extremes(ratings.filter(pl.col("generator") == generator).drop("generator"), wording))
        names = [rating.image for _, rating in own]
        about = {row["image"]: row for row in with_file.filter(pl.col("image").is_in(names)).to_dicts()}
        selected = tuple(
            _example(role, rating, wording, about[rating.image], prompts, folder, background, points=by_points)
            for role, rating in own
        )
        if selected:
            examples.append(GeneratorExamples(generator, selected))
    return tuple(examples)


def _some(generators: Sequence[str]) -> list[str]:
    if len(generators) <= MOST_GENERATORS:
        return list(generators)
    half = MOST_GENERATORS // 2
    return [*generators[:half], *generators[-half:]]


def _extremes(ratings: pl.DataFrame, wording: Wording) -> Iterator[tuple[str, ImageRating]]:
    """The image with the highest lower confidence limit, and the one with the lowest upper limit."""
    best = ratings.sort("low", "value", "image", descending=[True, True, False]).head(1)
    rest = ratings.join(best, on="image", how="anti")
    worst = rest.sort("high", "value", "image").head(1)
    for role, row in ((wording.best, best), (wording.worst, worst)):
        for image, value, low, high, answers in row.select(RATED).iter_rows():
            yield role, ImageRating(image, value, low, high, answers)


RATED = ("image", "value", "low", "high", "answers")
"""The columns of ratings of images: those of :class:`ImageRating`."""


def _complements(labels: pl.LazyFrame, level: float) -> pl.LazyFrame:  # noqa: ARG001 - the shape of RATINGS
    """The proportion who took the image for real, or did not press for it: the label counts the others."""
    return labels.select(
        "image",
        value=1 - pl.col("value"),
        low=1 - pl.col("high").fill_null(1.0),
        high=1 - pl.col("low").fill_null(0.0),
        answers="answers",
    )


def _means(labels: pl.LazyFrame, level: float) -> pl.LazyFrame:  # noqa: ARG001 - the shape of RATINGS
    return labels.select(
        "image",
        "value",
        pl.col("low").fill_null(pl.col("value")),
        pl.col("high").fill_null(pl.col("value")),
        "answers",
    )


def _preferences(labels: pl.LazyFrame, level: float) -> pl.DataFrame:
    """The proportion of votes won against all rivals of an image, a tie counting half, with Wilson's interval.

    Votes are summed as whole millionths: then the order in which threads take the rows does not matter.
    """
    of_first = (pl.col("value") * pl.col("answers") * MILLION).round().cast(pl.Int64)
    won = pl.concat(
        [
            labels.select("image", "answers", votes=of_first),
            labels.select(image="other", answers="answers", votes=MILLION * pl.col("answers") - of_first),
        ]
    )
    sums = won.group_by("image").agg(pl.col("votes").sum(), pl.col("answers").sum()).collect(engine="streaming")
    votes, answers = sums["votes"].to_numpy() / MILLION, sums["answers"].to_numpy()
    low, high = wilson(np.clip(votes, 0, answers), answers, level)
    return sums.select("image", "answers").with_columns(
        value=pl.Series(votes / answers), low=pl.Series(low), high=pl.Series(high)
    )


MILLION = 1_000_000

RATINGS: Mapping[str, Callable[[pl.LazyFrame, float], pl.LazyFrame | pl.DataFrame]] = {
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
