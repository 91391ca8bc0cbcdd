"""Which two metrics differ in how far they agree with people: the rows of ``metric_separations``."""

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from beholder.measure.joined import METRIC, Row, Settings, known
from beholder.stats.correlation.metric_agreement import Agreement, interval_of
from beholder.stats.significance.holm import holm

TESTED = "spearman"
"""The statistic by which two metrics are told apart: it asks no more of a metric than the right order."""


def separations(
    given: Row, tested: list[tuple[Row, Agreement]], group: NDArray[np.int64], settings: Settings
) -> list[Row]:
    """Every two metrics that have an interval: the difference of their agreement, over the same draws."""
    rows: list[Row] = []
    ready = [(metric, one) for metric, one in tested if len(one.replicates)]
    for (first, one), (second, two) in combinations(ready, 2):
        ahead, behind, better, worse = (
            (first, second, one, two) if one.value >= two.value else (second, first, two, one)
        )
        draws = better.replicates - worse.replicates
        finite = draws[np.isfinite(draws)]
        value = better.value - worse.value
        low, high = interval_of(np.array([value]), draws, better.left_out - worse.left_out, group, settings.level)
        rows.append(
            given
            | {
                **{"metric": ahead["metric"], "encoder": ahead["encoder"], "reference": ahead["reference"]},
                **{f"other{tail}": behind[name] for name, tail in zip(METRIC, TAILS, strict=False)},
                **{"statistic": TESTED, "difference": value, "low": known(low), "high": known(high)},
                **{"p": _two_sided(finite), "items": one.items},
            }
        )
    p_values = np.array([row["p"] for row in rows], np.float64)
    for row, adjusted in zip(rows, holm(p_values) if rows else [], strict=True):
        row |= {"p_adjusted": known(float(adjusted)), "separated": bool(adjusted < 1 - settings.level)}
    return rows


TAILS = ("", "_encoder", "_reference")
"""What the columns of the other metric end in."""


def _two_sided(draws: NDArray[np.float64]) -> float | None:
    """Twice the smaller share of draws on either side of 0, ties half; at least one draw."""
    if not len(draws):
        return None
    above = float(np.mean(draws > 0) + np.mean(draws == 0) / 2)
    return min(max(2 * min(above, 1 - above), 1 / len(draws)), 1.0)
