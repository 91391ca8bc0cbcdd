"""Brightness: the mean of luma."""

import numpy as np

from beholder.scorers.planes import Planes


def brightness(planes: Planes) -> float:
    """Mean luma, divided by its range: 0 to 1."""
    return float(np.mean(planes.luma) / 255)
