"""Correlations and pair accuracies of many pairs of columns at once, without confidence intervals."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from beholder.errors import StatisticsError
from beholder.stats.correlation.coefficients import Kind, check_kind

Statistic = Kind | str
"""A kind of correlation, or ``PAIR_ACCURACY``."""

PAIR_ACCURACY = "pair-accuracy"
"""The proportion of pairs of items that both columns order alike: ½ is chance."""

_SIGNS = 4_000_000  # signs of differences made at a time
_SORTED = 50  # Kendall: items from which sorting is faster than all signs


def paired_values(x: ArrayLike, y: ArrayLike, statistic: Statistic) -> NDArray[np.float64]:
    """Return the statistic of each row of ``x`` with the same row of ``y``; nan where a row is constant.

    Both are (pairs, items), or (items,) for a column that goes with every other. Kendall's is τ-b. For pair
    accuracy, pairs of items that are tied in ``y`` are left out; those tied in ``x`` alone are half right.
    """
    xs, ys = np.broadcast_arrays(np.atleast_2d(np.asarray(x, np.float64)), np.asarray(y, np.float64))
    if xs.ndim != 2 or xs.shape[1] < 2:
        raise StatisticsError(f"columns of at least two items are needed; found {np.shape(x)}, {np.shape(y)}")
    if statistic == PAIR_ACCURACY:
        return _in_parts(xs, ys, statistic)
    check_kind(statistic)
    if statistic == "pearson":
        return _pearson(xs, ys)
    if statistic == "spearman":
        return _pearson(_ranks(xs), _ranks(ys))
    return _in_parts(xs, ys, statistic) if xs.shape[1] < _SORTED else _sorted_kendall(xs, ys)


def _pearson(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
    off_x, off_y = x - x.mean(axis=1, keepdims=True), y - y.mean(axis=1, keepdims=True)
    squares_x, squares_y = (np.einsum("pi,pi->p", off, off) for off in (off_x, off_y))
    # Rounding leaves a constant column just above zero.
    least_x, least_y = (1e-26 * np.einsum("pi,pi->p", column, column) for column in (x, y))
    varies = (squares_x > least_x) & (squares_y > least_y)
    spread = np.sqrt(np.where(varies, squares_x * squares_y, 1.0))
    return np.where(varies, np.clip(np.einsum("pi,pi->p", off_x, off_y) / spread, -1, 1), np.nan)


def _ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    if len(values) and values.strides[0] == 0:  # one column for all
        return np.broadcast_to(stats.rankdata(values[0]), values.shape)
    return np.asarray(stats.rankdata(values, axis=1), np.float64)


def _in_parts(x: NDArray[np.float64], y: NDArray[np.float64], statistic: Statistic) -> NDArray[np.float64]:
    """From the signs of all differences, as many pairs of columns at a time as fit."""
    step = max(1, _SIGNS // x.shape[1] ** 2)
    parts = [_by_signs(x[at : at + step], y[at : at + step], statistic) for at in range(0, len(x), step)]
    return np.concatenate([np.empty(0), *parts])


def _by_signs(x: NDArray[np.float64], y: NDArray[np.float64], statistic: Statistic) -> NDArray[np.float64]:
    sign_x, sign_y = (np.sign(column[:, :, None] - column[:, None, :]) for column in (x, y))
    agreeing = np.einsum("pij,pij->p", sign_x, sign_y)
    untied_y = np.einsum("pij,pij->p", sign_y, sign_y)
    if statistic == PAIR_ACCURACY:
        return np.where(untied_y > 0, (agreeing / np.maximum(untied_y, 1) + 1) / 2, np.nan)
    pairs = np.einsum("pij,pij->p", sign_x, sign_x) * untied_y
    return np.where(pairs > 0, agreeing / np.sqrt(np.maximum(pairs, 1)), np.nan)


def _sorted_kendall(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
    """τ-b by counting, of the items in the order of x, the pairs that y puts the other way round.

    Items tied in x stand in the order of y, so that they make no such pair.
    """
    items = x.shape[1]
    order = np.lexsort((y, x))  # (pairs, items)
    inverted = _inversions(np.take_along_axis(y, order, axis=1))
    tied_x, tied_y, tied_both = _tied(x), _tied(y), _tied_in_both(x, y, order)
    every = items * (items - 1) / 2
    agreeing = every - tied_x - tied_y + tied_both - 2 * inverted
    pairs = (every - tied_x) * (every - tied_y)
    return np.where(pairs > 0, agreeing / np.sqrt(np.maximum(pairs, 1)), np.nan)


def _inversions(y: NDArray[np.float64]) -> NDArray[np.float64]:
    """How many pairs of each row stand in the wrong order; equal values do not.

    Places in the sorted row are split by their highest bit, then each half by the next: every earlier 1 before a
    later 0 is a pair in the wrong order.
    """
    pairs, items = y.shape
    bits = int(items - 1).bit_length()
    places = np.empty((pairs, 1 << bits), np.int64)
    sorted_at = np.argsort(y, axis=1, kind="stable")
    np.put_along_axis(places[:, :items], sorted_at, np.arange(items)[None], axis=1)
    places[:, items:] = np.arange(items, 1 << bits)  # filled up at the end, where nothing is inverted
    concordant = np.zeros(pairs)
    for bit in reversed(range(bits)):
        groups = places.reshape(pairs, -1, 2 << bit)
        ones = groups >> bit & 1
        before = np.cumsum(ones, axis=2)
        concordant += np.einsum("pgi,pgi->p", before, 1 - ones)
        target = np.where(ones == 1, (1 << bit) + before - 1, np.arange(2 << bit) - before)
        split = np.empty_like(groups)
        np.put_along_axis(split, target, groups, axis=2)
        places = split.reshape(pairs, -1)
    return concordant


def _tied(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """How many pairs of each row are equal."""
    ordered = np.sort(values, axis=1)
    return _runs(ordered[:, 1:] == ordered[:, :-1])


def _tied_in_both(x: NDArray[np.float64], y: NDArray[np.float64], order: NDArray[np.int64]) -> NDArray[np.float64]:
    same = np.ones((len(x), x.shape[1] - 1), np.bool_)
    for values in (x, y):
        ordered = np.take_along_axis(values, order, axis=1)
        same &= ordered[:, 1:] == ordered[:, :-1]
    return _runs(same)


def _runs(same: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Pairs within runs of equal neighbours: a run of so many marks has 1 + 2 + … of them."""
    counted = np.cumsum(same, axis=1)
    before = np.maximum.accumulate(np.where(same, 0, counted), axis=1)
    return np.asarray(((counted - before) * same).sum(axis=1), np.float64)
