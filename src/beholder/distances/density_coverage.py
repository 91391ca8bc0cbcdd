"""Density and coverage: precision and recall that are robust to single outliers.

Density is the mean number of real balls that contain a generated image, over k; it may exceed 1. Coverage is the
proportion of real images with a generated image in their ball. Naeem et al., "Reliable fidelity and diversity
metrics for generative models" (2020).
"""

import numpy as np

from beholder.distances.neighbours import Neighbours
from beholder.distances.proportions import proportion_distance
from beholder.distances.result import Distance, normal_quantile, standard_error


def density(neighbours: Neighbours, *, level: float = 0.95) -> Distance:
    """Return the mean number of real balls that contain a generated image, over k; higher is better."""
    counts = neighbours.balls / neighbours.k
    value, reach = float(np.mean(counts)), normal_quantile(level) * standard_error(counts)
    return Distance(
        name="density",
        value=value,
        low=max(0.0, value - reach),
        high=value + reach,
        level=level,
        method="normal over generated images, the others held fixed",
        real=len(neighbours.real_radius),
        generated=len(neighbours.generated_radius),
        dims=neighbours.dims,
        settings={"k": neighbours.k},
    )


def coverage(neighbours: Neighbours, *, level: float = 0.95) -> Distance:
    """Return the proportion of real images with a generated image in their ball; higher is better."""
    return proportion_distance("coverage", neighbours.covered, "real", neighbours, level)
