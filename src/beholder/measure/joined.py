"""Metrics and raters' opinions joined item by item, question by question."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

Row = dict[str, object]

METRIC_KEY = ("metric", "encoder", "reference", "better")
QUESTION_KEY = ("question", "aspect", "method", "slice")

TIES = "metric half, people dropped"
"""How ties are treated in pair accuracy: equal scores count half, pairs on which raters are even are dropped."""


@dataclass(frozen=True, slots=True)
class AgreementSettings:
    """Level, bootstrap replicates and seed of the agreement statistics, and where progress is reported."""

    level: float = 0.95
    draws: int = 2000
    seed: int = 0
    progress: Callable[[int, int], None] | None = None
    """Called with the number of questions done and of all, within a level."""


@dataclass(frozen=True, slots=True)
class AgreementRows:
    """Rows of the tables ``correlations`` and ``metric_separations``."""

    correlations: list[Row]
    separations: list[Row]


@dataclass(frozen=True, eq=False)
class SharedItems:
    """Raters' opinions of some items, and the metrics that have a value for exactly these items."""

    opinions: pl.DataFrame
    metrics: list[tuple[Row, pl.Series]]  # METRIC_KEY of each metric, and its values in the order of the opinions


def by_question(opinions: pl.DataFrame) -> Iterator[tuple[Row, pl.DataFrame]]:
    """Each question, aspect, method and slice, with its opinions."""
    for key, part in opinions.partition_by(QUESTION_KEY, as_dict=True, maintain_order=True).items():
        yield dict(zip(QUESTION_KEY, key, strict=True)), part


def by_metric(metrics: pl.DataFrame) -> Iterator[tuple[Row, pl.DataFrame]]:
    """Each metric with its values."""
    for key, part in metrics.partition_by(METRIC_KEY, as_dict=True, maintain_order=True).items():
        yield dict(zip(METRIC_KEY, key, strict=True)), part


def metrics_for_question(metrics: pl.DataFrame, question: Row) -> pl.DataFrame:
    """The metric values that count for a question, in the question's slice."""
    counts = pl.col("question").is_null() | (pl.col("question") == question["question"])
    return metrics.filter(counts & (pl.col("slice") == question["slice"]))


def group_by_items(opinions: pl.DataFrame, metrics: pl.DataFrame) -> Iterable[SharedItems]:
    """Group metrics by the items for which they have values: only metrics of one group can be compared."""
    groups: dict[tuple[str, ...], SharedItems] = {}
    for metric, values in by_metric(metrics):
        joined = opinions.join(values.select("item", metric_value="value"), on="item", maintain_order="left")
        if joined.height < 2:
            continue
        shared = groups.setdefault(tuple(joined["item"]), SharedItems(joined.drop("metric_value"), []))
        shared.metrics.append((metric, joined["metric_value"]))
    return groups.values()


def prompt_codes(opinions: pl.DataFrame) -> NDArray[np.int64]:
    """The prompt of each row as an integer code; each row without a prompt gets a code of its own."""
    alone = pl.concat_str(pl.lit("\n"), pl.int_range(pl.len()).cast(pl.String))
    return dense_codes(opinions.select(pl.coalesce("prompt", alone)).to_series())


def dense_codes(names: pl.Series) -> NDArray[np.int64]:
    """Integer codes from 0, in the order of the names."""
    return names.to_frame("n").select(pl.col("n").rank("dense").cast(pl.Int64) - 1).to_series().to_numpy()


def rater_count(opinions: pl.DataFrame) -> int | None:
    """The largest number of raters behind any of the opinions."""
    most = opinions["raters"].max()
    return int(most) if isinstance(most, int) else None


def text_or_none(value: object) -> str | None:
    """The value if it is a text, otherwise ``None``."""
    return value if isinstance(value, str) else None


def finite_or_none(value: float) -> float | None:
    """The value if it is finite, otherwise ``None``."""
    return float(value) if np.isfinite(value) else None
