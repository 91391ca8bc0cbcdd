"""Correlations of resampled points: weights in, one coefficient a draw out, and intervals from them.

A draw is a vector of weights: how often each point was drawn
(:func:`beholder.stats.intervals.bootstrap.person_weights`). Points that belong together, such as images of one
prompt, are drawn together.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from beholder.errors import StatisticsError
from beholder.stats.correlation.coefficients import Correlation, Kind, check_kind, columns
from beholder.stats.intervals.bootstrap import effective_people
from beholder.stats.intervals.bootstrap_intervals import Rule, bca_interval, percentile_interval

Statistic = Callable[[NDArray[np.integer]], NDArray[np.float64]]
"""From weights (draws, clusters) to one number a draw (draws,)."""

_BLOCK = 4_000_000  # elements made at a time
_DENSE = 1500  # Kendall: points up to which all pairs are held at once


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
    """Correlate two columns, with an interval that resamples points, or ``clusters`` of points (points,).

    ``weights`` is (draws, points), or (draws, clusters). The interval is the expanded BCa or percentile one; the
    influence of a point or cluster is found by leaving it out. Draws in which a column is constant are left out.
    """
    one, two = columns(x, y)
    group = cluster_index(clusters, len(one))
    everything = np.ones((1, weights.shape[1]), np.int32)
    value = correlation_draws(one, two, everything, kind=kind, clusters=group)
    draws = correlation_draws(one, two, weights, kind=kind, clusters=group)
    low, high = resampled_interval(
        value,
        draws,
        leave_one_out(lambda left: correlation_draws(one, two, left, kind=kind, clusters=group), group),
        group,
        level=level,
        rule=rule,
    )
    unit = "points" if clusters is None else "clusters of points"
    name = f"expanded {'BCa' if rule == 'bca' else 'percentile'} bootstrap over {unit}"
    return Correlation(float(value[0]), low, high, np.nan, level, kind, name, len(one), len(weights))


def correlation_draws(
    x: ArrayLike,
    y: ArrayLike,
    weights: NDArray[np.integer],
    *,
    kind: Kind = "pearson",
    clusters: NDArray[np.int64] | None = None,
) -> NDArray[np.float64]:
    """Return the coefficient of each draw (draws,); nan where a column is constant in it."""
    one, two = columns(x, y)
    check_kind(kind)
    group = cluster_index(clusters, len(one))
    if weights.ndim != 2 or weights.shape[1] != group.max() + 1:
        raise StatisticsError(f"weights must be (draws, {int(group.max()) + 1}); found {weights.shape}")
    if kind == "kendall" and len(one) <= _DENSE:
        signs = np.sign(one[:, None] - one), np.sign(two[:, None] - two)
        pairs = signs[0] * signs[1], np.abs(signs[0]), np.abs(signs[1])  # each (points, points)
    found = np.empty(len(weights))
    step = max(1, _BLOCK // len(one))
    for begin in range(0, len(weights), step):
        drawn = weights[begin : begin + step][:, group].astype(np.float64)  # (block, points)
        if kind == "pearson":
            part = _weighted_pearson(np.broadcast_to(one, drawn.shape), np.broadcast_to(two, drawn.shape), drawn)
        elif kind == "spearman":
            part = _weighted_pearson(_midranks(one, drawn), _midranks(two, drawn), drawn)
        elif len(one) <= _DENSE:
            part = _kendall_of_pairs(pairs, drawn)
        else:
            part = _kendall_by_sorting(one, two, drawn)
        found[begin : begin + step] = part
    return found


def resampled_interval(
    value: NDArray[np.float64],
    draws: NDArray[np.float64],
    left_out: NDArray[np.float64],
    clusters: NDArray[np.int64],
    *,
    level: float,
    rule: Rule,
) -> tuple[float, float]:
    """Return the ends of the expanded interval from a value (1,), its draws (draws,) and leave-one-out values."""
    units = len(left_out)
    if rule == "bca":
        known = np.isfinite(left_out)
        influence = np.where(known, left_out[known].mean() - left_out, 0.0) if known.any() else np.zeros(units)
        load = np.bincount(clusters).astype(np.float64)
        effective = effective_people(load[:, None])
        low, high = bca_interval(
            value, draws[:, None], influence[:, None], units, effective=effective, level=level
        )
    else:
        low, high = percentile_interval(draws[:, None], units, level=level)
    return float(low[0]), float(high[0])


def leave_one_out(statistic: Statistic, clusters: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the statistic with each point or cluster left out in turn (clusters,)."""
    units = int(clusters.max()) + 1
    found = np.empty(units)
    step = max(1, _BLOCK // units)
    for begin in range(0, units, step):
        left = np.ones((min(step, units - begin), units), np.int32)
        left[np.arange(len(left)), np.arange(begin, begin + len(left))] = 0
        found[begin : begin + step] = statistic(left)
    return found


def cluster_index(clusters: ArrayLike | None, points: int) -> NDArray[np.int64]:
    """Return the cluster of each point (points,), every index in use; each point its own by default."""
    if clusters is None:
        return np.arange(points)
    group = np.asarray(clusters)
    if group.shape != (points,) or group.dtype.kind not in "iu" or group.min() < 0:
        raise StatisticsError(f"clusters need one integer index from 0 a point; found {group.dtype} {group.shape}")
    if np.any(np.bincount(group) == 0):
        raise StatisticsError("clusters need indices 0 … k − 1 that are all in use; found gaps")
    return group.astype(np.int64)


def _weighted_pearson(
    x: NDArray[np.float64], y: NDArray[np.float64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return Pearson's r of each row; all arrays are (draws, points)."""
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
    """Return the mid-rank of every point within each draw (draws, points); drawn w times, it is w points."""
    _, place = np.unique(values, return_inverse=True)
    order = np.argsort(place, kind="stable")
    starts = np.flatnonzero(np.diff(place[order], prepend=-1))
    tied = np.add.reduceat(weights[:, order], starts, axis=1)  # (draws, distinct values)
    middle = np.cumsum(tied, axis=1) - tied + (tied + 1) / 2
    return np.asarray(middle[:, place], np.float64)


def _kendall_of_pairs(pairs: tuple[NDArray[np.float64], ...], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return τ-b of each draw: Σ wᵢwⱼ sᵢⱼ over the root of the pairs not tied in either column."""
    above, untied_x, untied_y = (np.einsum("dp,dp->d", weights @ part, weights) for part in pairs)
    below = untied_x * untied_y
    return np.where(below > 0, above / np.sqrt(np.where(below > 0, below, 1.0)), np.nan)


def _kendall_by_sorting(
    x: NDArray[np.float64], y: NDArray[np.float64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return τ-b of each draw, written out point by point: for many points."""
    found = []
    for row in weights.astype(np.int64):
        drawn_x, drawn_y = np.repeat(x, row), np.repeat(y, row)
        same = np.ptp(drawn_x) == 0 or np.ptp(drawn_y) == 0
        found.append(np.nan if same else float(stats.kendalltau(drawn_x, drawn_y, method="asymptotic").statistic))
    return np.array(found)
