"""Example images: for each generator the one people judged best and the one they judged worst."""

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
"""Beyond so many the examples of the first and the last generators are shown, to keep the file small."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What people made of one image, higher being better for its generator."""

    image: str
    value: float
    low: float
    high: float
    answers: int


@dataclass(frozen=True, slots=True)
class Example:
    """An image to be shown."""

    role: str
    verdict: str
    interval: str
    prompt: str | None
    alt: str
    source: str | None
    """A data URI; nothing where the file cannot be read."""


@dataclass(frozen=True, slots=True)
class Examples:
    """The examples of one generator."""

    generator: str
    shown: tuple[Example, ...]


@dataclass(frozen=True, slots=True)
class Wording:
    """How examples of a board are named: the best, the worst, and what a value says."""

    best: str
    worst: str
    says: str


WORDINGS: Mapping[str, Wording] = {
    "share": Wording("Most often taken for real", "Least often taken for real", "taken for real"),
    "preference": Wording("Preferred most", "Preferred least", "of votes won"),
    "mean": Wording("Rated best", "Rated worst", "points"),
    "published-mean": Wording("Rated best", "Rated worst", "points"),
    "credit": Wording("Passed over most", "Pressed for most", "passed over"),
}
"""By the method of the labels."""

REAL_WORDING = Wording("Real, and taken for real", "Real, yet taken for generated", "taken for real")


def examples(
    board: Board,
    labels: pl.DataFrame,
    images: pl.DataFrame,
    prompts: Mapping[str, str],
    folder: Path,
    background: str,
    *,
    real: str | None = None,
    scale: tuple[float, float] = (0.0, 1.0),
) -> tuple[Examples, ...]:
    """The examples of a board's generators in the order of the board, then those of the ``real`` images.

    ``scale`` holds the lowest and the highest value that a label can have: an interval ends there. Images whose
    files did not come with imported data are not shown; transparent ones are shown on the ``background``.
    """
    about = {row["image"]: row for row in images.filter(pl.col("sha256") != UNKNOWN).to_dicts()}
    if not about:
        return ()
    mine = labels.filter(
        (pl.col("question") == board.question) & (pl.col("aspect") == board.aspect) & pl.col("word").is_null()
    )
    method = next((m for m in mine["method"].unique().sort() if m in WORDINGS), None)
    if method is None:
        return ()
    verdicts = [_within(v, scale) for v in VERDICTS[method](mine.filter(pl.col("method") == method), board.level)]
    verdicts = [verdict for verdict in verdicts if verdict.image in about]
    found, by_points = [], method.endswith("mean")
    for generator in [*_some([row.generator for row in board.rows]), *([real] if real else [])]:
        wording = REAL_WORDING if generator == real else WORDINGS[method]
        its = [v for v in verdicts if about[v.image]["generator"] == generator]
        shown = tuple(
            _example(role, verdict, wording, about[verdict.image], prompts, folder, background, points=by_points)
            for role, verdict in _extremes(its, wording)
        )
        if shown:
            found.append(Examples(generator, shown))
    return tuple(found)


def _within(verdict: Verdict, scale: tuple[float, float]) -> Verdict:
    return replace(verdict, low=max(verdict.low, scale[0]), high=min(verdict.high, scale[1]))


def _some(generators: Sequence[str]) -> list[str]:
    if len(generators) <= MOST_GENERATORS:
        return list(generators)
    half = MOST_GENERATORS // 2
    return [*generators[:half], *generators[-half:]]


def _extremes(verdicts: Sequence[Verdict], wording: Wording) -> Iterator[tuple[str, Verdict]]:
    """The image surest to be good (highest lower end) and the one surest to be bad (lowest upper end)."""
    if not verdicts:
        return
    best = min(verdicts, key=lambda v: (-v.low, -v.value, v.image))
    yield wording.best, best
    rest = [verdict for verdict in verdicts if verdict is not best]
    if rest:
        yield wording.worst, min(rest, key=lambda v: (v.high, v.value, v.image))


def _shares(labels: pl.DataFrame, level: float) -> list[Verdict]:  # noqa: ARG001 - the shape of VERDICTS
    """The share who took the image for real, or did not press for it: the label counts the others."""
    return [
        Verdict(r["image"], 1 - r["value"], 1 - _or(r["high"], 1.0), 1 - _or(r["low"], 0.0), r["answers"])
        for r in labels.to_dicts()
    ]


def _means(labels: pl.DataFrame, level: float) -> list[Verdict]:  # noqa: ARG001 - the shape of VERDICTS
    return [
        Verdict(r["image"], r["value"], _or(r["low"], r["value"]), _or(r["high"], r["value"]), r["answers"])
        for r in labels.to_dicts()
    ]


def _preferences(labels: pl.DataFrame, level: float) -> list[Verdict]:
    """The share of votes won over all the rivals of an image, a tie counting half, with Wilson's interval."""
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
        Verdict(image, float(value), float(below), float(above), int(number))
        for image, value, below, above, number in zip(*columns, strict=True)
    ]


VERDICTS = {
    "share": _shares,
    "preference": _preferences,
    "mean": _means,
    "published-mean": _means,
    "credit": _shares,
}
"""How the labels of each method judge an image."""


def _example(
    role: str,
    verdict: Verdict,
    wording: Wording,
    image: Mapping[str, str | None],
    prompts: Mapping[str, str],
    folder: Path,
    background: str,
    *,
    points: bool,
) -> Example:
    prompt = prompts.get(image["prompt"] or "")
    said = f"{verdict.value:.2f} {wording.says}" if points else f"{percent(verdict.value)} {wording.says}"
    low, high = verdict.low, verdict.high
    interval = f"{low:.1f} to {high:.1f}" if points else f"{100 * low:.0f} to {100 * high:.0f} %"
    return Example(
        role=role,
        verdict=said,
        interval=f"{interval}, {count(verdict.answers, 'answer')}",
        prompt=prompt,
        alt=f"{image['generator']}: {prompt}" if prompt else f"an image of {image['generator']}",
        source=thumbnail(folder / str(image["path"]), background),
    )


def _or(value: float | None, instead: float) -> float:
    return instead if value is None else value
