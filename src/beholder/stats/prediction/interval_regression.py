"""Regression of what is only known to lie within intervals, such as a rating on a scale of few points.

y* = βᵀx + e with e normal of standard deviation σ; of each y* it is known that it lies between two ends, of which
one may be infinite: who gives the highest point of a scale may have thought of more. The likelihood of an
observation is Φ((high − βᵀx)/σ) − Φ((low − βᵀx)/σ). In θ = 1/σ and γ = β/σ its logarithm is concave (Burridge
1981), so Newton's method finds the maximum. With ends that shrink to points it is least squares.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from beholder.errors import StatisticsError

STEPS, HALVINGS, TOLERANCE = 100, 40, 1e-9


@dataclass(frozen=True, eq=False)
class IntervalRegression:
    """The coefficients of the latent scale, with their covariance, and the spread around the line."""

    coefficients: NDArray[np.float64]  # (columns,) β̂
    covariance: NDArray[np.float64]  # (columns, columns), summed within clusters first
    spread: float  # σ̂


def interval_regression(
    low: ArrayLike, high: ArrayLike, design: ArrayLike, clusters: ArrayLike | None = None
) -> IntervalRegression:
    """Fit by maximum likelihood.

    Args:
        low: The lower end of each observation, (n,); −∞ where there is none.
        high: The upper ends, (n,); ∞ where there is none.
        design: What it is regressed on, (n, columns), a column of ones included where a constant is wanted.
        clusters: Integers (n,); observations of one cluster may depend on each other. By default none do.

    Returns:
        The fit, with a covariance that holds where errors are neither normal nor independent within clusters.

    Example:
        >>> x = np.arange(12.0)
        >>> stars = np.array([1, 1, 2, 1, 2, 3, 3, 4, 3, 5, 5, 5])
        >>> low, high = np.where(stars > 1, stars - 0.5, -np.inf), np.where(stars < 5, stars + 0.5, np.inf)
        >>> fit = interval_regression(low, high, np.column_stack([np.ones(12), x]))
        >>> steepness, plain = fit.coefficients[1], np.polyfit(x, stars, 1)[0]
        >>> f"{steepness:.2f} per step, and {plain:.2f} if the ends of the scale were all there is"
        '0.48 per step, and 0.41 if the ends of the scale were all there is'
    """
    ends, x, groups = _checked(low, high, design, clusters)
    point = _start(ends, x)
    likelihood, pulls, curvature = _likelihood(point, ends, x)
    for _ in range(STEPS):
        step = np.linalg.lstsq(-curvature, pulls.sum(axis=0), rcond=None)[0]
        for _ in range(HALVINGS):
            after = _likelihood(point + step, ends, x)
            if point[-1] + step[-1] > 0 and after[0] >= likelihood:
                break
            step = step / 2
        gained, point = after[0] - likelihood, point + step
        likelihood, pulls, curvature = after
        if gained < TOLERANCE:
            break
    else:
        raise StatisticsError(f"the regression of {len(x)} intervals did not settle in {STEPS} steps")
    return _fitted(point, pulls, curvature, groups)


def _start(ends: NDArray[np.float64], x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return γ and θ of least squares through the middles of intervals, or their finite ends."""
    low, high = ends
    middles = np.where(np.isinf(low), high, np.where(np.isinf(high), low, (low + high) / 2))
    coefficients = np.linalg.lstsq(x, middles, rcond=None)[0]
    width = max(float((middles - x @ coefficients).std()), 1e-3 * float(np.ptp(middles)), 1e-9)
    return np.append(coefficients / width, 1 / width)


def _likelihood(
    point: NDArray[np.float64], ends: NDArray[np.float64], x: NDArray[np.float64]
) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
    """Return the logarithm of the likelihood, its gradient by observation, and its second derivatives."""
    centre = x @ point[:-1]
    standard = np.where(np.isinf(ends), ends, ends * point[-1] - centre)  # (2, n)
    turned = standard[0] > 0  # both ends in the upper tail: take the same in the lower one, where Φ is exact
    first = np.where(turned, -standard[1], standard[0])
    second = np.where(turned, -standard[0], standard[1])
    chance = np.maximum(special.ndtr(second) - special.ndtr(first), 1e-300)
    finite = np.where(np.isinf(standard), 0.0, standard)
    density = np.where(np.isinf(standard), 0.0, np.exp(-(finite**2) / 2) / np.sqrt(2 * np.pi)) / chance
    slopes = np.stack([np.column_stack([-x, np.where(np.isinf(end), 0.0, end)]) for end in ends])  # (2, n, k + 1)
    pulls = density[1][:, None] * slopes[1] - density[0][:, None] * slopes[0]
    inner = density[1] * finite[1], density[0] * finite[0]
    curvature = (slopes[0] * inner[1][:, None]).T @ slopes[0] - (slopes[1] * inner[0][:, None]).T @ slopes[1]
    return float(np.log(chance).sum()), pulls, curvature - pulls.T @ pulls


def _fitted(
    point: NDArray[np.float64],
    pulls: NDArray[np.float64],
    curvature: NDArray[np.float64],
    groups: NDArray[np.int64],
) -> IntervalRegression:
    """Turn γ and θ into β and σ, with the covariance by the sandwich of clusters."""
    _, place = np.unique(groups, return_inverse=True)
    count = int(place.max()) + 1
    if count <= len(point):
        raise StatisticsError(f"{count} clusters; a regression with {len(point) - 1} columns needs more")
    sums = np.zeros((count, len(point)))
    np.add.at(sums, place, pulls)
    inverse = np.linalg.pinv(-curvature)
    sandwich = inverse @ (sums.T @ sums) @ inverse * (count / (count - len(point)))
    precision = point[-1]
    coefficients = point[:-1] / precision
    turn = np.column_stack([np.eye(len(coefficients)), -coefficients]) / precision
    return IntervalRegression(coefficients, np.asarray(turn @ sandwich @ turn.T), 1 / float(precision))


def _checked(
    low: ArrayLike, high: ArrayLike, design: ArrayLike, clusters: ArrayLike | None
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    lower, upper, x = (np.asarray(array, np.float64) for array in (low, high, design))
    if x.ndim != 2 or lower.shape != x.shape[:1] or upper.shape != x.shape[:1]:
        raise StatisticsError(
            "a regression of intervals needs ends (n,), (n,) and a design (n, columns); found "
            f"{lower.shape}, {upper.shape} and {x.shape}"
        )
    if not np.all(np.isfinite(x)) or not np.all(lower < upper):
        raise StatisticsError("a regression of intervals needs a finite design, and lower ends below upper ones")
    groups = np.arange(len(x)) if clusters is None else np.asarray(clusters)
    if groups.shape != x.shape[:1] or groups.dtype.kind not in "iu":
        raise StatisticsError("clusters must be one integer for each interval")
    return np.stack([lower, upper]), x, groups.astype(np.int64)
