"""Comparing all pairs of several cells at once: the critical t, and the p-value that allows for every pair.

One comparison has Student's p-value. The chance that any of all m = k(k − 1)/2 comparisons is as extreme lies
between two known numbers: with many degrees of freedom it is that of the range of k normal means (Tukey), and it
is never above m·p (Bonferroni). Every pair has its own standard error here; with few degrees of freedom these
errors vary separately, which moves the chance from the first number towards the second:

    p_adjusted = (1 − λ) · P(range of k > √2 z) + λ · min(1, m p),    λ = min(1, 1.4 ln(m) / ν),

with z the normal score of p, 2Φ(−z) = p. λ was fitted to simulated normal scores of 3 to 20 cells with 4 to 49
degrees of freedom ν. With two cells both are p itself. Votes are bounded, extreme scores rarer than normal ones
with few raters: for them λ = 0 (``votes``), which was chosen by simulation, too (decision 046).

Reference: J. W. Tukey (1953), *The problem of multiple comparisons*; A. J. Hayter (1984), Annals of Statistics
12(1), for unequal errors.
"""

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from beholder.errors import StatisticsError
from beholder.stats.significance.studentised_range import normal_range_cdf

_SLOPE = 1.4
_KNOTS = 4001  # of the curve from which critical values are read
_FAR = 37.0  # standard deviations; beyond this a p-value is 0


def adjusted_p(p_values: ArrayLike, cells: int, degrees: ArrayLike, *, votes: bool = False) -> NDArray[np.float64]:
    """Return the chance that any of all pairs is as extreme, where none differs.

    Args:
        p_values: Student's two-sided p-value of each pair (pairs,); nan stays nan.
        cells: The number of cells whose pairs are all compared.
        degrees: Degrees of freedom of each pair, (pairs,) or one number.
        votes: Whether the cells are rated by votes or rankings.

    Returns:
        The adjusted p-values (pairs,), never below ``p_values`` and never above Bonferroni's.

    Example:
        >>> adjusted_p([0.05, 0.005], cells=2, degrees=9).round(4).tolist()
        [0.05, 0.005]
        >>> adjusted_p([0.05, 0.005], cells=5, degrees=9).round(4).tolist()
        [0.3625, 0.0436]
    """
    p, spare = np.broadcast_arrays(np.asarray(p_values, np.float64), np.asarray(degrees, np.float64))
    tested = p[~np.isnan(p)]
    if p.ndim != 1 or np.any((tested < 0) | (tested > 1)):
        raise StatisticsError("an adjustment needs a one-dimensional array of p-values in [0, 1]")
    if cells < 2:
        raise StatisticsError(f"pairs need at least two cells; found {cells}")
    if cells == 2:
        return np.array(p)
    adjusted = np.full(p.shape, np.nan)
    adjusted[~np.isnan(p)] = _family(tested, cells, spare[~np.isnan(p)], votes=votes)
    return adjusted


def critical_t(level: float, cells: int, degrees: ArrayLike, *, votes: bool = False) -> NDArray[np.float64]:
    """Return the t that a difference must exceed to be significant among all pairs, for each of ``degrees``.

    An interval of ± this many standard errors around every difference holds all true differences together with a
    chance of ``level``; it excludes 0 exactly where :func:`adjusted_p` is below 1 − level.

    Args:
        level: The level of all intervals together, such as 0.95.
        cells: The number of cells whose pairs are all compared.
        degrees: Degrees of freedom of each pair, (pairs,).
        votes: Whether the cells are rated by votes or rankings.

    Returns:
        The critical values (pairs,).

    Example:
        >>> critical_t(0.95, cells=2, degrees=[4, 29]).round(3).tolist()
        [2.776, 2.045]
        >>> critical_t(0.95, cells=5, degrees=[4, 29]).round(3).tolist()
        [5.536, 2.954]
    """
    if not 0 < level < 1:
        raise StatisticsError(f"an interval needs a level between 0 and 1; found {level}")
    spare = np.atleast_1d(np.asarray(degrees, np.float64))
    if cells == 2:
        return np.asarray(-special.stdtrit(spare, (1 - level) / 2), np.float64)
    weights, log_p = _curve(level, cells)
    single = np.exp(np.interp(_weight(cells, spare, votes=votes), weights, log_p))
    return np.asarray(-special.stdtrit(spare, single / 2), np.float64)


@lru_cache(maxsize=64)
def _curve(level: float, cells: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return weights λ, ascending, and the logarithm of the single p whose adjusted one is 1 − level with each."""
    alpha, pairs = 1 - level, cells * (cells - 1) / 2
    log_p = np.linspace(np.log(alpha / pairs), np.log(alpha), _KNOTS)
    joint, bound = _extremes(np.exp(log_p), cells)
    usable = np.arange(_KNOTS) <= np.count_nonzero(joint <= alpha)  # the last has a weight just below 0
    weights = (alpha - joint[usable]) / (bound[usable] - joint[usable])
    return weights[::-1], log_p[usable][::-1]


def _family(
    p: NDArray[np.float64], cells: int, degrees: NDArray[np.float64], *, votes: bool
) -> NDArray[np.float64]:
    joint, bound = _extremes(p, cells)
    weight = _weight(cells, degrees, votes=votes)
    return np.asarray(np.clip((1 - weight) * joint + weight * bound, p, 1.0), np.float64)


def _extremes(p: NDArray[np.float64], cells: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return Tukey's and Bonferroni's adjusted p-values."""
    with np.errstate(divide="ignore"):
        score = np.minimum(-special.ndtri(p / 2), _FAR)
    bound = np.minimum(1.0, cells * (cells - 1) / 2 * p)
    return np.minimum(1 - normal_range_cdf(np.sqrt(2) * score, cells), bound), bound


def _weight(cells: int, degrees: NDArray[np.float64], *, votes: bool) -> NDArray[np.float64]:
    if votes:
        return np.zeros_like(degrees)
    slope = _SLOPE * np.log(cells * (cells - 1) / 2)
    return np.asarray(np.minimum(1.0, slope / np.maximum(degrees, 1.0)), np.float64)
