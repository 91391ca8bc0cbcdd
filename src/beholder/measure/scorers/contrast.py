"""Contrast: the spread of luma over the image (RMS contrast)."""

import numpy as np

from beholder.measure.scorers.luminance import luma
from beholder.measure.scorers.scorer import Pixels


def contrast(pixels: Pixels) -> float:
    """Standard deviation of luma, divided by its range: 0 to ½."""
    return float(np.std(luma(pixels)) / 255)
