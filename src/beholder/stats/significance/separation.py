"""Which pairs of cells (such as generators) differ significantly, and the rank range that leaves for each cell."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from beholder.errors import StatisticsError
from beholder.stats.intervals.bootstrap_intervals import UNDEFINED_LIMIT, expanded_tail, quantiles
from beholder.stats.significance.holm import holm
from beholder.stats.significance.rank_ranges import rank_ranges


@dataclass(frozen=True, eq=False)
class Separation:
    """Every pair of cells compared, and a rank range for each cell."""

    first: NDArray[np.int64]  # (pairs,) cell index
    second: NDArray[np.int64]  # (pairs,) cell index, above ``first``
    difference: NDArray[np.float64]  # (pairs,) first − second
    low: NDArray[np.float64]  # (pairs,) confidence interval of this one difference, not adjusted for the others
    high: NDArray[np.float64]  # (pairs,)
    p_value: NDArray[np.float64]  # (pairs,) two-sided
    p_holm: NDArray[np.float64]  # (pairs,) adjusted for all pairs
    separated: NDArray[np.bool_]  # (pairs,) p_holm ≤ 1 − level
    rank_low: NDArray[np.int64]  # (cells,) best rank the data allow; 1 is best
    rank_high: NDArray[np.int64]  # (cells,) worst rank the data allow
    level: float
    within: bool
    higher_is_better: bool


def separate(
    values: ArrayLike,
    replicates: ArrayLike,
    raters: ArrayLike,
    *,
    within: bool,
    level: float = 0.95,
    higher_is_better: bool = True,
) -> Separation:
    """Compare every pair of cells, from point estimates and joint bootstrap replicates.

    ``values`` (cells,) are the estimates, ``replicates`` (replicates, cells) their joint replicates.

    ``raters`` is the number of raters behind each cell (cells,), or one number for all. ``within`` says that the
    same raters judged all cells; the replicates must then come from the same weights, so that differences keep the
    raters' habits out. Otherwise raters are independent between cells (strata of the bootstrap).

    t = difference / SE, where SE is the standard deviation of the replicated differences, each cell's standard
    deviation widened by √(n/(n−1)), as the bootstrap's variance is (n−1)/n of the unbiased one. Degrees of freedom
    are nₐ + n_b − 2 between raters and min(nₐ, n_b) − 1 within. The confidence interval is the expanded percentile
    one (:func:`beholder.stats.intervals.bootstrap_intervals.percentile_interval`) with the same SE and degrees of
    freedom.

    Ranks are those of :func:`beholder.stats.significance.rank_ranges.rank_ranges`; all of them hold together at
    ``level``. A pair with more than 5 % undefined replicates, or a cell of fewer than two raters, has nan and is
    not separated.
    """
    point, samples, n = _checked(values, replicates, raters)
    first, second = np.triu_indices(len(point), k=1)  # (pairs,)
    difference = point[first] - point[second]
    degrees = np.minimum(n[first], n[second]) - 1 if within else n[first] + n[second] - 2
    alone = (n[first] < 2) | (n[second] < 2)
    degrees = np.maximum(degrees, 1)

    low, high, error = _intervals(samples, n, first, second, degrees, level)
    unknown = alone | np.isnan(low) | np.isnan(difference)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where((error == 0) & (difference == 0), 0.0, np.abs(difference) / error)
    p_value = np.where(unknown, np.nan, 2 * special.stdtr(degrees, -t))
    p_holm = holm(p_value)
    separated = p_holm <= 1 - level  # nan compares as False
    advantage = difference if higher_is_better else -difference
    rank_low, rank_high = rank_ranges(first, second, advantage, separated, len(point))
    return Separation(
        first=first.astype(np.int64),
        second=second.astype(np.int64),
        difference=difference,
        low=np.where(unknown, np.nan, low),
        high=np.where(unknown, np.nan, high),
        p_value=p_value,
        p_holm=p_holm,
        separated=separated,
        rank_low=rank_low,
        rank_high=rank_high,
        level=level,
        within=within,
        higher_is_better=higher_is_better,
    )


def _checked(
    values: ArrayLike, replicates: ArrayLike, raters: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    point, samples = np.asarray(values, np.float64), np.asarray(replicates, np.float64)
    if point.ndim != 1 or samples.ndim != 2 or samples.shape[1:] != point.shape or len(samples) < 2:
        raise StatisticsError(
            "separation needs values (cells,) and at least two replicates (replicates, cells); found "
            f"{point.shape} and {samples.shape}"
        )
    count = np.asarray(raters, np.float64)
    if count.shape not in ((), point.shape):
        raise StatisticsError(f"raters must be one number or {point.shape}; found shape {count.shape}")
    return point, samples, np.broadcast_to(count, point.shape)


def _intervals(
    samples: NDArray[np.float64],
    n: NDArray[np.float64],
    first: NDArray[np.intp],
    second: NDArray[np.intp],
    degrees: NDArray[np.float64],
    level: float,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return low, high and the widened standard error of each difference (pairs,), in blocks of pairs."""
    usable = np.where(np.isfinite(samples), samples, np.nan)
    mean = _column_means(usable)
    widened = (usable - mean) * np.sqrt(np.maximum(n, 2) / np.maximum(n - 1, 1))  # (replicates, cells)
    low, high, error = (np.empty(len(first)) for _ in range(3))
    step = max(1, 4_000_000 // len(samples))
    for begin in range(0, len(first), step):
        part = slice(begin, begin + step)
        a, b = first[part], second[part]
        drawn = usable[:, a] - usable[:, b]  # (replicates, block)
        error[part] = _column_sd(widened[:, a] - widened[:, b])
        plain = _column_sd(drawn)
        inflation = np.where(plain > 0, error[part] / np.where(plain > 0, plain, 1.0), 1.0)
        tail = expanded_tail(level, degrees[part], inflation)
        low[part], high[part] = quantiles(drawn, tail), quantiles(drawn, 1 - tail)
    return low, high, error


def _column_means(samples: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean of the defined replicates of each column; nan where too many are undefined."""
    defined = ~np.isnan(samples)
    count = defined.sum(axis=0)
    enough = (count >= (1 - UNDEFINED_LIMIT) * len(samples)) & (count > 1)
    total = np.where(defined, samples, 0.0).sum(axis=0)
    return np.where(enough, total / np.maximum(count, 1), np.nan)


def _column_sd(samples: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the standard deviation of the defined replicates of each column, by the unbiased variance."""
    squares = (samples - _column_means(samples)) ** 2
    count = np.maximum((~np.isnan(samples)).sum(axis=0), 2)
    return np.asarray(np.sqrt(_column_means(squares) * count / (count - 1)), np.float64)
