"""Cells of the feature space: k-means clusters in the principal components of a set."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.spatial.distance import cdist

from beholder.distances.features import Features

_STARTS, _ROUNDS = 10, 100


@dataclass(frozen=True, eq=False)
class Components:
    """The leading principal components of a set."""

    mean: NDArray[np.float64]  # (dims,)
    axes: NDArray[np.float64]  # (dims, components)

    def project(self, vectors: Features) -> NDArray[np.float64]:
        """The coordinates of vectors along the components."""
        return np.asarray((vectors - self.mean) @ self.axes, np.float64)


def principal_components(vectors: Features, count: int) -> Components:
    """Return at most ``count`` components, in order of decreasing variance."""
    mean = vectors.mean(axis=0, dtype=np.float64)
    centred = vectors - mean
    images, dims = centred.shape
    count = min(count, images, dims)
    if images < dims:
        values, left = linalg.eigh(centred @ centred.T, subset_by_index=(images - count, images - 1))
        axes = centred.T @ left / np.sqrt(np.maximum(values, np.finfo(float).tiny))
    else:
        axes = linalg.eigh(centred.T @ centred, subset_by_index=(dims - count, dims - 1))[1]
    return Components(mean, np.asarray(axes[:, ::-1], np.float64))


def cell_centres(points: NDArray[np.float64], cells: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return the centres of k-means (k-means++, Lloyd's algorithm), the best of ten runs: (cells, dims)."""
    runs = [_lloyd(points, _spread_out(points, cells, rng)) for _ in range(_STARTS)]
    return min(runs, key=lambda run: run[1])[0]


def cells_of(points: NDArray[np.float64], centres: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the nearest centre of each point, (points,)."""
    return np.asarray(cdist(points, centres, "sqeuclidean").argmin(axis=1), np.int64)


def _spread_out(points: NDArray[np.float64], cells: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Initial centres by k-means++: each drawn with probability ∝ squared distance to those drawn so far."""
    chosen = [points[rng.integers(len(points))]]
    for _ in range(cells - 1):
        away = cdist(points, np.array(chosen), "sqeuclidean").min(axis=1)
        total = away.sum()
        chance = away / total if total > 0 else np.full(len(points), 1 / len(points))
        chosen.append(points[rng.choice(len(points), p=chance)])
    return np.array(chosen)


def _lloyd(points: NDArray[np.float64], centres: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
    """Centres that no longer move, and the sum of squared distances to them; an empty cell stays where it is."""
    assigned = np.full(len(points), -1)
    for _ in range(_ROUNDS):
        before, assigned = assigned, cells_of(points, centres)
        if np.array_equal(before, assigned):
            break
        for cell in np.unique(assigned):
            centres[cell] = points[assigned == cell].mean(axis=0)
    return centres, float(cdist(points, centres, "sqeuclidean").min(axis=1).sum())
