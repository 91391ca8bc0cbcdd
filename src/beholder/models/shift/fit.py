"""Fit a detector of shifts: a ridge logistic regression of altered images against usual ones.

Both sides weigh the same, whatever the numbers of their images.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit

from beholder.models.components import Components, components_and_residuals
from beholder.models.encoders.encoder import Vectors
from beholder.models.shift.detector import ShiftDetector

Floats = NDArray[np.float64]

STRENGTH = 0.03
"""Inverse of the ridge of the logistic regression."""
RIDGE = 1e-3
"""Added to the variances of the statistics of pixels, some of which are nearly sums of others."""
MOST_STEPS = 400


def fit_detector(
    blank: ShiftDetector,
    components: Components,
    usual: Vectors,
    altered: Vectors,
    *,
    residuals: Floats | None = None,
    strength: float = STRENGTH,
) -> ShiftDetector:
    """Return the detector before it is calibrated: its median is 0, its unit 1.

    ``residuals``, (images, groups), count for the usual images in place of what the components leave over.
    """
    points, left_over = components_and_residuals(components, blank.bounds, usual)
    of_usual = blank.joined(points, left_over if residuals is None else residuals, usual)
    weights, intercept = fit_regression(of_usual, blank.features(components, altered), strength)
    return replace(blank, weights=weights, intercept=intercept)


def unfitted(
    components: Components, bounds: NDArray[np.int64], usual: Vectors, residuals: Floats, statistics: int
) -> ShiftDetector:
    """Return a detector without weights: the scales of its features.

    Those of components and of the last ``statistics`` columns are of the images ``usual``; those of what the
    components leave over are of ``residuals``, (images, groups), which may be of held-out images.
    """
    scales = components_and_residuals(components, bounds, usual)[0].std(axis=0)
    centres, highs = np.quantile(residuals, (0.5, 0.95), axis=0)
    of_pixels = usual[:, usual.shape[1] - statistics :].astype(np.float64)
    means, spreads = of_pixels.mean(axis=0), np.maximum(of_pixels.std(axis=0), 1e-6)
    covariance = np.cov((of_pixels - means) / spreads, rowvar=False) + RIDGE * np.eye(statistics)
    return ShiftDetector(
        scales=np.maximum(scales, 1e-6),
        bounds=bounds,
        centres=centres,
        units=np.maximum(highs - centres, 1e-6),
        pixel_means=means,
        pixel_deviations=spreads,
        pixel_whitening=np.linalg.inv(np.linalg.cholesky(covariance)),
        weights=np.zeros(len(scales) + len(centres) + 2 * statistics + 1),
        intercept=0.0,
        median=0.0,
        unit=1.0,
    )


def fit_regression(usual: Floats, altered: Floats, strength: float) -> tuple[Floats, float]:
    """Return weights and intercept of the regression of ``altered`` against ``usual``, (images, features).

    They minimise strength · Σ sᵢ ln(1 + exp(−yᵢ (w · xᵢ + b))) + |w|² / 2; by sᵢ both sides weigh the same.
    """
    features = np.concatenate([usual, altered])
    sides = np.repeat([-1.0, 1.0], [len(usual), len(altered)])
    shares = strength * len(features) / 2 / np.repeat([len(usual), len(altered)], [len(usual), len(altered)])

    def loss(parameters: Floats) -> tuple[float, Floats]:
        margins = sides * (features @ parameters[:-1] + parameters[-1])
        slopes = -sides * shares * expit(-margins)
        penalty = 0.5 * parameters[:-1] @ parameters[:-1]
        gradient = np.append(features.T @ slopes + parameters[:-1], slopes.sum())
        return float(shares @ np.logaddexp(0, -margins) + penalty), gradient

    start = np.zeros(features.shape[1] + 1)
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": MOST_STEPS, "gtol": 1e-6})
    return found.x[:-1], float(found.x[-1])
