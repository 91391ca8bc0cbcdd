"""Which pairs of cells (such as generators) differ significantly over raters, and how many more would do."""

from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray
from scipy import special

from beholder.stats.intervals.clustered_t import FEWEST_RATERS, RaterInfluence, pair_errors
from beholder.stats.significance.pair_comparison import PairComparison, compare_pairs
from beholder.stats.significance.simultaneous import critical_t

VERDICT_RATERS = 8
"""With fewer raters a study is too small for a verdict: what it separates depends on one or two of them."""

POWER = 0.8
"""The chance of separating two cells for which :attr:`Separation.more_raters` is computed."""

_LIMIT = 1e9  # raters; beyond this a number means nothing
_ROUNDS = 5


@dataclass(frozen=True, eq=False)
class Separation(PairComparison):
    """Every pair of cells compared over raters, and a rank range for each cell."""

    more_raters: NDArray[np.float64]  # (pairs,) to add until a difference as large is separated; nan where it is

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

    Votes and rankings have a likelihood, which falls slowly towards large log-odds and fast towards small ones.
    Their differences are tested by its ratio, with the standard error over raters relative to the model's,

        t = √(2 (ℓ(estimate) − ℓ(no difference))) · SE_model / SE,

    and the interval holds all differences that this test does not reject
    (:mod:`beholder.stats.intervals.likelihood_lines`).

    The standard error falls with √n, so a difference as large as the present one is separated with power .8 by

        n = now · ((c + z_power) / t)²

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
    first, second = np.triu_indices(len(cells.values), k=1)  # (pairs,)
    error, degrees = pair_errors(cells, first, second)
    few = np.minimum(cells.raters[first], cells.raters[second]) < fewest
    pairs = compare_pairs(
        cells.values,
        np.where(few, np.nan, error),
        degrees,
        level=level,
        higher_is_better=higher_is_better,
        likelihood=cells.likelihood,
    )
    more = _more_raters(cells, pairs)
    return Separation(**{field.name: getattr(pairs, field.name) for field in fields(pairs)}, more_raters=more)


def _more_raters(cells: RaterInfluence, pairs: PairComparison) -> NDArray[np.float64]:
    """Return the raters to add (pairs,); nan where separated, without a difference, or where a billion is too few.

    n stands on both sides of its equation; a few rounds settle it, as c changes little.
    """
    more = np.full(len(pairs.first), np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = pairs.standard_error / np.abs(pairs.difference)  # 1/t
        if cells.likelihood is not None:
            ratio = -1 / special.stdtrit(pairs.degrees, pairs.p_value / 2)
    open_pairs = np.flatnonzero(~pairs.separated & np.isfinite(ratio) & (ratio > 0) & (ratio < _LIMIT))
    if len(open_pairs) == 0:
        return more
    judged = (cells.answers > 0).astype(np.float64)
    both = judged.T @ judged  # (cells, cells) raters of each two cells
    a, b = pairs.first[open_pairs], pairs.second[open_pairs]
    now = cells.raters[a] + cells.raters[b] - both[a, b]
    needed = now.astype(np.float64)
    for _ in range(_ROUNDS):
        degrees = np.round(pairs.degrees[open_pairs] * needed / now, 1)
        reach = critical_t(pairs.level, len(cells.values), degrees, votes=cells.likelihood is not None)
        needed = np.clip(now * ((reach + special.ndtri(POWER)) * ratio[open_pairs]) ** 2, now, _LIMIT)
    more[open_pairs] = np.where(needed < _LIMIT, np.maximum(np.ceil(needed) - now, 1.0), np.nan)
    return more
