"""Authenticity: the share of generated images that do not look copied from a training image.

A generated image is called a copy if it is at least as near to its nearest training image as that one is to its
own nearest other training image. Alaa et al., "How faithful is your synthetic data?" (2022); AuthPct is this
times 100.
"""

from beholder.measure.distances.neighbours import Neighbours
from beholder.measure.distances.result import Distance
from beholder.measure.distances.shares import share


def authenticity(found: Neighbours, *, level: float = 0.95) -> Distance:
    """Return the share of authentic images; the real images have to be those trained on; higher is better."""
    authentic = found.closest_distance > found.real_nearest[found.closest]
    return share("authenticity", authentic, "generated", found, level)
