"""Correlations of resampled points: one coefficient per bootstrap replicate, and confidence intervals.

A replicate is a vector of weights: how often each point was drawn
(:func:`beholder.stats.intervals.bootstrap.rater_weights`). Points that belong together, such as images of one
prompt, are drawn together.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse, stats

from beholder.errors import StatisticsError
from beholder.stats.correlation.coefficients import Correlation, Kind, check_kind, columns
from beholder.stats.intervals.bootstrap import effective_raters
from beholder.stats.intervals.bootstrap_intervals import Rule, bca_interval, percentile_interval

Statistic = Callable[[NDArray[np.integer]], NDArray[np.float64]]
"""From weights (replicates, clusters) to one number per replicate (replicates,)."""

_BLOCK = 1 << 18  # elements made at a time: a few arrays of them fit in a core's cache
_LEFT_OUT = 4_000_000  # weights made at a time where each cluster is left out in turn
_CANCELLED = 1e-6  # Pearson: variance over mean square below which sums over clusters are not exact enough
_DENSE = 1500  # Kendall: clusters up to which sums over all pairs are held at once
_FEW = 8  # Kendall: replicates up to which sorting many points is faster than comparing all pairs


def bootstrap_correlation(
    x: ArrayLike,
    y: ArrayLike,
    weights: NDArray[np.integer],
    *,
    kind: Kind = "pearson",
    clusters: ArrayLike | None = None,
    level: float = 0.95,
    rule: Rule = "bca",
) -> Correlation:
    """Correlate two columns, with a confidence interval that resamples points, or ``clusters`` of points.

    ``weights`` is (replicates, points), or (replicates, clusters). The interval is the expanded BCa or percentile
    one; the influence of a point or cluster is found by leaving it out. Replicates in which a column is constant
    are left out.
    """
    xs, ys = columns(x, y)
    group = cluster_index(clusters, len(xs))
    everything = np.ones((1, weights.shape[1]), np.int32)
    value = correlation_replicates(xs, ys, everything, kind=kind, clusters=group)
    replicates = correlation_replicates(xs, ys, weights, kind=kind, clusters=group)
    low, high = resampled_interval(
        value,
        replicates,
        leave_one_out(lambda left: correlation_replicates(xs, ys, left, kind=kind, clusters=group), group),
        group,
        level=level,
        rule=rule,
    )
    unit = "points" if clusters is None else "clusters of points"
    name = f"expanded {'BCa' if rule == 'bca' else 'percentile'} bootstrap over {unit}"
    return Correlation(float(value[0]), low, high, np.nan, level, kind, name, len(xs), len(weights))


def correlation_replicates(
    x: ArrayLike,
    y: ArrayLike,
    weights: NDArray[np.integer],
    *,
    kind: Kind = "pearson",
    clusters: NDArray[np.int64] | None = None,
) -> NDArray[np.float64]:
    """Return the coefficient of each replicate (replicates,); nan where a column is constant in it."""
    xs, ys = columns(x, y)
    check_kind(kind)
    group = cluster_index(clusters, len(xs))
    if weights.ndim != 2 or weights.shape[1] != group.max() + 1:
        raise StatisticsError(f"weights must be (replicates, {int(group.max()) + 1}); found {weights.shape}")
    if kind == "kendall":
        if group.max() < _DENSE and (len(xs) <= _DENSE or len(weights) > _FEW):
            return _kendall_of_pairs(_pairs_of_clusters(xs, ys, group), weights.astype(np.float64))
        return _kendall_by_sorting(xs, ys, weights[:, group])
    if kind == "pearson":
        return _pearson_of_sums(xs, ys, weights, group)
    coefficients = np.empty(len(weights))
    step = max(1, _BLOCK // len(xs))
    for begin in range(0, len(weights), step):
        drawn = weights[begin : begin + step][:, group].astype(np.float64)  # (block, points)
        coefficients[begin : begin + step] = _weighted_pearson(_midranks(xs, drawn), _midranks(ys, drawn), drawn)
    return coefficients


def resampled_interval(
    value: NDArray[np.float64],
    replicates: NDArray[np.float64],
    left_out: NDArray[np.float64],
    clusters: NDArray[np.int64],
    *,
    level: float,
    rule: Rule,
) -> tuple[float, float]:
    """Return the ends of the expanded confidence interval of a value, from replicates and leave-one-out values."""
    units = len(left_out)
    if rule == "bca":
        finite = np.isfinite(left_out)
        influence = np.where(finite, left_out[finite].mean() - left_out, 0.0) if finite.any() else np.zeros(units)
        load = np.bincount(clusters).astype(np.float64)
        effective = effective_raters(load[:, None])
        low, high = bca_interval(
            value, replicates[:, None], influence[:, None], units, effective=effective, level=level
        )
    else:
        low, high = percentile_interval(replicates[:, None], units, level=level)
    return float(low[0]), float(high[0])


def leave_one_out(statistic: Statistic, clusters: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the statistic with each point or cluster left out in turn (clusters,)."""
    units = int(clusters.max()) + 1
    statistics = np.empty(units)
    step = max(1, _LEFT_OUT // units)
    for begin in range(0, units, step):
        left = np.ones((min(step, units - begin), units), np.int32)
        left[np.arange(len(left)), np.arange(begin, begin + len(left))] = 0
        statistics[begin : begin + step] = statistic(left)
    return statistics


def cluster_index(clusters: ArrayLike | None, points: int) -> NDArray[np.int64]:
    """Return the cluster of each point (points,), every index in use; each point its own by default."""
    if clusters is None:
        return np.arange(points)
    group = np.asarray(clusters)
    if group.shape != (points,) or group.dtype.kind not in "iu" or group.min() < 0:
        raise StatisticsError(
            f"clusters need one integer index from 0 per point; found {group.dtype} {group.shape}"
        )
    if np.any(np.bincount(group) == 0):
        raise StatisticsError("clusters need indices 0 … k − 1 that are all in use; found gaps")
    return group.astype(np.int64)


def _pearson_of_sums(
    x: NDArray[np.float64], y: NDArray[np.float64], weights: NDArray[np.integer], group: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return Pearson's r of each replicate from sums over the points of each cluster, which replicates weigh.

    Where a column hardly varies, compared with its distance from the mean of all points, sums would cancel: such
    replicates are computed point by point.
    """
    centred = (np.ones(len(x)), x - x.mean(), y - y.mean())
    pairs = ((0, 0), (0, 1), (0, 2), (1, 1), (2, 2), (1, 2))
    by_cluster = np.stack([np.bincount(group, centred[i] * centred[j]) for i, j in pairs], 1)  # (clusters, 6)
    total, sum_x, sum_y, square_x, square_y, product = (weights.astype(np.float64) @ by_cluster).T
    drawn = np.where(total > 0, total, 1.0)
    spread_x, spread_y = square_x - sum_x**2 / drawn, square_y - sum_y**2 / drawn
    exact = (spread_x > _CANCELLED * square_x) & (spread_y > _CANCELLED * square_y)
    spread = np.sqrt(np.where(exact, spread_x * spread_y, 1.0))
    r = np.clip((product - sum_x * sum_y / drawn) / spread, -1, 1)
    for row in np.flatnonzero(~exact):
        drawn_row = weights[row : row + 1, group].astype(np.float64)
        r[row] = _weighted_pearson(x[None], y[None], drawn_row)[0]
    return np.asarray(r, np.float64)


def _weighted_pearson(
    x: NDArray[np.float64], y: NDArray[np.float64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return Pearson's r of each row; all arrays are (replicates, points)."""
    total = weights.sum(axis=1, keepdims=True)
    off_x = x - np.sum(weights * x, axis=1, keepdims=True) / total
    off_y = y - np.sum(weights * y, axis=1, keepdims=True) / total
    squares_x = np.einsum("dp,dp,dp->d", weights, off_x, off_x)
    squares_y = np.einsum("dp,dp,dp->d", weights, off_y, off_y)
    tiny_x = 1e-26 * np.einsum("dp,dp,dp->d", weights, x, x)  # rounding leaves a constant column just above zero
    tiny_y = 1e-26 * np.einsum("dp,dp,dp->d", weights, y, y)
    varies = (squares_x > tiny_x) & (squares_y > tiny_y)
    spread = np.sqrt(np.where(varies, squares_x * squares_y, 1.0))
    r = np.einsum("dp,dp,dp->d", weights, off_x, off_y) / spread
    return np.where(varies, np.clip(r, -1, 1), np.nan)


def _midranks(values: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mid-rank of every point within each replicate (replicates, points), where a point counts w
    times."""
    _, place = np.unique(values, return_inverse=True)
    order = np.argsort(place, kind="stable")
    starts = np.flatnonzero(np.diff(place[order], prepend=-1))
    tied = weights[:, order]
    if len(starts) < len(values):
        tied = np.add.reduceat(tied, starts, axis=1)  # (replicates, distinct values)
    middle = np.cumsum(tied, axis=1) - tied + (tied + 1) / 2
    return np.asarray(middle[:, place], np.float64)


def _pairs_of_clusters(
    x: NDArray[np.float64], y: NDArray[np.float64], group: NDArray[np.int64]
) -> tuple[NDArray[np.float64], ...]:
    """Return sums over the pairs of points of every two clusters, each (clusters, clusters).

    These are Σ sᵢⱼ, where sᵢⱼ is the sign of (xᵢ − xⱼ)(yᵢ − yⱼ), and the numbers of pairs not tied in x, and in y.
    """
    order = np.argsort(group, kind="stable")
    x, y, group = x[order], y[order], group[order]
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    size = np.diff(np.append(starts, len(x))).astype(np.float64)
    rows = np.empty((len(x), len(starts)))
    step = max(1, _BLOCK // len(x))
    for begin in range(0, len(x), step):
        block = slice(begin, begin + step)
        signs = np.sign(x[block, None] - x)
        signs *= np.sign(y[block, None] - y)
        rows[block] = np.add.reduceat(signs, starts, axis=1)
    untied = []
    for values in (x, y):
        distinct, place = np.unique(values, return_inverse=True)
        count = sparse.csr_array((np.ones(len(x)), (group, place)), shape=(len(starts), len(distinct)))
        untied.append(np.outer(size, size) - (count @ count.T).toarray())
    return np.add.reduceat(rows, starts, axis=0), untied[0], untied[1]


def _kendall_of_pairs(pairs: tuple[NDArray[np.float64], ...], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return τ-b of each replicate: Σ wᵢwⱼ sᵢⱼ over the root of the pairs not tied in either column.

    ``pairs`` are the sums of every two clusters, and ``weights`` (replicates, clusters).
    """
    above, untied_x, untied_y = (np.einsum("dp,dp->d", weights @ part, weights) for part in pairs)
    below = untied_x * untied_y
    return np.where(below > 0, above / np.sqrt(np.where(below > 0, below, 1.0)), np.nan)


def _kendall_by_sorting(
    x: NDArray[np.float64], y: NDArray[np.float64], weights: NDArray[np.integer]
) -> NDArray[np.float64]:
    """Return τ-b of each replicate, written out point by point: for many clusters or few replicates."""
    coefficients = []
    for row in weights.astype(np.int64):
        drawn_x, drawn_y = np.repeat(x, row), np.repeat(y, row)
        same = np.ptp(drawn_x) == 0 or np.ptp(drawn_y) == 0
        coefficients.append(
            np.nan if same else float(stats.kendalltau(drawn_x, drawn_y, method="asymptotic").statistic)
        )
    return np.array(coefficients)
