"""Which items can be reached from which: along comparisons, and along "beat or tied with"."""

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph


def comparison_components(pairs: NDArray[np.int64], items: int) -> list[list[int]]:
    """Return the groups of items joined by comparisons (pairs, 2), each sorted; one group when connected."""
    graph = sparse.coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(items, items))
    _, label = csgraph.connected_components(graph, directed=False)
    return [np.flatnonzero(label == group).tolist() for group in np.unique(label)]


def strongly_connected(pairs: NDArray[np.int64], totals: NDArray[np.float64], items: int) -> NDArray[np.bool_]:
    """Return for each draw of ``totals`` (draws, pairs, 3) whether every item reaches every other, as (draws,).

    An edge goes from the loser to the winner; a tie goes both ways. All draws form one graph of
    draws × items nodes, so one call finds the components of all of them.
    """
    draws = len(totals)
    forward = (totals[:, :, 0] + totals[:, :, 2]) > 0  # (draws, pairs): second → first
    backward = (totals[:, :, 1] + totals[:, :, 2]) > 0
    offset = items * np.arange(draws)[:, None]  # (draws, 1)
    first, second = offset + pairs[:, 0], offset + pairs[:, 1]  # (draws, pairs)
    tail = np.concatenate([second[forward], first[backward]])
    head = np.concatenate([first[forward], second[backward]])
    nodes = draws * items
    graph = sparse.coo_array((np.ones(len(tail), np.int8), (tail, head)), shape=(nodes, nodes))
    _, label = csgraph.connected_components(graph, directed=True, connection="strong")
    by_draw = label.reshape(draws, items)
    return np.asarray(np.all(by_draw == by_draw[:, :1], axis=1))
