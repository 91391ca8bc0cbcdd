"""Precision and recall: which share of one set lies within the k-nearest-neighbour balls of the other.

Precision is the share of generated images in a ball of a real image, recall the share of real images in a ball
of a generated one. Kynkäänniemi et al., "Improved precision and recall metric for assessing generative models"
(2019).
"""

from beholder.measure.distances.neighbours import Neighbours
from beholder.measure.distances.result import Distance
from beholder.measure.distances.shares import share


def precision(found: Neighbours, *, level: float = 0.95) -> Distance:
    """Return the share of generated images that lie in the ball of a real image; higher is better."""
    return share("precision", found.balls > 0, "generated", found, level)


def recall(found: Neighbours, *, level: float = 0.95) -> Distance:
    """Return the share of real images that lie in the ball of a generated image; higher is better."""
    return share("recall", found.recalled, "real", found, level)
