"""Brightness: the mean of luma."""

import numpy as np

from beholder.measure.scorers.luminance import luma
from beholder.measure.scorers.scorer import Pixels


def brightness(pixels: Pixels) -> float:
    """Mean luma, divided by its range: 0 to 1."""
    return float(np.mean(luma(pixels)) / 255)
