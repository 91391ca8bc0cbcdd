"""Which generators differ significantly so far, in a study that is tested again and again as raters arrive.

Each pair is bet against: K_t is the capital of a gambler who bets that the two do not differ
(:mod:`beholder.stats.intervals.confidence_sequence`). 1/max K so far is a p-value that may be looked at after
every rater, and Holm's adjustment over all pairs keeps the chance that *any* pair is *ever* declared
different wrongly at most 1 − level.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from beholder.errors import StatisticsError
from beholder.stats.intervals.confidence_sequence import log_capital, paired_differences
from beholder.stats.significance.holm import holm


@dataclass(frozen=True, eq=False)
class SequentialSeparation:
    """Every pair of cells after all raters so far; what is separated stays so, whoever comes next."""

    first: NDArray[np.int64]  # (pairs,) cell index
    second: NDArray[np.int64]  # (pairs,) cell index, above ``first``
    difference: NDArray[np.float64]  # (pairs,) first − second, of the raters that were set against each other
    raters: NDArray[np.int64]  # (pairs,) how many those are; of either cell, between raters
    p_value: NDArray[np.float64]  # (pairs,) valid at every look
    p_holm: NDArray[np.float64]  # (pairs,) adjusted for all pairs
    separated: NDArray[np.bool_]  # (pairs,) p_holm ≤ 1 − level
    after: NDArray[np.int64]  # (pairs,) rows of ``scores`` after which the pair was separated; −1 while it is not
    level: float
    within: bool


def sequential_separation(
    scores: ArrayLike,
    *,
    within: bool,
    bounds: tuple[float, float] = (0.0, 1.0),
    level: float = 0.95,
) -> SequentialSeparation:
    """Compare all pairs of cells from ``scores`` (raters, cells), one row per rater, in order of completion.

    A score is the rater's mean of that cell, nan where they did not judge it. ``within`` says that raters judge
    several cells, and compares by those who judged both; otherwise each judges one, and the k-th rater of one
    cell is set against the k-th of the other. Order of arrival must not depend on the scores.
    """
    table = np.asarray(scores, np.float64)
    if table.ndim != 2 or table.shape[1] < 2 or len(table) == 0 or np.any(np.isinf(table)):
        raise StatisticsError(
            f"separation needs scores (raters, at least two cells), finite or nan; found shape {table.shape}"
        )
    low, high = bounds
    if not low < high or np.nanmin(table, initial=high) < low or np.nanmax(table, initial=low) > high:
        raise StatisticsError(f"scores need to lie within {low} … {high}; found others")
    first, second = np.triu_indices(table.shape[1], k=1)
    running = np.zeros((len(table), len(first)))  # log of the greatest capital so far
    difference, raters = np.full(len(first), np.nan), np.zeros(len(first), np.int64)
    for pair, (a, b) in enumerate(zip(first, second, strict=True)):
        gaps = paired_differences(table[:, a], table[:, b], within=within)
        if len(gaps) == 0:
            continue
        difference[pair], raters[pair] = gaps.mean(), len(gaps)
        capital = log_capital(0.5 + gaps / (2 * (high - low)), np.array([0.5]), level=level)[:, 0]
        rows = _arrivals(table[:, a], table[:, b], within=within)  # (gaps,) row with which each gap was complete
        running[rows, pair] = np.maximum(capital, 0.0)
    running = np.maximum.accumulate(running, axis=0)
    p = np.exp(-running)  # (raters, pairs)
    after = _first_separated(p, 1 - level)
    p_holm = holm(p[-1])
    return SequentialSeparation(
        first=first.astype(np.int64),
        second=second.astype(np.int64),
        difference=difference,
        raters=raters,
        p_value=p[-1],
        p_holm=p_holm,
        separated=p_holm <= 1 - level,
        after=after,
        level=level,
        within=within,
    )


def _arrivals(left: NDArray[np.float64], right: NDArray[np.float64], *, within: bool) -> NDArray[np.intp]:
    """Return the row at which each difference of :func:`paired_differences` became known."""
    if within:
        return np.flatnonzero(~np.isnan(left) & ~np.isnan(right))
    rows_one, rows_two = np.flatnonzero(~np.isnan(left)), np.flatnonzero(~np.isnan(right))
    pairs = min(len(rows_one), len(rows_two))
    return np.maximum(rows_one[:pairs], rows_two[:pairs])


def _first_separated(p_values: NDArray[np.float64], alpha: float) -> NDArray[np.int64]:
    """Return after how many rows Holm first rejects each pair (pairs,); −1 where it never does.

    p-values only fall, so what is rejected once stays rejected, and rows without any change need no new look.
    """
    after = np.full(p_values.shape[1], -1, np.int64)
    looks = np.flatnonzero(np.any(np.diff(p_values, axis=0, prepend=2.0) != 0, axis=1))
    for row in looks:
        now = holm(p_values[row]) <= alpha
        after[now & (after < 0)] = row + 1
    return after
