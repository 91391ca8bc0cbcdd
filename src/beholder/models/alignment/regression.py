"""Ridge regression of the ranks of labels on a few features, and a curve from the weighted sum to the labels.

Ranks, because agreement with raters is judged by rank, and few images with extreme labels would otherwise count
most. The curve is a logistic one, fitted by least squares; where that does not converge to a rising one, a line.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares
from scipy.special import expit
from scipy.stats import rankdata

Floats = NDArray[np.float64]
Curve = Callable[[Floats], Floats]
"""From weighted sums to labels."""

KNOTS = 201
"""Points at which the curve is kept."""
FEWEST = 8
"""Labels that a logistic curve is fitted to."""
TENSORS = ("feature_mean", "feature_deviation", "weights", "scale_from", "scale_to")
"""What a regression is saved as."""


@dataclass(frozen=True, eq=False)
class RankRegression:
    """The weights of the features, and the curve."""

    feature_mean: Floats  # (features,)
    feature_deviation: Floats  # (features,)
    weights: Floats  # (features,)
    scale_from: Floats  # (knots,)
    scale_to: Floats  # (knots,)
    """The weighted sum is turned into the scale of the labels by interpolation between these."""

    def scores(self, features: Floats) -> Floats:
        """Scores on the scale of the labels, (images,), by the features (images, features)."""
        sums = (features - self.feature_mean) / self.feature_deviation @ self.weights
        return np.asarray(np.interp(sums, self.scale_from, self.scale_to))


def fit_rank_regression(features: Floats, labels: Floats, ridge: float) -> RankRegression:
    """Fit the regression and its curve.

    Args:
        features: (images, features).
        labels: (images,).
        ridge: Added to the diagonal of the products of the standardised features.

    Returns:
        The fitted regression.

    Example:
        >>> features = np.linspace(0, 1, 50)[:, None]
        >>> regression = fit_rank_regression(features, 2 * features[:, 0], ridge=1.0)
        >>> bool(np.all(np.diff(regression.scores(features)) > 0))
        True
    """
    mean, spread = features.mean(axis=0), features.std(axis=0)
    spread[spread < 1e-9] = 1.0  # what never varies has the weight 0
    scaled = (features - mean) / spread
    ranks = rankdata(labels) / len(labels) - 0.5
    weights = np.linalg.solve(scaled.T @ scaled + ridge * np.eye(scaled.shape[1]), scaled.T @ ranks)
    sums = scaled @ weights
    curve = _logistic_curve(sums, labels) or _line(sums, labels)
    scale_from = np.linspace(sums.min() - np.ptp(sums), sums.max() + np.ptp(sums), KNOTS)
    return RankRegression(mean, spread, weights, scale_from, curve(scale_from))


def _logistic_curve(sums: Floats, labels: Floats) -> Curve | None:
    """The logistic curve that fits best; none if that does not converge, or falls."""
    if len(labels) < FEWEST or np.ptp(sums) == 0 or np.ptp(labels) == 0:
        return None

    def errors(numbers: Floats) -> Floats:
        return _logistic(sums, *numbers) - labels

    def curve(values: Floats) -> Floats:
        return _logistic(values, *fit.x)

    start = (labels.min(), np.ptp(labels), 0.0, 4 / np.std(sums))
    fit = least_squares(errors, start, method="lm", max_nfev=10_000)
    _, height, _, slope = fit.x
    return curve if fit.success and np.isfinite(fit.x).all() and height * slope > 0 else None


def _line(sums: Floats, labels: Floats) -> Curve:
    centred = sums - sums.mean()
    slope = max(float(centred @ labels) / max(float(centred @ centred), 1e-12), 0.0)

    def line(values: Floats) -> Floats:
        return np.asarray(labels.mean() + slope * (values - sums.mean()))

    return line


def _logistic(sums: Floats, least: float, height: float, middle: float, slope: float) -> Floats:
    return np.asarray(least + height * expit(slope * (sums - middle)))
