"""Luma less its local mean and divided by its local standard deviation: what natural scene statistics describe."""

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

SPREAD = 7 / 6
"""Standard deviation of the 7 × 7 window, in pixels."""


def normalised(y: NDArray[np.float64]) -> NDArray[np.float64]:
    """(y − local mean) / (local standard deviation + 1), with a Gaussian window of 7 × 7 pixels."""
    mean = _window(y)
    variance = _window(y * y)
    variance -= mean * mean
    np.maximum(variance, 0.0, out=variance)
    spread = np.sqrt(variance, out=variance)
    spread += 1
    return np.asarray(np.divide(np.subtract(y, mean, out=mean), spread, out=mean))


def _window(y: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(ndimage.gaussian_filter(y, SPREAD, mode="nearest", radius=3))
