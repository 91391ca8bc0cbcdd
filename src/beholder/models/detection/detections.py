"""What a detector finds in an image, without boxes that overlap a better one of their class."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

LEAST, OVERLAP = 0.05, 0.45
"""Least confidence of a box, and the overlap from which it is dropped."""
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Detections:
    """The boxes that remain in one image, the most confident first."""

    confidences: Floats  # (boxes,)
    classes: NDArray[np.int64]  # (boxes,)
    boxes: Floats  # (boxes, 4): left, top, right, bottom


def suppress(boxes: torch.Tensor, confidences: torch.Tensor) -> Detections:
    """Boxes (boxes, 4) of each class whose confidences (boxes, classes) are enough, without overlapping ones."""
    rows, classes = (indices.numpy() for indices in torch.nonzero(confidences > LEAST, as_tuple=True))
    scores, places = confidences.double().numpy()[rows, classes], boxes.double().numpy()[rows]
    remaining: list[int] = []
    for index in np.argsort(-scores, kind="stable"):
        rivals = [other for other in remaining if classes[other] == classes[index]]
        if not rivals or overlaps(places[index], places[rivals]).max() < OVERLAP:
            remaining.append(int(index))
    return Detections(scores[remaining], classes[remaining], places[remaining])


def overlaps(box: Floats, others: Floats) -> Floats:
    """Intersection over union of a box with others.

    Example:
        >>> overlaps(np.array([0.0, 0, 2, 2]), np.array([[1.0, 0, 3, 2], [2, 2, 3, 3]])).round(3).tolist()
        [0.333, 0.0]
    """
    sides = np.minimum(box[2:], others[:, 2:]) - np.maximum(box[:2], others[:, :2])
    shared = np.maximum(sides, 0).prod(axis=1)
    areas = (others[:, 2:] - others[:, :2]).prod(axis=1)
    return np.asarray(shared / np.maximum((box[2:] - box[:2]).prod() + areas - shared, 1e-12))
