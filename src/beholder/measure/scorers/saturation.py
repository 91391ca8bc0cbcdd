"""Saturation: how far pixels are from grey in the HSV colour model."""

import numpy as np

from beholder.measure.scorers.scorer import Pixels


def saturation(pixels: Pixels) -> float:
    """Mean over pixels of (max − min)/max of their channels; 0 for black."""
    most, least = pixels.max(axis=2).astype(np.float64), pixels.min(axis=2).astype(np.float64)
    return float(np.mean((most - least) / np.maximum(most, 1.0)))
