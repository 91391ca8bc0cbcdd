"""Screening of raters by correlation with the others, the worst one first.

The post-experiment screening of Recommendation ITU-T P.913: a rater whose Pearson correlation with the mean
opinion is below .75 is excluded, the lowest first, and all is computed again, since one careless rater lowers
everybody's. Here the mean leaves the rater out, who would else correlate with themselves.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from beholder.errors import StatisticsError
from beholder.stats.agreement.answers import long_answers
from beholder.stats.agreement.leave_one_out import leave_one_out_correlation

LEAST = 0.75  # the threshold of P.913


@dataclass(frozen=True, eq=False)
class CorrelationScreening:
    """Who is rejected, and how everyone correlates with the others who are left."""

    rejected: NDArray[np.bool_]  # (raters,)
    order: NDArray[np.int64]  # (rejected,) who went first, second …
    correlation: NDArray[np.float64]  # (raters,) of those rejected, when they were; nan where it is not defined
    threshold: float


def correlation_screening(
    raters: ArrayLike, items: ArrayLike, scores: ArrayLike, *, threshold: float = LEAST
) -> CorrelationScreening:
    """Apply the rule to long scores.

    A rater with fewer than three shared items, or who always gives the same score, has no correlation and stays;
    other rules find them. The last two raters stay too: between two, nobody can say who is wrong.
    """
    if not -1 <= threshold <= 1:
        raise StatisticsError(f"a threshold of a correlation needs to be from −1 to 1; found {threshold}")
    answers = long_answers(raters, items, scores)
    correlation = np.full(answers.rater_count, np.nan)
    rejected = np.zeros(answers.rater_count, np.bool_)
    order: list[int] = []
    rater_count = len(np.unique(answers.raters))
    while True:
        remaining = ~rejected[answers.raters]
        correlations = leave_one_out_correlation(
            answers.raters[remaining], answers.items[remaining], answers.values[remaining]
        ).correlation
        now = np.full(answers.rater_count, np.nan)
        now[: len(correlations)] = correlations
        correlation = np.where(rejected, correlation, now)
        below = ~rejected & (correlation < threshold)  # nan is not below
        if not below.any() or rater_count - len(order) <= 2:
            break
        worst = int(np.argmin(np.where(below, correlation, np.inf)))
        rejected[worst] = True
        order.append(worst)
    return CorrelationScreening(rejected, np.array(order, np.int64), correlation, threshold)
