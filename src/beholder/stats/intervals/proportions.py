"""Confidence intervals for a proportion of independent answers.

These treat every answer as independent. Answers of one rater are not (see
:mod:`beholder.stats.intervals.bootstrap`), so they suit one answer per rater, and little else.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from beholder.errors import StatisticsError


def wilson(
    successes: ArrayLike, trials: ArrayLike, level: float = 0.95
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return Wilson's score confidence interval (low, high); arrays broadcast, no trials gives nan.

    With p = k/n and z the normal quantile: (p + z²/2n ± z √(p(1−p)/n + z²/4n²)) / (1 + z²/n).
    """
    k, n = _counts(successes, trials, level)
    z = special.ndtri((1 + level) / 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        proportion = k / n
        centre = (proportion + z**2 / (2 * n)) / (1 + z**2 / n)
        half = z * np.sqrt(proportion * (1 - proportion) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
    # At the ends the interval touches 0 or 1 exactly; rounding must not push it past.
    low = np.where(k == 0, 0.0, np.clip(centre - half, 0, 1))
    high = np.where(k == n, 1.0, np.clip(centre + half, 0, 1))
    return np.where(n > 0, low, np.nan), np.where(n > 0, high, np.nan)


def clopper_pearson(
    successes: ArrayLike, trials: ArrayLike, level: float = 0.95
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the exact binomial confidence interval (low, high); arrays broadcast, no trials gives nan.

    low = Beta⁻¹(α/2; k, n−k+1), high = Beta⁻¹(1−α/2; k+1, n−k), with low = 0 at k = 0 and high = 1 at k = n.
    """
    k, n = _counts(successes, trials, level)
    tail = (1 - level) / 2
    low = np.where(k == 0, 0.0, special.betaincinv(np.maximum(k, 1), n - k + 1, tail))
    high = np.where(k == n, 1.0, special.betaincinv(k + 1, np.maximum(n - k, 1), 1 - tail))
    return np.where(n > 0, low, np.nan), np.where(n > 0, high, np.nan)


def _counts(
    successes: ArrayLike, trials: ArrayLike, level: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    if not 0 < level < 1:
        raise StatisticsError(f"an interval needs a level between 0 and 1; found {level}")
    k, n = np.broadcast_arrays(np.asarray(successes, np.float64), np.asarray(trials, np.float64))
    if not (np.all(np.isfinite(k) & np.isfinite(n)) and np.all((k >= 0) & (k <= n))):
        raise StatisticsError("a proportion needs 0 ≤ successes ≤ trials, all finite; found otherwise")
    return k, n


def arcsine_interval(
    value: NDArray[np.float64], reach: NDArray[np.float64], sample: NDArray[np.int64], level: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the interval value ± reach of proportions on the scale of arcsin √p, which stays between 0 and 1.

    Args:
        value: The proportions.
        reach: Half the widths of their plain intervals.
        sample: Raters, or prompts, behind each: at 0 or 1 the interval is Wilson's for as many answers.
        level: Of Wilson's intervals.

    Returns:
        Lower and upper ends.

    Example:
        >>> low, high = arcsine_interval(np.array([0.5, 0.9]), np.array([0.1, 0.1]), np.array([20, 20]), 0.95)
        >>> low.round(3).tolist(), high.round(3).tolist()
        ([0.401, 0.78], [0.599, 0.976])
    """
    p = np.clip(value, 0.0, 1.0)
    edge = (p == 0) | (p == 1)
    angle = np.arcsin(np.sqrt(p))
    turn = reach / (2 * np.sqrt(np.where(edge, 1.0, p * (1 - p))))
    low = np.sin(np.maximum(angle - turn, 0.0)) ** 2
    high = np.sin(np.minimum(angle + turn, np.pi / 2)) ** 2
    count = np.maximum(sample, 1).astype(np.float64)
    least, most = wilson(np.nan_to_num(p) * count, count, level)
    return np.where(edge, least, low), np.where(edge, most, high)
