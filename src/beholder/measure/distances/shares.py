"""Shares of images as distances, with Wilson's interval over the images counted."""

import numpy as np
from numpy.typing import NDArray

from beholder.measure.distances.neighbours import Neighbours
from beholder.measure.distances.result import Distance
from beholder.stats.intervals.proportions import wilson


def share(name: str, hits: NDArray[np.bool_], over: str, found: Neighbours, level: float) -> Distance:
    """The share of ``hits``; the interval is over those images, with the neighbours of the others held fixed."""
    low, high = wilson(hits.sum(), len(hits), level)
    return Distance(
        name=name,
        value=float(hits.mean()),
        low=float(low),
        high=float(high),
        level=level,
        method=f"Wilson over {over} images, the others held fixed",
        real=len(found.real_radius),
        generated=len(found.generated_radius),
        dims=found.dims,
        settings={"k": found.k},
    )
