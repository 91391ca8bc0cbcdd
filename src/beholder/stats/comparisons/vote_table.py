"""Votes on pairs as a sparse table of raters by (pair, outcome), and its sums over resampled raters."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from beholder.errors import StatisticsError
from beholder.stats.comparisons.win_graph import require_connected

FIRST, SECOND, TIE = 0, 1, 2  # the outcomes of a vote
OUTCOMES = 3

_DENSE = 4_000_000  # elements up to which a table that is not very sparse is multiplied as a dense one


def tally_votes(
    raters: ArrayLike, first: ArrayLike, second: ArrayLike, outcomes: ArrayLike
) -> tuple[NDArray[np.int64], sparse.csr_array]:
    """Turn a long list of votes into ``pairs`` (pairs, 2) and sparse ``counts`` (raters, 3 · pairs).

    ``raters`` are indices 0…raters−1, ``first`` and ``second`` item indices, ``outcomes`` 0 (first wins),
    1 (second wins) or 2 (tie). Column 3 · pair + outcome holds each rater's votes.
    """
    columns = [np.asarray(column) for column in (raters, first, second, outcomes)]
    if any(c.ndim != 1 or c.shape != columns[0].shape or c.dtype.kind not in "iu" for c in columns):
        shapes = ", ".join(f"{c.dtype} {c.shape}" for c in columns)
        raise StatisticsError(f"votes need four integer columns of one length; found {shapes}")
    who, left, right, outcome = columns
    if len(who) == 0 or min(c.min() for c in columns) < 0 or outcome.max() > TIE:
        raise StatisticsError("votes need at least one row, indices of at least 0 and outcomes 0, 1 or 2")
    wide = int(max(left.max(), right.max())) + 1
    keys, pair = np.unique(left.astype(np.int64) * wide + right, return_inverse=True)
    pairs = np.stack(np.divmod(keys, wide), axis=1)  # (pairs, 2), sorted
    cells = OUTCOMES * len(pairs)
    cell, times = np.unique(who.astype(np.int64) * cells + OUTCOMES * pair + outcome, return_counts=True)
    counts = sparse.csr_array(
        (times.astype(np.float64), np.divmod(cell, cells)), shape=(int(who.max()) + 1, cells)
    )
    return pairs.astype(np.int64), counts


def checked_votes(
    pairs: ArrayLike, counts: ArrayLike | sparse.csr_array, items: int
) -> tuple[NDArray[np.int64], sparse.csr_array, bool]:
    """Return pairs (pairs, 2), votes as a sparse table (raters, 3 · pairs), and whether raters are distinguished.

    ``counts`` are a dense (raters, pairs, 3), a sparse (raters, 3 · pairs), or the totals (pairs, 3), which become
    one row. Items that no chain of comparisons joins are refused.
    """
    order = np.asarray(pairs)
    if order.ndim != 2 or order.shape[1] != 2 or order.dtype.kind not in "iu" or len(order) == 0:
        raise StatisticsError(f"pairs must be integers (pairs, 2); found {order.dtype} of shape {order.shape}")
    if items < 2 or order.min() < 0 or order.max() >= items or np.any(order[:, 0] == order[:, 1]):
        raise StatisticsError(f"pairs must join two different items of 0…{items - 1}, at least two items in all")
    table, by_rater = _as_table(counts, len(order))
    if not np.all(np.isfinite(table.data)) or np.any(table.data < 0) or table.sum() == 0:
        raise StatisticsError("counts must be finite, at least 0, and hold at least one vote")
    order = order.astype(np.int64)
    compared = np.asarray(table.sum(axis=0)).reshape(-1, OUTCOMES).sum(axis=1) > 0
    require_connected(order[compared], items)
    return order, table, by_rater


def merge_pairs(
    order: NDArray[np.int64], table: sparse.csr_array, *, keep_order: bool
) -> tuple[NDArray[np.int64], sparse.csr_array]:
    """Return the compared pairs, sorted and each once, and the votes on them as (raters, 3 · pairs).

    Both orders of a pair become one, smaller index first, unless ``keep_order``. Columns are now outcome by
    outcome: outcome · pairs + pair.
    """
    compared = np.asarray(table.sum(axis=0)).reshape(-1, OUTCOMES).sum(axis=1) > 0
    turned = (order[:, 0] > order[:, 1]) & (not keep_order)
    facing = np.where(turned[:, None], order[:, ::-1], order)
    unique_pairs, place = np.unique(facing[compared], axis=0, return_inverse=True)
    target = np.zeros(len(order), np.int64)
    target[compared] = place.reshape(-1)
    outcome = np.where(turned[:, None], [SECOND, FIRST, TIE], [FIRST, SECOND, TIE])  # (given pairs, 3)
    column = (outcome * len(unique_pairs) + target[:, None]).reshape(-1)
    stored = table.data != 0  # explicit zeros would put votes where there are none
    source = sparse.csr_array(table) if stored.all() else _without_zeros(table)
    shape = (source.shape[0], OUTCOMES * len(unique_pairs))
    rows = np.repeat(np.arange(shape[0]), np.diff(source.indptr))
    merged = sparse.coo_array((source.data, (rows, column[source.indices])), shape=shape).tocsr()
    return unique_pairs.astype(np.int64), merged


def weighted_totals(
    table: sparse.csr_array, weights: NDArray[np.integer], block: int
) -> Iterator[NDArray[np.float64]]:
    """Yield Σ over raters of weight × votes, (replicates, columns), in blocks of at most ``block`` replicates."""
    rater_count, columns = table.shape
    if weights.ndim != 2 or weights.shape[1] != rater_count or len(weights) == 0:
        raise StatisticsError(f"weights must be (replicates, {rater_count} raters); found {weights.shape}")
    dense = rater_count * columns <= max(_DENSE, 8 * table.nnz)
    across = table.toarray() if dense else table.T.tocsr()
    for begin in range(0, len(weights), block):
        part = weights[begin : begin + block].astype(np.float64)
        totals = part @ across if dense else np.ascontiguousarray((across @ np.ascontiguousarray(part.T)).T)
        yield np.asarray(totals, np.float64)


def votes_by_item(order: NDArray[np.int64], table: sparse.csr_array, items: int) -> NDArray[np.float64]:
    """Return how many votes of each rater each item took part in (raters, items), columns as given."""
    member = np.zeros((len(order), items))
    member[np.arange(len(order)), order[:, 0]] = 1
    member[np.arange(len(order)), order[:, 1]] = 1
    return np.asarray(table @ np.repeat(member, OUTCOMES, axis=0), np.float64)


def _as_table(counts: ArrayLike | sparse.csr_array, pairs: int) -> tuple[sparse.csr_array, bool]:
    if isinstance(counts, sparse.csr_array):
        if counts.ndim != 2 or counts.shape[1] != OUTCOMES * pairs:
            raise StatisticsError(f"sparse counts must be (raters, 3 · {pairs} pairs); found {counts.shape}")
        return counts.astype(np.float64), True
    votes = np.asarray(counts, np.float64)
    if votes.ndim not in (2, 3) or votes.shape[-2:] != (pairs, OUTCOMES):
        raise StatisticsError(
            f"counts must be (raters, {pairs} pairs, 3), ({pairs} pairs, 3) or sparse (raters, 3 · {pairs}); "
            f"found {votes.shape}"
        )
    return sparse.csr_array(votes.reshape(-1, OUTCOMES * pairs)), votes.ndim == 3


def _without_zeros(table: sparse.csr_array) -> sparse.csr_array:
    copy = sparse.csr_array(table, copy=True)
    copy.eliminate_zeros()
    return copy
