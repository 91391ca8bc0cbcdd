"""Kernel distances of sets in shards: sums over pairs of shards add up. Two shards are held at a time.

Gathered are 32 bytes per image: its sums over both sets, from which the jackknife has its standard error.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from beholder.distances.features import Features
from beholder.distances.kernel import cubic, kernel_of_subsets, subsets_distance
from beholder.distances.kernel_sums import KernelSums, own_values, sums_between, sums_within
from beholder.distances.mmd import mmd_of_sums
from beholder.distances.result import Distance, normal_quantile
from beholder.distances.shards.shard import Shard, sizes_of
from beholder.errors import StatisticsError
from beholder.stats.each import Map, in_turn

Pair = tuple[Shard, Shard, int, int]
"""Two shards, and their numbers."""


def kernel_of_shards(
    real: Sequence[Shard], generated: Sequence[Shard], *, level: float = 0.95, each: Map = in_turn
) -> Distance:
    """Return what :func:`beholder.distances.kernel.kernel_distance` returns of the sets."""
    z = normal_quantile(level)
    sizes = sizes_of(real, each), sizes_of(generated, each)
    if min(sum(sizes[0]), sum(sizes[1])) < 2:
        counts = f"{sum(sizes[0])} real and {sum(sizes[1])} generated images"
        raise StatisticsError(f"kernel distance: {counts}; needed are at least 2 of each")
    forward, backward = ([np.zeros((size, 1)) for size in of_set] for of_set in sizes)
    for (i, j), outward, inward in each(_across, _pairs(real, generated)):
        forward[i] += outward
        backward[j] += inward
    real_sums, real_own = _within(real, each)
    generated_sums, generated_own = _within(generated, each)
    sums = KernelSums(
        real_sums, generated_sums, np.concatenate(forward), np.concatenate(backward), real_own, generated_own
    )
    value, error = mmd_of_sums(sums, unbiased=True)
    return Distance(
        name="kernel",
        value=value,
        low=value - z * error,
        high=value + z * error,
        level=level,
        method="jackknife over images",
        real=len(real_own),
        generated=len(generated_own),
        dims=real[0].shape[1],
    )


def kernel_subsets_of_shards(
    real: Sequence[Shard],
    generated: Sequence[Shard],
    *,
    rng: np.random.Generator,
    subsets: int = 100,
    size: int = 1000,
    level: float = 0.95,
    each: Map = in_turn,
) -> Distance:
    """Return what :func:`beholder.distances.kernel.kernel_subsets` returns, from the same subsets.

    Gathered are the images of one pair of subsets at a time.
    """
    real_sizes, generated_sizes = sizes_of(real, each), sizes_of(generated, each)
    dims = real[0].shape[1]

    def values(rows: list[tuple[NDArray[np.int64], NDArray[np.int64]]]) -> NDArray[np.float64]:
        every = np.arange(len(rows[0][0]))
        return np.concatenate(
            [
                kernel_of_subsets(
                    _picked(real, real_sizes, first), _picked(generated, generated_sizes, second), [(every, every)]
                )
                for first, second in rows
            ]
        )

    return subsets_distance(
        values, sum(real_sizes), sum(generated_sizes), dims, rng=rng, subsets=subsets, size=size, level=level
    )


def _picked(shards: Sequence[Shard], sizes: list[int], rows: NDArray[np.int64]) -> Features:
    """Return the features of some images, by their numbers in the whole set, in that order."""
    edges = np.concatenate([[0], np.cumsum(sizes)])
    where = np.searchsorted(edges, rows, side="right") - 1
    picked: dict[int, Features] = {}
    for number in np.unique(where).tolist():
        features = shards[number]()
        for place in np.flatnonzero(where == number).tolist():
            picked[place] = features[rows[place] - edges[number]].copy()
    stacked: Features = np.array([picked[place] for place in range(len(rows))])
    return stacked


def _pairs(first: Sequence[Shard], second: Sequence[Shard]) -> Iterator[Pair]:
    return ((a, b, i, j) for i, a in enumerate(first) for j, b in enumerate(second))


def _across(pair: Pair) -> tuple[tuple[int, int], NDArray[np.float64], NDArray[np.float64]]:
    """Return the sums of the kernel of every image of either shard over the other shard."""
    first, second, i, j = pair
    left, right = first(), second()
    ones = np.ones((len(left), 1)), np.ones((len(right), 1))
    return (i, j), *sums_between(left, right, cubic(left.shape[1]), *ones)


def _within(shards: Sequence[Shard], each: Map) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the sums of the kernel of every image over its own set, and its value with itself."""
    alone = list(each(_alone, shards))
    sums = [own_sums for own_sums, _ in alone]
    pairs = (pair for pair in _pairs(shards, shards) if pair[2] < pair[3])
    for (i, j), forward, backward in each(_across, pairs):
        sums[i] = sums[i] + forward
        sums[j] = sums[j] + backward
    return np.concatenate(sums), np.concatenate([own for _, own in alone])


def _alone(shard: Shard) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    features = shard()
    kernel = cubic(features.shape[1])
    return sums_within(features, kernel, np.ones((len(features), 1))), own_values(features, kernel)
