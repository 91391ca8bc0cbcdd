"""Proportions of images as distances, with Wilson's confidence interval over the images counted."""

import numpy as np
from numpy.typing import NDArray

from beholder.distances.neighbours import Neighbours
from beholder.distances.result import Distance
from beholder.stats.intervals.proportions import wilson


def proportion_distance(
    name: str, hits: NDArray[np.bool_], over: str, neighbours: Neighbours, level: float
) -> Distance:
    """The proportion of ``hits``, with a confidence interval over those images, given the neighbourhoods."""
    low, high = wilson(hits.sum(), len(hits), level)
    return Distance(
        name=name,
        value=float(hits.mean()),
        low=float(low),
        high=float(high),
        level=level,
        method=f"Wilson over {over} images, the others held fixed",
        real=len(neighbours.real_radius),
        generated=len(neighbours.generated_radius),
        dims=neighbours.dims,
        settings={"k": neighbours.k},
    )
