"""Split-conformal prediction intervals: how far a prediction may be off, from its errors on held-out cases."""

import math

import numpy as np
from numpy.typing import ArrayLike

from beholder.errors import StatisticsError


def conformal_width(errors: ArrayLike, *, level: float = 0.95) -> float:
    """Return q such that prediction ± q covers a new case with a chance of at least ``level``.

    ``errors`` are predictions minus outcomes of n cases that the model was not fitted on. q is the
    ⌈level · (n + 1)⌉-th smallest of their sizes (Vovk et al. 2005); infinite where n is too small for the level.
    The new case must be exchangeable with those.
    """
    sizes = np.sort(np.abs(np.asarray(errors, np.float64)))
    if sizes.ndim != 1 or not len(sizes) or not np.all(np.isfinite(sizes)):
        raise StatisticsError(f"a conformal width needs finite errors, one per case; found shape {sizes.shape}")
    if not 0 < level < 1:
        raise StatisticsError(f"an interval needs a level between 0 and 1; found {level}")
    rank = math.ceil(level * (len(sizes) + 1) - 1e-9)  # level · (n + 1) may be whole but for rounding
    return float(sizes[rank - 1]) if rank <= len(sizes) else math.inf
