"""Which pairs of cells (such as generators) differ significantly, and the rank range that leaves for each cell.

The verdict and the confidence interval of a difference have one source: two cells are separated exactly where the
simultaneous interval of their difference excludes 0.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import special

from beholder.stats.intervals.clustered_t import FEWEST_RATERS, RaterInfluence, pair_errors
from beholder.stats.significance.rank_ranges import rank_ranges
from beholder.stats.significance.simultaneous import adjusted_p, critical_t

VERDICT_RATERS = 8
"""With fewer raters a study is too small for a verdict: what it separates depends on one or two of them."""

POWER = 0.8
"""The chance of separating two cells for which :attr:`Separation.more_raters` is computed."""

_LIMIT = 1e9  # raters; beyond this a number means nothing
_ROUNDS = 5


@dataclass(frozen=True, eq=False)
class Separation:
    """Every pair of cells compared, and a rank range for each cell."""

    first: NDArray[np.int64]  # (pairs,) cell index
    second: NDArray[np.int64]  # (pairs,) cell index, above ``first``
    difference: NDArray[np.float64]  # (pairs,) first − second
    standard_error: NDArray[np.float64]  # (pairs,) over raters
    degrees: NDArray[np.float64]  # (pairs,) of freedom
    low: NDArray[np.float64]  # (pairs,) simultaneous interval: all of them hold together at ``level``
    high: NDArray[np.float64]  # (pairs,)
    p_value: NDArray[np.float64]  # (pairs,) two-sided, of this pair alone
    p_adjusted: NDArray[np.float64]  # (pairs,) adjusted for all pairs
    separated: NDArray[np.bool_]  # (pairs,) whether the interval excludes 0
    more_raters: NDArray[np.float64]  # (pairs,) to add until a difference as large is separated; nan where it is
    rank_low: NDArray[np.int64]  # (cells,) best rank the data allow; 1 is best
    rank_high: NDArray[np.int64]  # (cells,) worst rank the data allow
    level: float
    higher_is_better: bool

    def higher_first(self) -> "Separation":
        """Return the same with every pair turned so that its difference is not negative.

        Returns:
            Pairs whose ``first`` is rated higher than their ``second``; all else is unchanged.
        """
        turned = self.difference < 0
        return replace(
            self,
            first=np.where(turned, self.second, self.first),
            second=np.where(turned, self.first, self.second),
            difference=np.where(turned, -self.difference, self.difference),
            low=np.where(turned, -self.high, self.low),
            high=np.where(turned, -self.low, self.high),
        )


def separate(
    cells: RaterInfluence,
    *,
    level: float = 0.95,
    higher_is_better: bool = True,
    fewest: int = FEWEST_RATERS,
) -> Separation:
    """Compare every pair of cells by a t test over raters, with simultaneous confidence intervals.

        difference ± c · SE,    p = 2 P(t_ν > |difference| / SE),

    with SE and the degrees of freedom ν of :func:`beholder.stats.intervals.clustered_t.pair_errors`: raters that
    judged both cells are compared with themselves. c allows for all pairs
    (:func:`beholder.stats.significance.simultaneous.critical_t`), so that the chance of any false separation is
    1 − level. Ranks are those of :func:`beholder.stats.significance.rank_ranges.rank_ranges`, and hold together.

    The standard error falls with √n, so a difference as large as the present one is separated with power .8 by

        n = now · ((c + z_power) · SE / difference)²

    raters, c and the degrees of freedom being those of n raters.

    Args:
        cells: The ratings, and how far each rater moves each.
        level: The level of all intervals together.
        higher_is_better: Whether rank 1 has the highest rating.
        fewest: A pair with a cell of fewer raters has no interval (nan) and is not separated.

    Returns:
        All pairs, and the range of ranks of every cell.

    Example:
        >>> from beholder.stats.intervals.clustered_t import ratio_influence
        >>> scores = np.array([[0.9, 0.4], [0.8, 0.5], [0.7, 0.5], [0.9, 0.3], [0.7, 0.3]])
        >>> pair = separate(ratio_influence(scores, np.ones((5, 2))))  # differences .5, .3, .2, .6, .4
        >>> print(f"{pair.difference[0]:.2f} [{pair.low[0]:.3f}, {pair.high[0]:.3f}]", pair.separated[0])
        0.40 [0.204, 0.596] True
    """
    count = len(cells.values)
    first, second = np.triu_indices(count, k=1)  # (pairs,)
    difference = cells.values[first] - cells.values[second]
    error, degrees = pair_errors(cells, first, second)
    few = np.minimum(cells.raters[first], cells.raters[second]) < fewest
    error = np.where(few | np.isnan(difference), np.nan, error)
    still = (error == 0) & (np.abs(difference) <= 1e-12)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(still, 0.0, np.abs(difference) / error)
    p_value = 2 * special.stdtr(degrees, -t)
    reach = critical_t(level, count, degrees) * error if count > 1 else error
    low, high = difference - reach, difference + reach
    separated = ~still & ((low > 0) | (high < 0))  # nan compares as False
    advantage = difference if higher_is_better else -difference
    rank_low, rank_high = rank_ranges(first, second, advantage, separated, count)
    return Separation(
        first=first.astype(np.int64),
        second=second.astype(np.int64),
        difference=difference,
        standard_error=error,
        degrees=degrees,
        low=low,
        high=high,
        p_value=p_value,
        p_adjusted=_adjusted(p_value, separated, count, degrees, level),
        separated=separated,
        more_raters=_more_raters(cells, first, second, difference, error, degrees, separated, level),
        rank_low=rank_low,
        rank_high=rank_high,
        level=level,
        higher_is_better=higher_is_better,
    )


def _adjusted(
    p_value: NDArray[np.float64],
    separated: NDArray[np.bool_],
    count: int,
    degrees: NDArray[np.float64],
    level: float,
) -> NDArray[np.float64]:
    """Return adjusted p-values (pairs,), which rounding does not put on the wrong side of 1 − level."""
    if len(p_value) == 0:
        return p_value
    alpha, adjusted = 1 - level, adjusted_p(p_value, count, degrees)
    return np.where(separated, np.minimum(adjusted, np.nextafter(alpha, 0)), np.maximum(adjusted, alpha))


def _more_raters(
    cells: RaterInfluence,
    first: NDArray[np.intp],
    second: NDArray[np.intp],
    difference: NDArray[np.float64],
    error: NDArray[np.float64],
    degrees: NDArray[np.float64],
    separated: NDArray[np.bool_],
    level: float,
) -> NDArray[np.float64]:
    """Return the raters to add (pairs,); nan where separated, without a difference, or where a billion is too few.

    n stands on both sides of its equation; a few rounds settle it, as c changes little.
    """
    more = np.full(len(first), np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = error / np.abs(difference)
    pairs = np.flatnonzero(~separated & np.isfinite(ratio) & (ratio > 0) & (ratio < _LIMIT))
    if len(pairs) == 0:
        return more
    judged = (cells.answers > 0).astype(np.float64)
    both = judged.T @ judged  # (cells, cells) raters of each two cells
    a, b = first[pairs], second[pairs]
    now = cells.raters[a] + cells.raters[b] - both[a, b]
    needed = now.astype(np.float64)
    for _ in range(_ROUNDS):
        reach = critical_t(level, len(cells.values), np.round(degrees[pairs] * needed / now, 1))
        needed = np.clip(now * ((reach + special.ndtri(POWER)) * ratio[pairs]) ** 2, now, _LIMIT)
    more[pairs] = np.where(needed < _LIMIT, np.maximum(np.ceil(needed) - now, 1.0), np.nan)
    return more
