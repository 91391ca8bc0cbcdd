"""Density and coverage: precision and recall that one outlier cannot inflate.

Density is the mean number of real balls a generated image lies in, over k; it may exceed 1. Coverage is the
share of real images with a generated image in their ball. Naeem et al., "Reliable fidelity and diversity metrics
for generative models" (2020).
"""

import numpy as np

from beholder.measure.distances.neighbours import Neighbours
from beholder.measure.distances.result import Distance, normal_quantile, standard_error
from beholder.measure.distances.shares import share


def density(found: Neighbours, *, level: float = 0.95) -> Distance:
    """Return the mean number of real balls a generated image lies in, over k; higher is better."""
    counts = found.balls / found.k
    value, reach = float(np.mean(counts)), normal_quantile(level) * standard_error(counts)
    return Distance(
        name="density",
        value=value,
        low=max(0.0, value - reach),
        high=value + reach,
        level=level,
        method="normal over generated images, the others held fixed",
        real=len(found.real_radius),
        generated=len(found.generated_radius),
        dims=found.dims,
        settings={"k": found.k},
    )


def coverage(found: Neighbours, *, level: float = 0.95) -> Distance:
    """Return the share of real images with a generated image in their ball; higher is better."""
    return share("coverage", found.covered, "real", found, level)
