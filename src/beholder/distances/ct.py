"""C_T: are generated images nearer to the training images than held-out real images are?

In each cell of the feature space, Mann and Whitney's U compares the distances to the nearest training image of
that cell, of generated against held-out images: Z = (U − (nm/2 − ½)) / √(nm(n+m+1)/12). C_T is the mean of Z
over cells, weighted by the proportion of held-out images in each. Far below 0: copied from the training set. Far
above: underfitted. Meehan, Chaudhuri and Dasgupta, "A non-parametric test to detect data-copying in generative
models" (2020).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats
from scipy.spatial.distance import cdist

from beholder.distances.cells import cell_centres, cells_of, principal_components
from beholder.distances.features import checked_pair
from beholder.distances.result import Distance, normal_quantile
from beholder.errors import StatisticsError

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
    confidence interval is DeLong's, given the cells and the training images; |C_T| of 2 or more is rare by chance.
    """
    z = normal_quantile(level)
    checked_pair("C_T, held-out and training images", real, train)
    held_out, generated_features = checked_pair("C_T", real, generated)
    train_features = checked_pair("C_T, training and generated images", train, generated, least=cells)[0]
    space = principal_components(train_features, components)
    sets = (train_features, held_out, generated_features)
    train_points, held_out_points, generated_points = (space.project(features) for features in sets)
    centres = cell_centres(train_points, cells, rng)
    train_cells, held_out_cells, generated_cells = (
        cells_of(points, centres) for points in (train_points, held_out_points, generated_points)
    )
    tests, weights = [], []
    for cell in range(cells):
        train_here = train_points[train_cells == cell]
        held_out_here = held_out_points[held_out_cells == cell]
        generated_here = generated_points[generated_cells == cell]
        if len(train_here) and len(held_out_here) >= 2 and len(generated_here) >= max(least, 2):
            tests.append(copying_test(_nearest(held_out_here, train_here), _nearest(generated_here, train_here)))
            weights.append(len(held_out_here))
    if not tests:
        raise StatisticsError(
            f"C_T: no cell has {least} generated images beside held-out and training ones; "
            f"found {len(generated_features)} generated, {len(held_out)} held-out and {len(train_features)} "
            f"training images in {cells} cells; use fewer cells"
        )
    cell_weights = np.array(weights) / sum(weights)
    value = float(cell_weights @ [each.z for each in tests])
    reach = z * float(np.linalg.norm(cell_weights * [each.error for each in tests]))
    return Distance(
        name="ct",
        value=value,
        low=value - reach,
        high=value + reach,
        level=level,
        method="DeLong over held-out and generated images, the training images held fixed",
        real=len(held_out),
        generated=len(generated_features),
        dims=held_out.shape[1],
        settings={
            "components": len(space.axes.T),
            "cells": cells,
            "cells_used": len(tests),
            "train": len(train_features),
        },
    )


def copying_test(held_out: NDArray[np.float64], generated: NDArray[np.float64]) -> CopyingTest:
    """Return Z of the distances of held-out and generated images to the training set.

    Below 0 the generated images are nearer to the training set than the held-out images are.
    U counts the pairs in which the generated image is further away, ties counting half. DeLong's standard error of
    U/nm comes from the proportion of the other sample that lies below each distance.
    """
    n, m = len(held_out), len(generated)
    both = stats.rankdata(np.concatenate([held_out, generated]))
    below_generated = (both[n:] - stats.rankdata(generated)) / n  # proportion of held-out distances below each
    below_held_out = (both[:n] - stats.rankdata(held_out)) / m
    u = n * m * float(below_generated.mean())
    scale = float(np.sqrt(n * m * (n + m + 1) / 12))
    variance = float(np.var(below_generated, ddof=1)) / m + float(np.var(below_held_out, ddof=1)) / n
    return CopyingTest((u - (n * m / 2 - 0.5)) / scale, n * m * float(np.sqrt(variance)) / scale)


def _nearest(points: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.float64]:
    distances = [
        cdist(points[start : start + _ROWS], others).min(axis=1) for start in range(0, len(points), _ROWS)
    ]
    return np.concatenate(distances)
