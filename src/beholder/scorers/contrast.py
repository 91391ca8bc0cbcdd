"""Contrast: the spread of luma over the image (RMS contrast)."""

import numpy as np

from beholder.scorers.planes import Planes


def contrast(planes: Planes) -> float:
    """Standard deviation of luma, divided by its range: 0 to ½."""
    return float(np.std(planes.luma) / 255)
