"""Does one metric agree better with raters than another? Correlations that share their items, compared."""

from collections.abc import Sequence
from itertools import combinations
from typing import Literal

import numpy as np

from beholder.errors import StatisticsError
from beholder.stats.correlation.dependent import CorrelationDifference, bootstrap_difference
from beholder.stats.correlation.dependent import compare_correlations as compare_columns
from beholder.stats.frames.columns import Frame, code_labels, read_columns
from beholder.stats.frames.result_table import ResultTable, frame_of
from beholder.stats.intervals.bootstrap import rater_weights
from beholder.stats.significance.holm import holm

Test = Literal["bootstrap", "williams", "steiger", "meng"]
"""How two correlations are compared: see :func:`compare_correlations`."""


def compare_correlations(
    items: Frame,
    *,
    metrics: Sequence[str],
    opinion: str = "opinion",
    prompt: str | None = None,
    statistic: Literal["pearson", "spearman", "kendall"] = "spearman",
    test: Test = "bootstrap",
    level: float = 0.95,
    replicates: int = 2000,
    seed: int = 0,
) -> ResultTable:
    """Test whether metrics differ in their correlation with raters' opinions of the same items.

    Correlations on the same items are themselves correlated: the more alike two metrics, the smaller a difference
    is recognised.

    - ``"bootstrap"`` resamples items, or prompts where they are named, for any statistic.
    - ``"williams"`` (t, 1959), ``"steiger"`` (Z, 1980) and ``"meng"`` (Z, 1992) are closed forms for normal
      columns, with Zou's interval; for Pearson, and approximately for Spearman. They take items as independent.

    Args:
        items: A data frame with one row per item.
        metrics: The columns of two metrics or more; every two are compared.
        opinion: The column of raters' opinions.
        prompt: The column of prompts, resampled as clusters. Only for the bootstrap.
        statistic: Which correlation.
        test: How they are compared.
        level: Nominal coverage of each confidence interval.
        replicates: Bootstrap replicates.
        seed: With which items are resampled.

    Returns:
        One row per pair of metrics: ``difference`` of the correlations, ``low``, ``high``, ``p_value``, and
        ``p_holm`` adjusted for all pairs.

    Example:
        >>> rng = np.random.default_rng(0)
        >>> opinion = rng.normal(size=60)
        >>> images = {"opinion": opinion, "good": opinion + rng.normal(size=60) / 2, "poor": rng.normal(size=60)}
        >>> compared = compare_correlations(images, metrics=["good", "poor"])
        >>> bool(compared["low"][0] > 0)
        True
    """
    if len(metrics) < 2:
        raise StatisticsError(f"a comparison needs two metrics; found {len(metrics)}")
    if test != "bootstrap" and (prompt is not None or statistic == "kendall"):
        raise StatisticsError(f"prompts, and Kendall's τ, need test='bootstrap'; found test={test!r}")
    columns = read_columns(
        items,
        labels={"prompt": prompt},
        numbers={"opinion": opinion} | {f"metrics[{name}]": name for name in metrics},
    )
    clusters = code_labels(columns.labels["prompt"])[1][0] if prompt else None
    count = columns.rows if clusters is None else int(clusters.max()) + 1
    weights = rater_weights(np.zeros(count, np.int64), replicates, np.random.default_rng(seed))

    def compared(first: str, second: str) -> CorrelationDifference:
        people = columns.numbers["opinion"]
        left, right = (columns.numbers[f"metrics[{name}]"] for name in (first, second))
        if test == "bootstrap":
            return bootstrap_difference(
                people, left, right, weights, kind=statistic, clusters=clusters, level=level
            )
        kind: Literal["pearson", "spearman"] = "pearson" if statistic == "pearson" else "spearman"
        return compare_columns(people, left, right, kind=kind, test=test, level=level)

    pairs = list(combinations(metrics, 2))
    tests = [compared(*pair) for pair in pairs]
    p_values = np.array([comparison.p_value for comparison in tests])
    return ResultTable(
        title=f"differences of {statistic} correlations with raters",
        rows=frame_of(
            {
                "metric": [first for first, _ in pairs],
                "other": [second for _, second in pairs],
                "difference": [comparison.difference for comparison in tests],
                "low": [comparison.low for comparison in tests],
                "high": [comparison.high for comparison in tests],
                "p_value": p_values,
                "p_holm": holm(p_values),
            }
        ),
        method=tests[0].method,
        keys=2,
        level=level,
        items=columns.rows,
        replicates=replicates if test == "bootstrap" else None,
        seed=seed if test == "bootstrap" else None,
        notes=() if clusters is None else (f"{count:,} prompts",),
        reference=0.0,
        signed=True,
        unit="difference of correlations",
        backend=columns.backend,
    )
