"""Which items can be reached from which: along comparisons, and along "beat or tied with"."""

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph

from beholder.errors import StatisticsError


def comparison_components(pairs: NDArray[np.int64], items: int) -> list[list[int]]:
    """Return the groups of items joined by comparisons (pairs, 2), each sorted; one group when connected."""
    graph = sparse.coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(items, items))
    _, label = csgraph.connected_components(graph, directed=False)
    return [np.flatnonzero(label == group).tolist() for group in np.unique(label)]


def require_connected(pairs: NDArray[np.int64], items: int) -> None:
    """Refuse items that no chain of comparisons (pairs, 2) joins."""
    components = comparison_components(pairs, items)
    if len(components) > 1:
        groups = "; ".join("{" + ", ".join(str(i) for i in group) + "}" for group in components)
        raise StatisticsError(
            f"items that were never compared, even through others, cannot be rated together: found "
            f"{len(components)} separate groups of item indices {groups}; collect votes between them, or rate "
            "each group alone"
        )


def strongly_connected(
    pairs: NDArray[np.int64], upward: NDArray[np.bool_], downward: NDArray[np.bool_], items: int
) -> NDArray[np.bool_]:
    """Return whether every item reaches every other along "beat or tied with", for each replicate.

    ``pairs`` (pairs, 2) are sorted and each there once. ``upward`` (replicates, pairs) says whether the first of a
    pair ever beat or tied with the second, ``downward`` whether the second did. A replicate in which all pairs of
    one spanning tree went both ways is connected; the tree is made of the pairs that did so in most replicates,
    and only the replicates that break it are searched in full.
    """
    both = upward & downward
    both_rate = both.mean(axis=0)
    cost = sparse.coo_array((2 - both_rate, (pairs[:, 0], pairs[:, 1])), shape=(items, items)).tocsr()
    tree = csgraph.minimum_spanning_tree(cost).tocoo()
    if tree.nnz < items - 1:
        return np.zeros(len(upward), np.bool_)
    chosen = np.searchsorted(pairs[:, 0] * items + pairs[:, 1], tree.row.astype(np.int64) * items + tree.col)
    connected = np.asarray(both[:, chosen].all(axis=1), np.bool_)
    broken = np.flatnonzero(~connected)
    connected[broken] = _searched(pairs, upward[broken], downward[broken], items)
    return connected


def _searched(
    pairs: NDArray[np.int64], upward: NDArray[np.bool_], downward: NDArray[np.bool_], items: int
) -> NDArray[np.bool_]:
    """Find the components of all replicates in one graph of replicates × items; edges go from loser to winner."""
    replicates = len(upward)
    offset = items * np.arange(replicates)[:, None]  # (replicates, 1)
    first, second = offset + pairs[:, 0], offset + pairs[:, 1]  # (replicates, pairs)
    tail = np.concatenate([second[upward], first[downward]])
    head = np.concatenate([first[upward], second[downward]])
    nodes = replicates * items
    graph = sparse.coo_array((np.ones(len(tail), np.int8), (tail, head)), shape=(nodes, nodes))
    _, label = csgraph.connected_components(graph, directed=True, connection="strong")
    by_replicate = label.reshape(replicates, items)
    return np.asarray(np.all(by_replicate == by_replicate[:, :1], axis=1))
