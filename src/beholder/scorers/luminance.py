"""Luma of an image (ITU-R BT.601), from which sharpness, contrast and other scores are computed."""

import numpy as np
from numpy.typing import NDArray

WEIGHTS = (0.299, 0.587, 0.114)


def luma(pixels: NDArray[np.uint8]) -> NDArray[np.float64]:
    """0.299 R + 0.587 G + 0.114 B, from 0 to 255: (height, width)."""
    return np.asarray(pixels.astype(np.float64) @ np.array(WEIGHTS))
