"""Which of several groups differ, every pair compared: Tukey's HSD, and Games–Howell where spreads differ.

Both refer |x̄ᵢ − x̄ⱼ| / SE to the studentised range of k means, so that the chance of any false difference among
all pairs is at most 1 − level. The unit is the rater: one number each, each rater in one group.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from beholder.errors import StatisticsError
from beholder.stats.significance.grouped import Grouped, grouped
from beholder.stats.significance.studentised_range import range_cdf, range_quantile


@dataclass(frozen=True, eq=False)
class GroupPairs:
    """Every pair of groups; confidence intervals and p-values already allow for all pairs."""

    first: NDArray[np.int64]  # (pairs,) group index
    second: NDArray[np.int64]  # (pairs,) group index, above ``first``
    difference: NDArray[np.float64]  # (pairs,) first − second
    standard_error: NDArray[np.float64]  # (pairs,)
    degrees: NDArray[np.float64]  # (pairs,) of freedom
    low: NDArray[np.float64]  # (pairs,) simultaneous interval
    high: NDArray[np.float64]  # (pairs,)
    p_value: NDArray[np.float64]  # (pairs,)
    separated: NDArray[np.bool_]  # (pairs,) p_value ≤ 1 − level
    level: float
    method: str


def tukey_hsd(values: ArrayLike, groups: ArrayLike, *, level: float = 0.95) -> GroupPairs:
    """Compare all pairs with one common spread (Tukey–Kramer for unequal groups).

    SE² = MS_within · (1/nᵢ + 1/nⱼ), n − k degrees of freedom; p = P(range of k > √2 |difference| / SE).
    """
    data = grouped(values, groups)
    spare = len(data.values) - data.k
    if spare < 1:
        raise StatisticsError(f"Tukey's HSD needs more raters than groups; found {len(data.values)} in {data.k}")
    pooled = float(np.sum(data.residuals**2)) / spare
    first, second = np.triu_indices(data.k, k=1)
    error = np.sqrt(pooled * (1 / data.counts[first] + 1 / data.counts[second]))
    degrees = np.full(len(first), float(spare))
    return _pairs(data, first, second, error, degrees, level, "Tukey HSD")


def games_howell(values: ArrayLike, groups: ArrayLike, *, level: float = 0.95) -> GroupPairs:
    """Compare all pairs, each with its own two spreads and Welch's degrees of freedom.

    SE² = sᵢ²/nᵢ + sⱼ²/nⱼ, degrees (sᵢ²/nᵢ + sⱼ²/nⱼ)² / ((sᵢ²/nᵢ)²/(nᵢ−1) + (sⱼ²/nⱼ)²/(nⱼ−1)).
    """
    data = grouped(values, groups)
    if np.any(data.counts < 2):
        raise StatisticsError(
            f"Games–Howell needs at least two raters in every group; found {int(data.counts.min())} in group "
            f"{int(np.argmin(data.counts))}"
        )
    mean_variances = data.variances / data.counts  # (k,) variance of each mean
    first, second = np.triu_indices(data.k, k=1)
    square = mean_variances[first] + mean_variances[second]
    parts = mean_variances**2 / (data.counts - 1)
    below = parts[first] + parts[second]
    spare = data.counts[first] + data.counts[second] - 2.0
    degrees = np.where(below > 0, square**2 / np.where(below > 0, below, 1.0), spare)
    return _pairs(data, first, second, np.sqrt(square), degrees, level, "Games–Howell")


def _pairs(
    data: Grouped,
    first: NDArray[np.intp],
    second: NDArray[np.intp],
    error: NDArray[np.float64],
    degrees: NDArray[np.float64],
    level: float,
    method: str,
) -> GroupPairs:
    """Refer each difference to the studentised range; with no spread, p is 0 or 1 and the interval a point."""
    if not 0 < level < 1:
        raise StatisticsError(f"an interval needs a level between 0 and 1; found {level}")
    difference = data.means[first] - data.means[second]
    spread = error > 0
    score = np.sqrt(2) * np.abs(difference) / np.where(spread, error, 1.0)
    p_value = np.where(difference == 0, 1.0, 0.0)
    p_value[spread] = 1 - range_cdf(score[spread], data.k, degrees[spread])
    distinct, place = np.unique(degrees, return_inverse=True)
    reach = range_quantile(level, data.k, distinct)[place] / np.sqrt(2)
    return GroupPairs(
        first=first.astype(np.int64),
        second=second.astype(np.int64),
        difference=difference,
        standard_error=error,
        degrees=degrees,
        low=difference - reach * error,
        high=difference + reach * error,
        p_value=p_value,
        separated=p_value <= 1 - level,
        level=level,
        method=method,
    )
