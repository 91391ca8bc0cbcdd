"""Which pairs of images are near: decided in single precision where that is certain, else in double precision.

Matrix products in single precision take half the time. The error of each distance is then bounded; a pair whose
distance differs by more than the bound from what it is compared with is decided, and the few others are computed
from the differences of their features in double precision. So every decision is that of double precision.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from beholder.distances.features import Features

BLOCK = 2048
SPARE = 4  # neighbours stored beyond those asked for, to resolve near ties
_PAIRS = 8192  # pairs computed exactly at a time

Closeness = NDArray[np.float32]
"""−½ · squared distance, scaled: the larger, the nearer."""


@dataclass(frozen=True, eq=False)
class Screen:
    """Two sets, centred and scaled in common, so that a product of their rows is a closeness.

    x is stored as (x, −½|x|², 1); with the last two of y exchanged, the product is x·y − ½|x|² − ½|y|² = −½|x−y|².
    """

    sets: tuple[Features, Features]
    rows: tuple[NDArray[np.float32], NDArray[np.float32]]  # (images, dims + 2)
    scale: float  # a scaled distance is this times the true one
    doubt: tuple[NDArray[np.float64], NDArray[np.float64]]  # bound on the error of a closeness, by image

    def closeness(self, side: int, rows: slice, other_side: int, columns: slice) -> Closeness:
        """The closeness of some images of set ``side`` (0 or 1) to some of set ``other_side``."""
        other = self.rows[other_side][columns]
        turned = np.concatenate([other[:, :-2], other[:, :-3:-1]], axis=1)
        return np.asarray(self.rows[side][rows] @ turned.T)

    def closeness_of(self, squared: NDArray[np.float64]) -> NDArray[np.float64]:
        """The closeness of true squared distances."""
        return -0.5 * squared * self.scale**2

    def exact(
        self, side: int, rows: NDArray[np.int64], other_side: int, columns: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Squared distances of pairs, in double precision, from differences."""
        squared = np.empty(len(rows))
        for start in range(0, len(rows), _PAIRS):
            block = slice(start, start + _PAIRS)
            gap = self.sets[side][rows[block]].astype(np.float64) - self.sets[other_side][columns[block]]
            squared[block] = np.einsum("ij,ij->i", gap, gap)
        return squared


def make_screen(real: Features, generated: Features) -> Screen:
    """Centre and scale both sets, and bound the error of single precision."""
    dims = real.shape[1]
    centre = (real.mean(axis=0, dtype=np.float64) + generated.mean(axis=0, dtype=np.float64)) / 2
    largest = max(
        float(np.abs(block - centre).max()) for each in (real, generated) for block in _split(each)
    )  # scaled by this, no square overflows
    scale = 1 / (largest * np.sqrt(dims)) if largest > 0 else 1.0
    first = _extended(real, centre, scale)
    rows = (first, first if generated is real else _extended(generated, centre, scale))
    lengths = [np.sqrt(-2 * each[:, -2].astype(np.float64)) for each in rows]
    longest = max(float(each.max()) for each in lengths)
    # Rounding errors of a sum of products grow with the root of its terms; four times that is a safe bound.
    error = 4 * np.sqrt(dims + 2) * float(np.finfo(np.float32).eps) / 2
    doubt = (error * (lengths[0] + longest) ** 2 / 2, error * (lengths[1] + longest) ** 2 / 2)
    return Screen((real, generated), rows, scale, doubt)


class Nearest:
    """The few nearest neighbours so far, for each image of a set."""

    def __init__(self, images: int, count: int) -> None:
        self.closeness = np.full((images, count), -np.inf, np.float32)  # nearest first
        self.index = np.zeros((images, count), np.int64)
        self.least = np.full(images, -np.inf, np.float32)  # closeness that a newcomer has to beat

    def offer(self, owners: NDArray[np.int64], others: NDArray[np.int64], closeness: Closeness) -> None:
        """Consider candidates, one pair per entry, in any order, never the same pair twice."""
        if len(owners) == 0:
            return
        count = self.closeness.shape[1]
        order = np.lexsort((-closeness, owners))
        owners, others, closeness = owners[order], others[order], closeness[order]
        distinct, begins, counts = np.unique(owners, return_index=True, return_counts=True)
        rank = np.arange(len(owners)) - np.repeat(begins, counts)
        first = rank < count
        row = np.repeat(np.arange(len(distinct)), counts)[first]
        values = np.full((len(distinct), 2 * count), -np.inf, np.float32)
        indices = np.zeros((len(distinct), 2 * count), np.int64)
        values[:, :count], indices[:, :count] = self.closeness[distinct], self.index[distinct]
        values[row, count + rank[first]] = closeness[first]
        indices[row, count + rank[first]] = others[first]
        best = np.argsort(-values, axis=1, kind="stable")[:, :count]
        self.closeness[distinct] = np.take_along_axis(values, best, axis=1)
        self.index[distinct] = np.take_along_axis(indices, best, axis=1)
        self.least[distinct] = self.closeness[distinct, -1]

    def offer_rows(self, rows: slice, columns: slice, block: Closeness) -> None:
        """Consider a block whose rows are the owners."""
        if np.isneginf(self.least[rows]).any():
            owners, others = _best_of_rows(block, self.closeness.shape[1])
        else:
            owners, others = over(block, self.least[rows, None])
        self.offer(owners + rows.start, others + columns.start, block[owners, others])

    def offer_columns(self, rows: slice, columns: slice, block: Closeness) -> None:
        """Consider a block whose columns are the owners."""
        if np.isneginf(self.least[columns]).any():
            owners, others = _best_of_rows(np.ascontiguousarray(block.T), self.closeness.shape[1])
        else:
            others, owners = over(block, self.least[columns])
        self.offer(owners + columns.start, others + rows.start, block[others, owners])


def neighbour_distances(vectors: Features, ranks: tuple[int, ...]) -> list[NDArray[np.float64]]:
    """Exact squared distances of each image of a set to its neighbours of the given ranks (1: the nearest)."""
    screen = make_screen(vectors, vectors)
    nearest = Nearest(len(vectors), min(max(ranks) + SPARE, len(vectors) - 1))
    blocks = list(even_blocks(len(vectors)))
    for rows in blocks:  # first within blocks: a good start makes later candidates few
        block = screen.closeness(0, rows, 0, rows)
        np.fill_diagonal(block, -np.inf)
        nearest.offer_rows(rows, rows, block)
    for place, rows in enumerate(blocks):
        for columns in blocks[place + 1 :]:
            block = screen.closeness(0, rows, 0, columns)
            nearest.offer_rows(rows, columns, block)
            nearest.offer_columns(rows, columns, block)
    return [settle(screen, 0, 0, nearest, rank)[0] for rank in ranks]


def settle(
    screen: Screen, side: int, other_side: int, nearest: Nearest, rank: int
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The exact squared distance to the neighbour of that rank, and its index, for each image of set ``side``."""
    doubt = 2 * screen.doubt[side][:, None]
    at_rank = nearest.closeness[:, rank - 1 : rank]
    unsure = np.abs(nearest.closeness - at_rank) <= doubt
    squared = np.where(nearest.closeness > at_rank, -np.inf, np.inf)  # surely nearer, surely further
    owners, column = np.nonzero(unsure)
    squared[owners, column] = screen.exact(side, owners, other_side, nearest.index[owners, column])
    order = np.argsort(squared, axis=1, kind="stable")[:, rank - 1]
    everyone = np.arange(len(squared))
    distance, index = squared[everyone, order], nearest.index[everyone, order]
    candidates = len(screen.sets[other_side]) - (side == other_side)
    if nearest.closeness.shape[1] < candidates:
        # Where even the last stored neighbour is within doubt, another may be nearer; nothing is nearer than 0.
        for owner in np.flatnonzero(unsure[:, -1] & (distance > 0)):
            distance[owner], index[owner] = _searched(screen, side, int(owner), other_side, rank)
    return distance, index


def over(block: Closeness, bound: NDArray[np.float32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows and columns of the entries of a block that are above a bound, which broadcasts."""
    flat = np.flatnonzero(block > bound)
    rows, columns = np.divmod(flat, block.shape[1])
    return rows, columns


def even_blocks(count: int, size: int = BLOCK) -> Iterator[slice]:
    """Cut ``count`` images into blocks of about equal size."""
    edges = np.linspace(0, count, max(1, -(-count // size)) + 1).astype(int)
    for start, stop in pairwise(edges):
        yield slice(int(start), int(stop))


def _best_of_rows(block: Closeness, count: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The largest few entries of each row."""
    count = min(count, block.shape[1])
    best = np.argpartition(block, -count, axis=1)[:, -count:]
    return np.repeat(np.arange(len(block)), count), best.ravel()


def _searched(screen: Screen, side: int, owner: int, other_side: int, rank: int) -> tuple[float, int]:
    """The neighbour of that rank by an exhaustive search in double precision."""
    here = screen.sets[side][owner : owner + 1].astype(np.float64)
    squared = np.concatenate([cdist(here, block, "sqeuclidean")[0] for block in _split(screen.sets[other_side])])
    if side == other_side:
        squared[owner] = np.inf
    index = int(np.argpartition(squared, rank - 1)[rank - 1])
    return float(squared[index]), index


def _extended(vectors: Features, centre: NDArray[np.float64], scale: float) -> NDArray[np.float32]:
    extended = np.empty((len(vectors), vectors.shape[1] + 2), np.float32)
    extended[:, -1] = 1
    for start in range(0, len(vectors), BLOCK):
        block = (vectors[start : start + BLOCK] - centre) * scale
        extended[start : start + BLOCK, :-2] = block
        extended[start : start + BLOCK, -2] = -0.5 * np.einsum("ij,ij->i", block, block)
    return extended


def _split(vectors: Features) -> Iterator[Features]:
    for start in range(0, len(vectors), BLOCK):
        yield vectors[start : start + BLOCK]
