"""Krippendorff's α for thousands of weighted replicates at once, from the coincidences of few values.

For an item with weights wᵢ, the answers i ≠ j make wᵢwⱼ pairs, and the item's pairs are scaled by f = M/(M² −
Σwᵢ²), M = Σwᵢ, so that they add up to M, its answers. Copies of one rater (the terms wᵢ²) are left out:

    o(v,v′) = Σ f (Σᵥw Σᵥ′w − [v = v′] Σᵥw²),    over items, Σᵥ over the answers v to the item.

The sums Σᵥw and Σᵥw² are one product of a sparse matrix, which says who gave which value to which item, with the
weights and their squares. Those are small whole numbers, so that two bytes hold each sum exactly, and the table of
a block of replicates fits in the processor's cache with tens of thousands of raters. Items are worked through in
blocks as well: time grows with the answers alone.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from beholder.stats.agreement.answers import LongAnswers, places_by_first_answer
from beholder.stats.agreement.krippendorff_replicates import chance_corrected, index_type
from beholder.stats.agreement.resampled_agreement import InBlocks
from beholder.stats.each import Map

_REPLICATES = 32  # done at a time
_HELD = 80_000  # sums of a block of items: few enough to stay in the cache
_WORTH = 20  # products of two values that take as long as one answer in the sums over raters

Distances = Callable[[NDArray[np.float64]], NDArray[np.float64]]
"""From n(v) (replicates, kinds) to δ² (replicates or 1, kinds, kinds), up to a factor."""


@dataclass(frozen=True, eq=False)
class Answered:
    """Who gave which value to which item, some items at a time."""

    kinds: int  # distinct values
    items: int  # of a block
    blocks: tuple[sparse.csr_array, ...]  # (kinds × items, raters) each
    most: int  # answers of one value to one item


def few_values(kinds: int, answers: int, items: int) -> bool:
    """Say whether coincidences, of which there are kinds² for each item, take less time than sums over raters."""
    return kinds**2 * items <= _WORTH * answers


def alpha_of_coincidences(
    answers: LongAnswers, kind: NDArray[np.integer], kinds: int, distances: Distances, *, each: Map = map
) -> InBlocks:
    """Return α as a function of weights (replicates, raters); ``kind`` (answers,) numbers each answer's value.

    ``each`` applies it to blocks of replicates.
    """
    return InBlocks(partial(_alphas, _answered(answers, kind, kinds), distances), _REPLICATES, each)


def _answered(answers: LongAnswers, kind: NDArray[np.integer], kinds: int) -> Answered:
    present = int(np.count_nonzero(np.bincount(answers.items)))
    size = min(max(1, _HELD // (2 * _REPLICATES * kinds)), present)  # items of a block
    count = -(-present // size)
    cells = index_type(count * kinds * size)
    block, place = np.divmod(places_by_first_answer(answers).astype(cells)[answers.items], size)
    row = (block * kinds + kind.astype(cells)) * size + place  # by block, by value, by item
    del block, place
    once = np.ones(len(row), np.uint8)
    matrix = sparse.csr_array((once, (row, answers.raters)), shape=(count * kinds * size, answers.rater_count))
    ends = range(0, matrix.shape[0], kinds * size)
    blocks = tuple(matrix[begin : begin + kinds * size] for begin in ends)
    return Answered(kinds, size, blocks, int(np.diff(matrix.indptr).max()))


def _alphas(answered: Answered, distances: Distances, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return α of a block of replicates."""
    pairs = _coincidences(answered, weights)
    margin = pairs.sum(axis=2)
    far = distances(margin)
    expected = np.einsum("dv,dvw,dw->d", margin, np.broadcast_to(far, pairs.shape), margin)
    return chance_corrected((pairs * far).sum(axis=(1, 2)), expected, margin.sum(axis=1))


def _coincidences(answered: Answered, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return o (replicates, kinds, kinds)."""
    kinds, table = answered.kinds, _table(weights, answered.most)
    pairs = np.zeros((len(weights), kinds, kinds))
    copies = np.zeros((len(weights), kinds, 1))
    for block in answered.blocks:
        sums = np.ascontiguousarray((block @ table).T).astype(np.float64)
        planes = sums.reshape(-1, len(weights), kinds, answered.items)
        by_value, squares = planes[0], planes[-1]  # (replicates, kinds, items) each
        size = by_value.sum(axis=1, keepdims=True)  # (replicates, 1, items) M
        ordered = size**2 - squares.sum(axis=1, keepdims=True)
        factor = size / np.where(ordered > 0, ordered, np.inf)
        pairs += (by_value * factor) @ by_value.transpose(0, 2, 1)
        copies += squares @ factor.transpose(0, 2, 1)
    diagonal = np.arange(kinds)
    pairs[:, diagonal, diagonal] -= copies[..., 0]
    return pairs


def _table(weights: NDArray[np.float64], most: int) -> NDArray[np.number]:
    """Return the weights and their squares (raters, 2 × replicates), as whole numbers that hold sums of ``most``.

    Where raters are only left out, the weights are their squares, and there once.
    """
    squares = weights**2
    table = weights.T if np.array_equal(weights, squares) else np.concatenate([weights, squares]).T
    highest = most * table.max()
    exact = highest < 2**32 and table.min() >= 0 and np.array_equal(weights, np.rint(weights))
    return np.ascontiguousarray(table, np.min_scalar_type(int(highest)) if exact else np.float64)
