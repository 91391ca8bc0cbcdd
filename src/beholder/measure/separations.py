"""Which two metrics differ significantly in their agreement with raters: the rows of ``metric_separations``."""

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from beholder.measure.joined import METRIC_KEY, AgreementSettings, Row, finite_or_none
from beholder.stats.correlation.metric_agreement import Agreement, interval_of
from beholder.stats.significance.holm import holm

TESTED = "spearman"
"""The statistic by which two metrics are tested: it asks no more of a metric than the right order."""


def separations(
    key: Row, tested: list[tuple[Row, Agreement]], group: NDArray[np.int64], settings: AgreementSettings
) -> list[Row]:
    """Test the difference in agreement of every two metrics that have bootstrap replicates, over the same ones.

    P values are two-sided, from the bootstrap, and adjusted by Holm over all pairs of metrics in ``tested``.
    """
    rows: list[Row] = []
    testable = [(metric, agreement) for metric, agreement in tested if len(agreement.replicates)]
    for first, second in combinations(testable, 2):
        (ahead, better), (behind, worse) = (
            (first, second) if first[1].value >= second[1].value else (second, first)
        )
        differences = better.replicates - worse.replicates
        finite = differences[np.isfinite(differences)]
        value = better.value - worse.value
        low, high = interval_of(
            np.array([value]), differences, better.left_out - worse.left_out, group, settings.level
        )
        rows.append(
            key
            | {"metric": ahead["metric"], "encoder": ahead["encoder"], "reference": ahead["reference"]}
            | {f"other{tail}": behind[name] for name, tail in zip(METRIC_KEY, TAILS, strict=False)}
            | {
                "statistic": TESTED,
                "difference": value,
                "low": finite_or_none(low),
                "high": finite_or_none(high),
                "p": _two_sided(finite),
                "items": first[1].items,
            }
        )
    p_values = np.array([row["p"] for row in rows], np.float64)
    for row, adjusted in zip(rows, holm(p_values) if rows else [], strict=True):
        row |= {"p_adjusted": finite_or_none(float(adjusted)), "separated": bool(adjusted < 1 - settings.level)}
    return rows


TAILS = ("", "_encoder", "_reference")
"""Endings of the columns that name the other metric."""


def _two_sided(differences: NDArray[np.float64]) -> float | None:
    """Twice the smaller proportion of replicates on either side of 0, ties half; at least one replicate."""
    if not len(differences):
        return None
    above = float(np.mean(differences > 0) + np.mean(differences == 0) / 2)
    return min(max(2 * min(above, 1 - above), 1 / len(differences)), 1.0)
