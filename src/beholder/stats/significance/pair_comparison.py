"""All pairs of several ratings compared at once: differences, simultaneous intervals, verdicts, rank ranges.

The verdict and the confidence interval of a difference have one source: two cells are separated exactly where the
simultaneous interval of their difference excludes 0. What the ratings vary over (raters, prompts, or both) is
in the standard errors and degrees of freedom.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from beholder.errors import StatisticsError
from beholder.stats.intervals.clustered_t import likelihood_interval
from beholder.stats.intervals.likelihood_lines import LikelihoodLines
from beholder.stats.significance.rank_ranges import rank_ranges
from beholder.stats.significance.simultaneous import adjusted_p, critical_t


@dataclass(frozen=True, eq=False)
class PairComparison:
    """Every pair of cells compared, and a rank range for each cell."""

    first: NDArray[np.int64]  # (pairs,) cell index
    second: NDArray[np.int64]  # (pairs,) cell index, above ``first``
    difference: NDArray[np.float64]  # (pairs,) first − second
    standard_error: NDArray[np.float64]  # (pairs,)
    degrees: NDArray[np.float64]  # (pairs,) of freedom
    low: NDArray[np.float64]  # (pairs,) simultaneous interval: all of them hold together at ``level``
    high: NDArray[np.float64]  # (pairs,)
    p_value: NDArray[np.float64]  # (pairs,) two-sided, of this pair alone
    p_adjusted: NDArray[np.float64]  # (pairs,) adjusted for all pairs
    separated: NDArray[np.bool_]  # (pairs,) whether the interval excludes 0
    rank_low: NDArray[np.int64]  # (cells,) best rank the data allow; 1 is best
    rank_high: NDArray[np.int64]  # (cells,) worst rank the data allow
    level: float
    higher_is_better: bool


def compare_pairs(
    values: ArrayLike,
    standard_errors: ArrayLike,
    degrees: ArrayLike,
    *,
    level: float = 0.95,
    higher_is_better: bool = True,
    likelihood: LikelihoodLines | None = None,
) -> PairComparison:
    """Compare every pair of cells by a t test, with simultaneous confidence intervals and ranges of ranks.

        difference ± c · SE,    p = 2 P(t_ν > |difference| / SE),

    c allows for all pairs (:func:`beholder.stats.significance.simultaneous.critical_t`), so that the chance of any
    false separation is 1 − level, and all rank ranges hold together.

    Args:
        values: The rating of each cell (cells,).
        standard_errors: Of the difference of each pair (pairs,), in the order of ``numpy.triu_indices(cells, 1)``;
            a pair with nan has no interval and is not separated.
        degrees: Degrees of freedom of each pair (pairs,).
        level: The level of all intervals together.
        higher_is_better: Whether rank 1 has the highest rating.
        likelihood: Whose maximum the ratings are, as of votes: then t is the likelihood ratio's normal score,
            divided by SE relative to the model's standard error, and intervals end where it is c
            (:func:`beholder.stats.intervals.clustered_t.likelihood_interval`).

    Returns:
        All pairs, and the range of ranks of every cell.

    Example:
        >>> pairs = compare_pairs([3.0, 2.0, 1.9], [0.2, 0.2, 0.2], [20, 20, 20])
        >>> pairs.separated.tolist(), pairs.rank_low.tolist(), pairs.rank_high.tolist()
        ([True, True, False], [1, 2, 2], [1, 3, 3])
    """
    rating = np.asarray(values, np.float64)
    count = len(rating)
    first, second = np.triu_indices(count, k=1)  # (pairs,)
    error, freedom = np.asarray(standard_errors, np.float64), np.asarray(degrees, np.float64)
    if rating.ndim != 1 or error.shape != first.shape or freedom.shape != first.shape:
        raise StatisticsError(
            f"{count} cells have {len(first)} pairs, each with a standard error and degrees of freedom; found "
            f"{error.shape} and {freedom.shape}"
        )
    difference = rating[first] - rating[second]
    error = np.where(np.isnan(difference), np.nan, error)
    still = (error == 0) & (np.abs(difference) <= 1e-12)
    votes = likelihood is not None
    reach = critical_t(level, count, freedom, votes=votes) * error if count > 1 else error
    if likelihood is None or count < 2:
        size, low, high = np.abs(difference), difference - reach, difference + reach
    else:
        contrasts = np.eye(count)[first] - np.eye(count)[second]
        roots = likelihood.roots(contrasts, np.zeros(len(first)))
        size = np.abs(roots) * likelihood.errors(contrasts)
        low, high = likelihood_interval(likelihood, contrasts, reach)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(still, 0.0, size / error)
    p_value = 2 * special.stdtr(freedom, -t)
    separated = ~still & ((low > 0) | (high < 0))  # nan compares as False
    advantage = difference if higher_is_better else -difference
    rank_low, rank_high = rank_ranges(first, second, advantage, separated, count)
    return PairComparison(
        first=first.astype(np.int64),
        second=second.astype(np.int64),
        difference=difference,
        standard_error=error,
        degrees=freedom,
        low=low,
        high=high,
        p_value=p_value,
        p_adjusted=_adjusted(p_value, separated, count, freedom, level, votes=votes),
        separated=separated,
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
    *,
    votes: bool,
) -> NDArray[np.float64]:
    """Return adjusted p-values (pairs,), which rounding does not put on the wrong side of 1 − level."""
    if len(p_value) == 0:
        return p_value
    alpha, adjusted = 1 - level, adjusted_p(p_value, count, degrees, votes=votes)
    return np.where(separated, np.minimum(adjusted, np.nextafter(alpha, 0)), np.maximum(adjusted, alpha))
