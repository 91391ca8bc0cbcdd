"""How far automatic metrics agree with raters, item by item: correlations with their baseline and ceiling."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from beholder.errors import StatisticsError, unknown_name
from beholder.stats.correlation.bounds import generator_baseline, panel_ceiling
from beholder.stats.correlation.metric_agreement import STATISTICS, Opinions
from beholder.stats.correlation.metric_agreement import agreement as metric_agreement
from beholder.stats.frames.columns import Columns, Frame, code_labels, read_columns
from beholder.stats.frames.result_table import ResultTable, frame_of
from beholder.stats.intervals.bootstrap import rater_weights

Statistic = Literal["pearson", "spearman", "kendall", "pair-accuracy"]
"""PLCC, SRCC, KRCC (τ-b), or the proportion of pairs of items in the same order (½ is chance)."""

SIMULATED_PANELS = 100
"""Simulated panels of raters, for human ceilings."""


def correlate(
    items: Frame,
    *,
    metric: str | Sequence[str] = "metric",
    opinion: str = "opinion",
    error: str | None = None,
    prompt: str | None = None,
    generator: str | None = None,
    statistic: Statistic | Sequence[Statistic] = ("pearson", "spearman", "kendall"),
    level: float = 0.95,
    replicates: int = 1000,
    seed: int = 0,
) -> ResultTable:
    """Correlate automatic metrics with raters' mean opinions of the same items.

    The confidence interval is over prompts, or over items where no prompts are named: would the metric agree as
    well with raters on other prompts? Images of one prompt are resampled together. Two bounds say what a
    correlation is worth: the *generator-mean baseline* is reached by knowing only which generator made an image,
    and the *human ceiling* is how well another panel of raters would agree with this one.

    Args:
        items: A data frame with one row per item, such as an image.
        metric: The column of an automatic metric, or several.
        opinion: The column of raters' opinions, such as mean opinion scores or win rates.
        error: The column of their standard errors, for the human ceiling.
        prompt: The column of prompts; items of one prompt are resampled together.
        generator: The column of generators, for the baseline.
        statistic: ``"pearson"`` (PLCC), ``"spearman"`` (SRCC), ``"kendall"`` (KRCC), ``"pair-accuracy"``.
        level: Nominal coverage of the confidence intervals.
        replicates: Bootstrap replicates; with fewer than 300 prompts the interval of a correlation is a jackknife
            and needs none.
        seed: With which prompts are resampled and panels simulated.

    Returns:
        One row per metric and statistic: ``estimate``, ``low``, ``high``, ``baseline`` (where generators are
        named), ``ceiling`` (where errors are), ``items``. Fewer than 5 prompts have no interval.

    Example:
        >>> import polars as pl
        >>> from beholder.stats.frames.examples import example_ratings
        >>> images = example_ratings().group_by("image", "generator", "prompt", "metric", maintain_order=True).agg(
        ...     opinion=pl.col("score").mean(), error=pl.col("score").std() / pl.len().sqrt())
        >>> correlate(images, error="error", prompt="prompt", generator="generator")
        correlation with raters
        metric  statistic  estimate       95 % CI  baseline  ceiling
        ────────────────────────────────────────────────────────────
        metric  pearson        0.59  [0.22, 0.81]     0.671    0.881
        metric  spearman       0.49  [0.00, 0.79]     0.656    0.870
        metric  kendall        0.35  [0.00, 0.62]     0.485    0.698
        95 % CI: jackknife over prompts, Fisher z · 40 items · 1,000 replicates · seed 0
        10 prompts
    """
    metrics = [metric] if isinstance(metric, str) else list(metric)
    statistics = [statistic] if isinstance(statistic, str) else list(statistic)
    faults = [unknown_name("statistic", name, STATISTICS) for name in statistics if name not in STATISTICS]
    if faults or not metrics or not statistics:
        raise StatisticsError("; ".join(faults) or "a correlation needs a metric and a statistic; found none")
    columns = read_columns(
        items,
        labels={"prompt": prompt, "generator": generator},
        numbers={"opinion": opinion, "error": error} | {f"metric[{name}]": name for name in metrics},
    )
    clusters = code_labels(columns.labels["prompt"])[1][0] if prompt else None
    groups = code_labels(columns.labels["generator"])[1][0] if generator else None
    rng = np.random.default_rng(seed)
    count = columns.rows if clusters is None else int(clusters.max()) + 1
    weights = rater_weights(np.zeros(count, np.int64), replicates, rng)
    noise = rng.standard_normal((SIMULATED_PANELS, columns.rows))
    opinions = Opinions(columns.numbers["opinion"], columns.numbers.get("error", np.full(columns.rows, np.nan)))
    halves = None if groups is None else _halves(columns, groups)
    rows: list[dict[str, object]] = []
    interval = ""
    for name in statistics:
        ceiling = panel_ceiling(opinions, name, noise)
        baseline = np.nan
        if groups is not None and halves is not None:
            baseline = generator_baseline(opinions.values, groups, halves, name)
        for column in metrics:
            agreed = metric_agreement(
                columns.numbers[f"metric[{column}]"], opinions, name, weights, clusters=clusters, level=level
            )
            interval = agreed.interval or interval
            rows.append(
                {
                    "metric": column,
                    "statistic": name,
                    "estimate": agreed.value,
                    "low": agreed.low,
                    "high": agreed.high,
                    "baseline": baseline,
                    "ceiling": ceiling,
                }
            )
    table = frame_of({name: [row[name] for row in rows] for name in rows[0]})
    absent = [] if groups is not None else ["baseline"]
    absent += [] if error else ["ceiling"]
    return ResultTable(
        title="correlation with raters",
        rows=table.drop(absent),
        method=interval or "no interval: too few prompts or items",
        keys=2,
        estimate="estimate",
        level=level,
        items=columns.rows,
        ties="pairs tied in opinion left out, in the metric half" if "pair-accuracy" in statistics else None,
        replicates=replicates,
        seed=seed,
        notes=() if clusters is None else (f"{count:,} prompts",),
        unit="correlation with raters",
        backend=columns.backend,
    )


def _halves(columns: Columns, groups: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return every other item of each generator, in the order of prompts."""
    prompts = (
        code_labels(columns.labels["prompt"])[1][0] if "prompt" in columns.labels else np.arange(columns.rows)
    )
    order = np.lexsort((np.arange(columns.rows), prompts, groups))
    starts = np.flatnonzero(np.diff(groups[order], prepend=-1))
    place = np.arange(len(order)) - np.repeat(starts, np.diff(np.append(starts, len(order))))
    halves = np.empty(len(order), np.bool_)
    halves[order] = place % 2 == 1
    return halves
