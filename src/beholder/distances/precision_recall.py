"""Precision and recall: the proportion of one set that lies within the k-nearest-neighbour balls of the other.

Precision is the proportion of generated images in a ball of a real image, recall that of real images in a ball of
a generated image. Kynkäänniemi et al., "Improved precision and recall metric for assessing generative models"
(2019).
"""

from beholder.distances.neighbours import Neighbours
from beholder.distances.proportions import proportion_distance
from beholder.distances.result import Distance


def precision(neighbours: Neighbours, *, level: float = 0.95) -> Distance:
    """Return the proportion of generated images that lie in the ball of a real image; higher is better."""
    return proportion_distance("precision", neighbours.balls > 0, "generated", neighbours, level)


def recall(neighbours: Neighbours, *, level: float = 0.95) -> Distance:
    """Return the proportion of real images that lie in the ball of a generated image; higher is better."""
    return proportion_distance("recall", neighbours.recalled, "real", neighbours, level)
