"""Metrics against raters: which of them order the generators, and the images, as raters do."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from beholder.report.tables.leaderboard import ALL_IMAGES, Board
from beholder.report.text.measures import MINUS
from beholder.report.text.metric_verdict import MetricAgreement, Verdict, verdicts

STATISTIC, WITHIN, PAIRS = "spearman", "spearman-within-generators", "pair-accuracy-micro"
"""The rank correlation over images, what is left of it within generators, and the accuracy over pairs."""

Estimate = tuple[float | None, float | None, float | None]
"""A value and the ends of its confidence interval."""


@dataclass(frozen=True, slots=True)
class ImageMetric:
    """Agreement of a scorer with raters on single images: over all, within generators, and on pairs."""

    name: str
    overall: Estimate
    within: Estimate
    pairs: Estimate


@dataclass(frozen=True, slots=True)
class Bounds:
    """The generator-mean baseline (knowing only the generator) and the human ceiling (other raters, as many)."""

    baseline: float | None
    human_ceiling: float | None


@dataclass(frozen=True, slots=True)
class ImageAgreement:
    """The scorers of one label, the best agreement first."""

    items: int
    unit: str
    """What the items are: images, or the pairs that raters compared."""
    metrics: tuple[ImageMetric, ...]
    overall: Bounds
    pairs: Bounds


@dataclass(frozen=True, slots=True)
class MetricsPart:
    """A headline rating, and how metrics agree with it."""

    verdict: Verdict
    board: Board
    images: tuple[ImageAgreement, ...]

    @property
    def title(self) -> str:
        """Question and aspect, once where they are the same."""
        question, aspect = self.verdict.question, self.verdict.aspect
        return question if question == aspect else f"{question}: {aspect}"


def build_metrics_parts(
    leading: Sequence[Board], correlations: pl.DataFrame, separations: pl.DataFrame
) -> tuple[MetricsPart, ...]:
    """One part per headline board that metrics of generators were compared with, in the order of the page."""
    verdict_of = {(v.question, v.aspect, v.method): v for v in verdicts(correlations, separations)}
    parts = []
    for board in leading:
        verdict = verdict_of.get((board.question, board.aspect, board.method))
        if verdict is not None:
            images = tuple(_image_agreements(board.question, board.aspect, correlations))
            parts.append(MetricsPart(verdict, board, images))
    return tuple(parts)


def _image_agreements(question: str, aspect: str, correlations: pl.DataFrame) -> Iterator[ImageAgreement]:
    """One agreement per label of the aspect; votes on pairs have accuracies only."""
    agreements = correlations.filter(
        (pl.col("question") == question)
        & (pl.col("aspect") == aspect)
        & (pl.col("slice") == ALL_IMAGES)
        & pl.col("level").is_in(["image", "pair"])
        & pl.col("statistic").is_in([STATISTIC, WITHIN, PAIRS])
    )
    for rows in agreements.partition_by("method", maintain_order=True):
        paired = (rows["level"] == "pair").all()
        values = {
            (name, statistic): (value, low, high)
            for name, statistic, value, low, high in rows.select(
                "metric", "statistic", "value", "low", "high"
            ).iter_rows()
        }
        names = rows["metric"].unique(maintain_order=True)
        nothing: Estimate = (None, None, None)
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


def _strength(metric: ImageMetric) -> float:
    """Sorting key: the strongest agreement first, whatever its sign."""
    rho, accuracy = metric.overall[0], metric.pairs[0]
    return -abs(rho) if rho is not None else -abs((accuracy or 0.5) - 0.5)


def _bounds(rows: pl.DataFrame, statistic: str) -> Bounds:
    selected = rows.filter(pl.col("statistic") == statistic)
    columns = (selected[name].drop_nulls() for name in ("floor", "ceiling"))
    return Bounds(*(float(column[0]) if len(column) else None for column in columns))


def format_correlation(value: float | None, *, signed: bool = True) -> str:
    """``+.52``, ``−.08``; a dash for ``None``."""
    if value is None:
        return "–"
    text = f"{abs(value):.2f}".removeprefix("0")
    if not signed or float(text) == 0:
        return text
    return f"{MINUS if value < 0 else '+'}{text}"


def format_estimate(estimate: Estimate, *, signed: bool = True) -> str:
    """``+.52 (+.48 to +.56)``."""
    value, low, high = estimate
    text = format_correlation(value, signed=signed)
    return (
        text
        if low is None or high is None
        else f"{text} ({format_correlation(low, signed=signed)} to {format_correlation(high, signed=signed)})"
    )


def with_correlation(metrics: Sequence[MetricAgreement]) -> list[MetricAgreement]:
    """The metrics whose correlation is defined."""
    return [metric for metric in metrics if metric.rho is not None]
