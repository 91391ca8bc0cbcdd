"""Saturation: how far pixels are from grey in the HSV colour model."""

import numpy as np

from beholder.scorers.planes import Planes


def saturation(planes: Planes) -> float:
    """Mean over pixels of (max − min)/max of their channels; 0 for black."""
    most, least = planes.channels.max(axis=0), planes.channels.min(axis=0)
    return float(np.mean((most - least).astype(np.float64) / np.maximum(most, 1)))
