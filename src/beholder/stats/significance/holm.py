"""Holm's step-down adjustment of several p-values."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from beholder.errors import StatisticsError


def holm(p_values: ArrayLike) -> NDArray[np.float64]:
    """Return Holm-adjusted p-values in the given order; nan stays nan and is not counted as a test.

    With p₍₁₎ ≤ … ≤ p₍ₘ₎: adjusted p₍ᵢ₎ = max over j ≤ i of min(1, (m − j + 1) p₍ⱼ₎). Rejecting where the
    adjusted value is at most α keeps the chance of any false rejection at most α, however the tests depend.
    """
    p = np.asarray(p_values, np.float64)
    tested = p[~np.isnan(p)]
    if p.ndim != 1 or np.any((tested < 0) | (tested > 1)):
        raise StatisticsError("Holm's adjustment needs a one-dimensional array of p-values in [0, 1]")
    order = np.argsort(tested, kind="stable")
    factors = np.arange(len(tested), 0, -1)  # m, m − 1, …, 1
    stepped = np.maximum.accumulate(np.minimum(1.0, factors * tested[order]))
    adjusted = np.full(p.shape, np.nan)
    in_order = np.empty_like(tested)
    in_order[order] = stepped
    adjusted[~np.isnan(p)] = in_order
    return adjusted
