"""Sharpness: the variance of the Laplacian of luma. Blur lowers it; noise raises it."""

import numpy as np

from beholder.scorers.planes import Planes


def sharpness(planes: Planes) -> float:
    """Variance over the inner pixels of: left + right + above + below − 4 × itself; 0 under 3 × 3 pixels."""
    y = planes.luma
    if min(y.shape) < 3:
        return 0.0
    laplacian = y[:-2, 1:-1] + y[2:, 1:-1]
    laplacian += y[1:-1, :-2]
    laplacian += y[1:-1, 2:]
    laplacian -= 4 * y[1:-1, 1:-1]
    return float(np.var(laplacian))
