"""Nearest neighbours of sets in shards, exactly: for precision, recall, density, coverage and authenticity.

Every shard meets every other. Held at a time are two shards with their features in single precision beside them, a
few blocks of 2048 × 2048 closenesses, and 8 (k + 4) bytes per image: for k = 5 some 72 MB per million images.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from beholder.distances.features import Features
from beholder.distances.neighbours import NEIGHBOURS, Met, Neighbours, meet
from beholder.distances.screening import SPARE, Nearest, even_blocks, make_screen, neighbour_distances, settle
from beholder.distances.shards.shard import Shard, sizes_of
from beholder.errors import StatisticsError
from beholder.stats.each import Map, in_turn

Distances = NDArray[np.float64]
"""Squared distances to the k nearest so far, ascending (images, k); infinite where there are fewer."""


def neighbours_of_shards(
    real: Sequence[Shard], generated: Sequence[Shard], *, k: int = NEIGHBOURS, each: Map = in_turn
) -> Neighbours:
    """Return what :func:`beholder.distances.neighbours.neighbours` returns of the sets."""
    sizes = [sizes_of(shards, each) for shards in (real, generated)]
    if k < 1 or min(sum(of_set) for of_set in sizes) < k + 1:
        counts = " and ".join(str(sum(of_set)) for of_set in sizes)
        raise StatisticsError(
            f"neighbours: k of at least 1 and more than k images are needed; found {k}, {counts}"
        )
    real_near, generated_near = (_nearest(shards, k, each) for shards in (real, generated))
    real_radius, generated_radius = ([near[:, -1] for near in of_set] for of_set in (real_near, generated_near))
    tasks = (
        (a, b, i, j, real_radius[i], generated_radius[j])
        for i, a in enumerate(real)
        for j, b in enumerate(generated)
    )
    balls = [np.zeros(size, np.int64) for size in sizes[1]]
    covered, recalled = ([np.zeros(size, np.bool_) for size in sizes[0]] for _ in range(2))
    closest, nearest = [np.zeros(size, np.int64) for size in sizes[1]], [np.full(s, np.inf) for s in sizes[1]]
    begins = np.concatenate([[0], np.cumsum(sizes[0])])
    for i, j, met in each(_met, tasks):
        balls[j] += met.balls
        covered[i] |= met.covered
        recalled[i] |= met.recalled
        nearer = met.closest_distance < nearest[j]
        closest[j] = np.where(nearer, met.closest + begins[i], closest[j])
        nearest[j] = np.where(nearer, met.closest_distance, nearest[j])
    return Neighbours(
        k=k,
        dims=real[0].shape[1],
        real_radius=np.concatenate(real_radius),
        generated_radius=np.concatenate(generated_radius),
        real_nearest=np.concatenate([near[:, 0] for near in real_near]),
        balls=np.concatenate(balls),
        covered=np.concatenate(covered),
        recalled=np.concatenate(recalled),
        closest=np.concatenate(closest),
        closest_distance=np.concatenate(nearest),
    )


def _met(
    task: tuple[Shard, Shard, int, int, NDArray[np.float64], NDArray[np.float64]],
) -> tuple[int, int, Met]:
    first, second, i, j, real_radius, generated_radius = task
    return i, j, meet(first(), second(), real_radius, generated_radius)


def _nearest(shards: Sequence[Shard], k: int, each: Map) -> list[Distances]:
    """Return the distances of every image to its k nearest others of the set, shard by shard."""
    pairs = ((a, b, i, j, k) for i, a in enumerate(shards) for j, b in enumerate(shards) if i <= j)
    near: dict[int, Distances] = {}
    for i, j, of_first, of_second in each(_near, pairs):
        near[i] = _least(near.get(i), of_first)
        if i != j:
            near[j] = _least(near.get(j), of_second)
    return [near[i] for i in range(len(shards))]


def _near(pair: tuple[Shard, Shard, int, int, int]) -> tuple[int, int, Distances, Distances]:
    first, second, i, j, k = pair
    if i == j:
        own = _within(first(), k)
        return i, j, own, own
    left, right = first(), second()
    screen = make_screen(left, right)
    nearest = (
        Nearest(len(left), min(k + SPARE, len(right))),
        Nearest(len(right), min(k + SPARE, len(left))),
    )
    for rows in even_blocks(len(left)):
        for columns in even_blocks(len(right)):
            block = screen.closeness(0, rows, 1, columns)
            nearest[0].offer_rows(rows, columns, block)
            nearest[1].offer_columns(rows, columns, block)
    both = [
        _filled([settle(screen, side, 1 - side, nearest[side], rank)[0] for rank in _ranks(k, len(other))], k)
        for side, other in ((0, right), (1, left))
    ]
    return i, j, both[0], both[1]


def _within(features: Features, k: int) -> Distances:
    if len(features) < 2:
        return np.full((len(features), k), np.inf)
    return _filled(neighbour_distances(features, tuple(_ranks(k, len(features) - 1))), k)


def _ranks(k: int, others: int) -> range:
    return range(1, min(k, others) + 1)


def _filled(columns: list[NDArray[np.float64]], k: int) -> Distances:
    lacking = [np.full(len(columns[0]), np.inf)] * (k - len(columns))
    return np.stack([*columns, *lacking], axis=1)


def _least(before: Distances | None, more: Distances) -> Distances:
    if before is None:
        return more
    return np.sort(np.concatenate([before, more], axis=1), axis=1)[:, : before.shape[1]]
