"""Nearest neighbours of real and generated images, for all distances that need them, in one pass over all pairs.

The ball of an image has the distance to its k-th nearest other image of the same set as radius. All comparisons
are strict (<) and exact in double precision, as :mod:`beholder.distances.screening` explains; memory is
that of the features in single precision and a few blocks.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from beholder.distances.features import Features, checked_pair
from beholder.distances.screening import (
    Closeness,
    Nearest,
    Screen,
    even_blocks,
    make_screen,
    neighbour_distances,
    over,
    settle,
)
from beholder.errors import StatisticsError

NEIGHBOURS = 5


@dataclass(frozen=True, eq=False)
class Neighbours:
    """Which images lie in the balls of which others, and which are nearest. Distances are squared."""

    k: int
    dims: int
    real_radius: NDArray[np.float64]  # to the k-th nearest real image, (real,)
    generated_radius: NDArray[np.float64]  # to the k-th nearest generated image, (generated,)
    real_nearest: NDArray[np.float64]  # to the nearest other real image, (real,)
    balls: NDArray[np.int64]  # in how many balls of real images each generated image lies, (generated,)
    covered: NDArray[np.bool_]  # whether a generated image lies in the ball of each real image, (real,)
    recalled: NDArray[np.bool_]  # whether each real image lies in the ball of a generated image, (real,)
    closest: NDArray[np.int64]  # which real image is nearest to each generated image, (generated,)
    closest_distance: NDArray[np.float64]  # and how far it is, (generated,)


def neighbours(real: ArrayLike, generated: ArrayLike, *, k: int = NEIGHBOURS) -> Neighbours:
    """Return the neighbourhoods from which precision, recall, density, coverage and authenticity are computed."""
    if k < 1:
        raise StatisticsError(f"neighbours: k has to be at least 1; found {k}")
    real_features, generated_features = checked_pair(
        "neighbours", real, generated, least=k + 1, why=f"for k = {k} neighbours"
    )
    real_radius, real_nearest = neighbour_distances(real_features, (k, 1))
    (generated_radius,) = neighbour_distances(generated_features, (k,))
    met = meet(real_features, generated_features, real_radius, generated_radius)
    return Neighbours(
        k=k,
        dims=real_features.shape[1],
        real_radius=real_radius,
        generated_radius=generated_radius,
        real_nearest=real_nearest,
        balls=met.balls,
        covered=met.covered,
        recalled=met.recalled,
        closest=met.closest,
        closest_distance=met.closest_distance,
    )


@dataclass(frozen=True, eq=False)
class Met:
    """Which of some real and some generated images lie in the balls of which others, and which are nearest."""

    balls: NDArray[np.int64]  # (generated,)
    covered: NDArray[np.bool_]  # (real,)
    recalled: NDArray[np.bool_]  # (real,)
    closest: NDArray[np.int64]  # (generated,)
    closest_distance: NDArray[np.float64]  # (generated,)


def meet(
    real: Features,
    generated: Features,
    real_radius: NDArray[np.float64],
    generated_radius: NDArray[np.float64],
) -> Met:
    """Compare every real image with every generated one; radii are squared."""
    screen = make_screen(real, generated)
    balls = np.zeros(len(generated), np.int64)
    covered, recalled = np.zeros(len(real), np.bool_), np.zeros(len(real), np.bool_)
    closest = Nearest(len(generated), min(4, len(real)))
    for rows in even_blocks(len(real)):
        for columns in even_blocks(len(generated)):
            block = screen.closeness(0, rows, 1, columns)
            inside, holders = _within(screen, block, rows, columns, real_radius, owner=0)
            covered[inside] = True
            balls += np.bincount(holders, minlength=len(generated))
            recalled[_within(screen, block, rows, columns, generated_radius, owner=1)[0]] = True
            closest.offer_columns(rows, columns, block)
    distance, index = settle(screen, 1, 0, closest, 1)
    return Met(balls, covered, recalled, index, distance)


def _within(
    screen: Screen, block: Closeness, rows: slice, columns: slice, radius: NDArray[np.float64], *, owner: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pairs (real, generated) of a block nearer than the radius of the real (owner 0) or generated image (1)."""
    owners = columns if owner else rows
    bound, doubt = screen.closeness_of(radius[owners]), screen.doubt[owner][owners]
    surely, maybe = bound + doubt, (bound - doubt).astype(np.float32)
    real, generated = over(block, maybe if owner else maybe[:, None])
    owner_index = generated if owner else real
    certain = block[real, generated] > surely[owner_index]
    unsure = np.flatnonzero(~certain)
    exact = screen.exact(0, real[unsure] + rows.start, 1, generated[unsure] + columns.start)
    certain[unsure] = exact < radius[owners][owner_index[unsure]]
    return real[certain] + rows.start, generated[certain] + columns.start
