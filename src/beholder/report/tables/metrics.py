"""Metrics against people: which of them order the generators, and the images, as people do."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from beholder.report.tables.leaderboard import WHOLE, Board
from beholder.report.text.measures import MINUS
from beholder.report.text.metric_verdict import Judged, Verdict, verdicts

STATISTIC, WITHIN, PAIRS = "spearman", "spearman-within-generators", "pair-accuracy-micro"
"""The rank correlation over images, what is left of it within generators, and the accuracy over pairs."""

Interval = tuple[float | None, float | None, float | None]
"""A value and the ends of its interval."""


@dataclass(frozen=True, slots=True)
class ImageMetric:
    """How far a score of single images agrees with people: of all, within generators, and on pairs."""

    name: str
    overall: Interval
    within: Interval
    pairs: Interval


@dataclass(frozen=True, slots=True)
class Bounds:
    """What knowing the generator alone gives, and what another crowd of the same size would."""

    floor: float | None
    ceiling: float | None


@dataclass(frozen=True, slots=True)
class ImageAgreement:
    """The scorers of one label, the best agreement first."""

    items: int
    unit: str
    """What the items are: images, or the pairs that people were shown."""
    metrics: tuple[ImageMetric, ...]
    overall: Bounds
    pairs: Bounds


@dataclass(frozen=True, slots=True)
class MetricsPart:
    """A headline rating, and what metrics have to do with it."""

    verdict: Verdict
    board: Board
    images: tuple[ImageAgreement, ...]

    @property
    def title(self) -> str:
        """Question and aspect, once where they are the same."""
        question, aspect = self.verdict.question, self.verdict.aspect
        return question if question == aspect else f"{question}: {aspect}"


def metrics_parts(
    leading: Sequence[Board], correlations: pl.DataFrame, separations: pl.DataFrame
) -> tuple[MetricsPart, ...]:
    """A part for each headline board that metrics of generators were held against, in the order of the page."""
    found = {(one.question, one.aspect, one.method): one for one in verdicts(correlations, separations)}
    parts = []
    for board in leading:
        verdict = found.get((board.question, board.aspect, board.method))
        if verdict is not None:
            images = tuple(_image_agreements(board.question, board.aspect, correlations))
            parts.append(MetricsPart(verdict, board, images))
    return tuple(parts)


def _image_agreements(question: str, aspect: str, correlations: pl.DataFrame) -> Iterator[ImageAgreement]:
    """One for each label of the aspect; votes on pairs have accuracies alone."""
    mine = correlations.filter(
        (pl.col("question") == question)
        & (pl.col("aspect") == aspect)
        & (pl.col("slice") == WHOLE)
        & pl.col("level").is_in(["image", "pair"])
        & pl.col("statistic").is_in([STATISTIC, WITHIN, PAIRS])
    )
    for rows in mine.partition_by("method", maintain_order=True):
        paired = (rows["level"] == "pair").all()
        values = {
            (name, statistic): (value, low, high)
            for name, statistic, value, low, high in rows.select(
                "metric", "statistic", "value", "low", "high"
            ).iter_rows()
        }
        names = rows["metric"].unique(maintain_order=True)
        nothing: Interval = (None, None, None)
        metrics = [
            ImageMetric(
                name, *(values.get((name, statistic), nothing) for statistic in (STATISTIC, WITHIN, PAIRS))
            )
            for name in names
        ]
        yield ImageAgreement(
            int(
                str(
                    rows["items"].max() if paired else rows.filter(pl.col("statistic") == STATISTIC)["items"].max()
                )
            ),
            "pairs" if paired else "images",
            tuple(sorted(metrics, key=_strength)),
            *(_bounds(rows, statistic) for statistic in (STATISTIC, PAIRS)),
        )


def _strength(one: ImageMetric) -> float:
    """The strongest first, whichever way it goes."""
    rho, accuracy = one.overall[0], one.pairs[0]
    return -abs(rho) if rho is not None else -abs((accuracy or 0.5) - 0.5)


def _bounds(rows: pl.DataFrame, statistic: str) -> Bounds:
    some = rows.filter(pl.col("statistic") == statistic)
    floor, ceiling = (some[name].drop_nulls() for name in ("floor", "ceiling"))
    return Bounds(*(float(each[0]) if len(each) else None for each in (floor, ceiling)))


def show(value: float | None, *, signed: bool = True) -> str:
    """``+.52``, ``−.08``; a dash where there is none."""
    if value is None:
        return "–"
    text = f"{abs(value):.2f}".removeprefix("0")
    if not signed or float(text) == 0:
        return text
    return f"{MINUS if value < 0 else '+'}{text}"


def show_interval(found: Interval, *, signed: bool = True) -> str:
    """``+.52 (+.48 to +.56)``."""
    value, low, high = found
    text = show(value, signed=signed)
    return (
        text
        if low is None or high is None
        else f"{text} ({show(low, signed=signed)} to {show(high, signed=signed)})"
    )


def drawn(metrics: Sequence[Judged]) -> list[Judged]:
    """The metrics that have a correlation to draw."""
    return [one for one in metrics if one.rho is not None]
