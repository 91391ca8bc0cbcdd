"""What every distance of nearest neighbours needs, from one pass over all pairs of images.

The ball of an image reaches to its k-th nearest other image of the same set. All comparisons are strict (<) and
exact in double precision, as :mod:`beholder.measure.distances.screening` explains; memory is that of the
features in single precision and a few blocks.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from beholder.errors import StatisticsError
from beholder.measure.distances.features import checked_pair
from beholder.measure.distances.screening import (
    Closeness,
    Nearest,
    Screen,
    even_blocks,
    make_screen,
    neighbour_distances,
    over,
    settle,
)

NEIGHBOURS = 5


@dataclass(frozen=True, eq=False)
class Neighbours:
    """Who lies in whose ball, and who is nearest. Distances are squared."""

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
    """Return what precision, recall, density, coverage and authenticity are counted from."""
    if k < 1:
        raise StatisticsError(f"neighbours: k has to be at least 1; found {k}")
    one, two = checked_pair("neighbours", real, generated, least=k + 1, why=f"for k = {k} neighbours")
    real_radius, real_nearest = neighbour_distances(one, (k, 1))
    (generated_radius,) = neighbour_distances(two, (k,))
    screen = make_screen(one, two)
    balls = np.zeros(len(two), np.int64)
    covered, recalled = np.zeros(len(one), np.bool_), np.zeros(len(one), np.bool_)
    closest = Nearest(len(two), min(4, len(one)))
    for rows in even_blocks(len(one)):
        for columns in even_blocks(len(two)):
            block = screen.closeness(0, rows, 1, columns)
            inside, who = _within(screen, block, rows, columns, real_radius, owner=0)
            covered[inside] = True
            balls += np.bincount(who, minlength=len(two))
            recalled[_within(screen, block, rows, columns, generated_radius, owner=1)[0]] = True
            closest.offer_columns(rows, columns, block)
    distance, index = settle(screen, 1, 0, closest, 1)
    return Neighbours(
        k=k,
        dims=one.shape[1],
        real_radius=real_radius,
        generated_radius=generated_radius,
        real_nearest=real_nearest,
        balls=balls,
        covered=covered,
        recalled=recalled,
        closest=index,
        closest_distance=distance,
    )


def _within(
    screen: Screen, block: Closeness, rows: slice, columns: slice, radius: NDArray[np.float64], *, owner: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pairs (real, generated) of a block nearer than the radius of the real (owner 0) or generated image (1)."""
    mine = columns if owner else rows
    bound, doubt = screen.closeness_of(radius[mine]), screen.doubt[owner][mine]
    surely, maybe = bound + doubt, (bound - doubt).astype(np.float32)
    real, generated = over(block, maybe if owner else maybe[:, None])
    place = generated if owner else real
    certain = block[real, generated] > surely[place]
    unsure = np.flatnonzero(~certain)
    exact = screen.exact(0, real[unsure] + rows.start, 1, generated[unsure] + columns.start)
    certain[unsure] = exact < radius[mine][place[unsure]]
    return real[certain] + rows.start, generated[certain] + columns.start
