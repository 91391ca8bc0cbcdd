"""Natural scene statistics: the features of BRISQUE (Mittal, Moorthy and Bovik 2012), without its regression.

In photographs, luma less its local mean and divided by its local standard deviation follows a generalised
Gaussian. Distortions change its shape: noise brings it to 2 and above, blur and compression below that. BRISQUE
feeds 36 such numbers to a regression trained on people's scores of distorted photographs. That regression is not
included, so none of these numbers is a quality score: they say how an image differs from photographs, not whether
it is bad.
"""

from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy import special

from beholder.scorers.normalised_luma import normalised
from beholder.scorers.planes import Planes

FLAT = 1e-20
"""A variance below this is rounding: the image is flat."""

SHIFTS = ((0, 1), (1, 0), (1, 1), (1, -1))
"""Neighbours: right, below, below right, below left."""

Field = NDArray[np.float64]


def shape(planes: Planes) -> float:
    """Shape of the normalised luma: 2 for a Gaussian, 1 for a Laplacian; BRISQUE's first feature."""
    return generalised_gaussian(planes.normalised)[0]


def spread(planes: Planes) -> float:
    """Variance of the normalised luma: BRISQUE's second feature."""
    return generalised_gaussian(planes.normalised)[1]


def features(planes: Planes) -> NDArray[np.float64]:
    """The 36 features: at full and at half size, shape and variance, then four numbers for each neighbour.

    Those four describe the products of neighbouring pixels: shape, mean, and the variances left and right of 0.
    """
    full = planes.luma
    values: list[float] = []
    for scale in (full, _half(full)):
        field = normalised(scale)
        values += generalised_gaussian(field)
        for down, right in SHIFTS:
            values += asymmetric_gaussian(field * np.roll(field, (-down, -right), (0, 1)))
    return np.array(values)


def generalised_gaussian(values: Field) -> tuple[float, float]:
    """Shape and variance of the generalised Gaussian with these moments (Sharifi and Leon-Garcia 1995).

    The shape α solves Γ(2/α)² / (Γ(1/α) Γ(3/α)) = (E|x|)²/E x². Values that are all 0 have the largest shape.
    """
    variance, size = float(np.mean(values**2)), float(np.mean(np.abs(values)))
    return _shape_of(size**2 / variance if variance > FLAT else 1.0), variance


def asymmetric_gaussian(values: Field) -> tuple[float, float, float, float]:
    """Shape, mean, left and right variance of the asymmetric generalised Gaussian (Lasmar et al. 2009)."""
    left, right = values[values < 0], values[values > 0]
    below = float(np.sqrt(np.mean(left**2))) if left.size else 0.0
    above = float(np.sqrt(np.mean(right**2))) if right.size else 0.0
    variance = float(np.mean(values**2))
    if variance <= FLAT:
        return _shape_of(1.0), 0.0, 0.0, 0.0
    lean = below / above if above > 0 else np.inf
    skewed = 1.0 if np.isinf(lean) else (lean**3 + 1) * (lean + 1) / (lean**2 + 1) ** 2
    alpha = _shape_of(float(np.mean(np.abs(values))) ** 2 / variance * skewed)
    scale = np.exp((special.gammaln(1 / alpha) - special.gammaln(3 / alpha)) / 2)
    mean = (above - below) * scale * np.exp(special.gammaln(2 / alpha) - special.gammaln(1 / alpha))
    return alpha, float(mean), below**2, above**2


def _shape_of(ratio: float) -> float:
    """The shape with that ratio of moments, from 0.2 to 10 in steps of 0.001."""
    shapes, ratios = _ratios()
    return float(shapes[min(int(np.searchsorted(ratios, ratio)), len(shapes) - 1)])


@cache
def _ratios() -> tuple[Field, Field]:
    """Shapes, and Γ(2/α)² / (Γ(1/α) Γ(3/α)) of each, which grows with the shape."""
    shapes = np.arange(0.2, 10.001, 0.001)
    log = 2 * special.gammaln(2 / shapes) - special.gammaln(1 / shapes) - special.gammaln(3 / shapes)
    return shapes, np.exp(log)


def _half(y: Field) -> Field:
    """Half the size, by means of 2 × 2 pixels; an odd last row or column is left out, one alone is kept."""
    if min(y.shape) < 2:
        return y
    even = y[: y.shape[0] // 2 * 2, : y.shape[1] // 2 * 2]
    return np.asarray((even[::2, ::2] + even[1::2, ::2] + even[::2, 1::2] + even[1::2, 1::2]) / 4)
