"""Chrominance statistics: mean and spread of the distance from grey in the Cb–Cr plane.

HPS v2 plots these over generators, to see whether a scorer that likes one of them only likes its colours.
"""

import numpy as np

from beholder.scorers.planes import Planes


def chroma_mean(planes: Planes) -> float:
    """Mean chroma, in levels of 255."""
    return float(np.mean(planes.chroma))


def chroma_spread(planes: Planes) -> float:
    """Standard deviation of chroma over the image, in levels of 255."""
    return float(np.std(planes.chroma))
