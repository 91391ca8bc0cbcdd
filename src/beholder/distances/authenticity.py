"""Authenticity: the proportion of generated images that do not look copied from a training image.

A generated image is called a copy if it is at least as near to its nearest training image as that one is to its
own nearest other training image. Alaa et al., "How faithful is your synthetic data?" (2022); AuthPct is this
times 100.
"""

from beholder.distances.neighbours import Neighbours
from beholder.distances.proportions import proportion_distance
from beholder.distances.result import Distance


def authenticity(neighbours: Neighbours, *, level: float = 0.95) -> Distance:
    """Return the proportion of authentic images; the real images must be the training images; higher is better."""
    authentic = neighbours.closest_distance > neighbours.real_nearest[neighbours.closest]
    return proportion_distance("authenticity", authentic, "generated", neighbours, level)
