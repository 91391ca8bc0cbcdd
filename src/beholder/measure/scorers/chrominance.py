"""Chrominance statistics: mean and spread of the distance from grey in the Cb–Cr plane.

HPS v2 plots these over generators, to see whether a scorer that likes one of them only likes its colours.
"""

import numpy as np
from numpy.typing import NDArray

from beholder.measure.scorers.luminance import luma
from beholder.measure.scorers.scorer import Pixels


def chroma(pixels: Pixels) -> NDArray[np.float64]:
    """√(Cb² + Cr²) of each pixel, with Cb = 0.564 (B − Y) and Cr = 0.713 (R − Y) as in BT.601: (height, width)."""
    y = luma(pixels)
    return np.asarray(np.hypot((pixels[..., 2] - y) * 0.5 / (1 - 0.114), (pixels[..., 0] - y) * 0.5 / (1 - 0.299)))


def chroma_mean(pixels: Pixels) -> float:
    """Mean chroma, in levels of 255."""
    return float(np.mean(chroma(pixels)))


def chroma_spread(pixels: Pixels) -> float:
    """Standard deviation of chroma over the image, in levels of 255."""
    return float(np.std(chroma(pixels)))
