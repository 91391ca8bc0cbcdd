"""Metrics and people joined item by item, question by question."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

Row = dict[str, object]

METRIC = ("metric", "encoder", "reference", "better")
ASKED = ("question", "aspect", "method", "slice")

TIES = "metric half, people dropped"


@dataclass(frozen=True, slots=True)
class Settings:
    """How agreement is computed."""

    level: float = 0.95
    draws: int = 2000
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of the two tables."""

    correlations: list[Row]
    separations: list[Row]


@dataclass(frozen=True, eq=False)
class Shared:
    """People and the metrics that know the same items."""

    people: pl.DataFrame
    metrics: list[tuple[Row, pl.Series]]  # who it is, and its values in the order of people


def by_question(opinions: pl.DataFrame) -> Iterator[tuple[Row, pl.DataFrame]]:
    """Each rating or label of each question, with its part of the opinions."""
    for key, part in opinions.partition_by(ASKED, as_dict=True, maintain_order=True).items():
        yield dict(zip(ASKED, key, strict=True)), part


def by_metric(metrics: pl.DataFrame) -> Iterator[tuple[Row, pl.DataFrame]]:
    """Each metric, with its values."""
    for key, part in metrics.partition_by(METRIC, as_dict=True, maintain_order=True).items():
        yield dict(zip(METRIC, key, strict=True)), part


def counting_for(metrics: pl.DataFrame, asked: Row) -> pl.DataFrame:
    """The metrics that count for a question, of its slice."""
    here = pl.col("question").is_null() | (pl.col("question") == asked["question"])
    return metrics.filter(here & (pl.col("slice") == asked["slice"]))


def on_same_items(people: pl.DataFrame, metrics: pl.DataFrame) -> Iterable[Shared]:
    """Metrics grouped by the items they know: only those of one group can be compared with each other."""
    groups: dict[tuple[str, ...], Shared] = {}
    for metric, values in by_metric(metrics):
        joined = people.join(values.select("item", metric_value="value"), on="item", maintain_order="left")
        if joined.height < 2:
            continue
        shared = groups.setdefault(tuple(joined["item"]), Shared(joined.drop("metric_value"), []))
        shared.metrics.append((metric, joined["metric_value"]))
    return groups.values()


def prompt_numbers(people: pl.DataFrame) -> NDArray[np.int64]:
    """The prompt of each row as a number; a row without one stands alone."""
    alone = pl.concat_str(pl.lit("\n"), pl.int_range(pl.len()).cast(pl.String))
    return numbered(people.select(pl.coalesce("prompt", alone)).to_series())


def numbered(names: pl.Series) -> NDArray[np.int64]:
    """Numbers from 0 in the order of the names."""
    return names.to_frame("n").select(pl.col("n").rank("dense").cast(pl.Int64) - 1).to_series().to_numpy()


def rater_count(people: pl.DataFrame) -> int | None:
    """How many people are behind an opinion, at most."""
    found = people["raters"].max()
    return int(found) if isinstance(found, int) else None


def text(value: object) -> str | None:
    """The value, where it is a text."""
    return value if isinstance(value, str) else None


def known(value: float) -> float | None:
    """The value, where it is finite."""
    return float(value) if np.isfinite(value) else None
