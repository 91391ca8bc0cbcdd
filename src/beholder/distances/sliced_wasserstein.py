"""Sliced Wasserstein distance: the root of the mean squared W₂ of both sets along random directions.

On a line, W₂² is the mean squared difference of quantiles, exactly, for sets of any sizes. Bonneel et al., "Sliced
and Radon Wasserstein barycenters of measures" (2015).
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from beholder.distances.features import checked_pair
from beholder.distances.result import JACKKNIFE, Distance, normal_quantile, standard_error
from beholder.errors import StatisticsError

_ROWS = 64  # directions at a time


def sliced_wasserstein(
    real: ArrayLike,
    generated: ArrayLike,
    *,
    rng: np.random.Generator,
    directions: int = 1000,
    level: float = 0.95,
) -> Distance:
    """Return the sliced W₂ of two sets of features; 0 for identical sets, lower is better.

    The influence of an image on W₂² along a line is Kantorovich's potential there: the integral of 2(t − T(t)),
    with T the map to the quantile of the other set.
    """
    z = normal_quantile(level)
    if directions < 1:
        raise StatisticsError(f"sliced Wasserstein: at least one direction is needed; found {directions}")
    real_features, generated_features = checked_pair("sliced Wasserstein", real, generated)
    lines = rng.standard_normal((directions, real_features.shape[1]))
    lines /= np.linalg.norm(lines, axis=1, keepdims=True)
    plan = _coupling(len(real_features), len(generated_features))
    total, real_influence, generated_influence = (
        0.0,
        np.zeros(len(real_features)),
        np.zeros(len(generated_features)),
    )
    for start in range(0, directions, _ROWS):
        block = lines[start : start + _ROWS]
        for x, y in zip(block @ real_features.T, block @ generated_features.T, strict=True):
            real_order, generated_order = np.argsort(x), np.argsort(y)
            squared, real_potential, generated_potential = _on_a_line(x[real_order], y[generated_order], *plan)
            total += squared
            real_influence[real_order] += real_potential
            generated_influence[generated_order] += generated_potential
    squared = total / directions
    value = float(np.sqrt(squared))
    error = standard_error(real_influence / directions, generated_influence / directions)
    reach = z * error / (2 * value) if value > 0 else 0.0
    return Distance(
        name="sliced_wasserstein",
        value=value,
        low=max(0.0, value - reach),
        high=value + reach,
        level=level,
        method=JACKKNIFE,
        real=len(real_features),
        generated=len(generated_features),
        dims=real_features.shape[1],
        settings={"directions": directions},
    )


def _coupling(n: int, m: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """The optimal coupling of two sorted sets: index in each set, and mass, of every part of [0, 1]."""
    # In units of 1/nm all edges are integers: multiples of m and of n.
    edges = np.union1d(np.arange(n + 1, dtype=np.int64) * m, np.arange(m + 1, dtype=np.int64) * n)
    return edges[:-1] // m, edges[:-1] // n, np.diff(edges) / (n * m)


def _on_a_line(
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    at_x: NDArray[np.int64],
    at_y: NDArray[np.int64],
    mass: NDArray[np.float64],
) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
    """W₂² of two sorted samples, and the potentials at their values."""
    gap = x[at_x] - y[at_y]
    # The mean of x − T(x) over the mass of each x, and the same from the other side.
    mean_x = np.asarray(np.bincount(at_x, weights=mass * gap) * len(x), np.float64)
    mean_y = np.asarray(np.bincount(at_y, weights=-mass * gap) * len(y), np.float64)
    return float(mass @ gap**2), _potential(x, mean_x), _potential(y, mean_y)


def _potential(values: NDArray[np.float64], gaps: NDArray[np.float64]) -> NDArray[np.float64]:
    """The integral of 2 · gap along sorted values, by the trapezoidal rule."""
    return np.concatenate([[0.0], np.cumsum(np.diff(values) * (gaps[:-1] + gaps[1:]))])
