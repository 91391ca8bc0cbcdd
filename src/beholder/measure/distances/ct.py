"""C_T: are generated images nearer to the training images than held-out real images are?

In each cell of the feature space, Mann and Whitney's U compares the distances to the nearest training image of
that cell, of generated against held-out images: Z = (U − (nm/2 − ½)) / √(nm(n+m+1)/12). C_T is the mean of Z
over cells, weighted with the share of held-out images. Far below 0: copied from the training set. Far above: not
yet fitted. Meehan, Chaudhuri and Dasgupta, "A non-parametric test to detect data-copying in generative models"
(2020).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats
from scipy.spatial.distance import cdist

from beholder.errors import StatisticsError
from beholder.measure.distances.cells import cell_centres, cells_of, principal_components
from beholder.measure.distances.features import checked_pair
from beholder.measure.distances.result import Distance, normal_quantile

_ROWS = 2048


@dataclass(frozen=True)
class CopyingTest:
    """Mann–Whitney's Z of the distances of one cell, and the standard error of Z."""

    z: float
    error: float


def ct(
    real: ArrayLike,
    generated: ArrayLike,
    train: ArrayLike,
    *,
    rng: np.random.Generator,
    components: int = 64,
    cells: int = 3,
    least: int = 20,
    level: float = 0.95,
) -> Distance:
    """Return C_T of held-out real, generated and training images; 0 is best, below 0 is copying.

    A cell with fewer than ``least`` generated images, or without held-out or training images, is left out. The
    interval is DeLong's, with the cells and the training images held fixed; |C_T| of 2 or more is rare by chance.
    """
    z = normal_quantile(level)
    checked_pair("C_T, held-out and training images", real, train)
    held, made = checked_pair("C_T", real, generated)
    known = checked_pair("C_T, training and generated images", train, generated, least=cells)[0]
    space = principal_components(known, components)
    known_at, held_at, made_at = space.project(known), space.project(held), space.project(made)
    centres = cell_centres(known_at, cells, rng)
    known_in, held_in, made_in = (cells_of(points, centres) for points in (known_at, held_at, made_at))
    tests, weights = [], []
    for cell in range(cells):
        here = known_at[known_in == cell]
        held_here, made_here = held_at[held_in == cell], made_at[made_in == cell]
        if len(here) and len(held_here) >= 2 and len(made_here) >= max(least, 2):
            tests.append(copying_test(_nearest(held_here, here), _nearest(made_here, here)))
            weights.append(len(held_here))
    if not tests:
        raise StatisticsError(
            f"C_T: no cell has {least} generated images beside held-out and training ones; found {len(made)} "
            f"generated, {len(held)} held-out and {len(known)} training images in {cells} cells; use fewer cells"
        )
    share = np.array(weights) / sum(weights)
    value = float(share @ [each.z for each in tests])
    reach = z * float(np.linalg.norm(share * [each.error for each in tests]))
    return Distance(
        name="ct",
        value=value,
        low=value - reach,
        high=value + reach,
        level=level,
        method="DeLong over held-out and generated images, the training images held fixed",
        real=len(held),
        generated=len(made),
        dims=held.shape[1],
        settings={"components": len(space.axes.T), "cells": cells, "cells_used": len(tests), "train": len(known)},
    )


def copying_test(held: NDArray[np.float64], made: NDArray[np.float64]) -> CopyingTest:
    """Return Z of the distances of held-out and generated images to the training set; below 0: those are nearer.

    U counts the pairs in which the generated image is further away, ties by half. DeLong's error of U/nm comes
    from the share of the other sample that lies below each distance.
    """
    n, m = len(held), len(made)
    both = stats.rankdata(np.concatenate([held, made]))
    below_made = (both[n:] - stats.rankdata(made)) / n  # share of held-out distances below each generated one
    below_held = (both[:n] - stats.rankdata(held)) / m
    u = n * m * float(below_made.mean())
    scale = float(np.sqrt(n * m * (n + m + 1) / 12))
    variance = float(np.var(below_made, ddof=1)) / m + float(np.var(below_held, ddof=1)) / n
    return CopyingTest((u - (n * m / 2 - 0.5)) / scale, n * m * float(np.sqrt(variance)) / scale)


def _nearest(points: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.float64]:
    found = [cdist(points[start : start + _ROWS], others).min(axis=1) for start in range(0, len(points), _ROWS)]
    return np.concatenate(found)
