"""How unlike the training images an image is, by two detectors that are trained without opinions.

*Residual*: the logarithm of the squared length of what principal components of the training images leave over.
*Exposure*: a logistic regression that separates the training images from altered ones (at 24 to 64 px, in few flat
colours, noisy) and from drawn shapes, by the components and the residual. Each is scaled so that the median of
held-out images is 0 and their 95 % quantile 1. The shift is the larger of the two, divided by the same quantile of
it: above 1, an image is farther than 95 % of held-out images.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

from beholder.errors import WeightsError
from beholder.models.encoders.encoder import Vectors
from beholder.models.quality.head import KernelHead, signed_roots

Floats = NDArray[np.float64]
TENSORS = ("scales", "weights", "centres", "units")
NUMBERS = ("intercept", "threshold")


@dataclass(frozen=True, eq=False)
class ShiftDetector:
    """The two detectors, on the columns and components of a head."""

    scales: Floats  # (components,): standard deviation of the training images along each component
    weights: Floats  # (components + 1,), of the logistic regression
    intercept: float
    centres: Floats  # (2,), medians of residual and exposure over held-out images
    units: Floats  # (2,), their 95 % quantiles less the medians
    threshold: float
    """The 95 % quantile of the larger of the two."""

    def shifts(self, head: KernelHead, vectors: Vectors) -> Floats:
        """Return the shift of each vector, (images,); above 1: unlike the training images."""
        features = shift_features(head, self.scales, vectors)
        both = np.column_stack([features[:, -1], features @ self.weights + self.intercept])
        return np.asarray(((both - self.centres) / self.units).max(axis=1) / self.threshold)


def shift_features(head: KernelHead, scales: Floats, vectors: Vectors) -> Floats:
    """Return standardised components, and the logarithm of the residual: (images, components + 1)."""
    scaled = (signed_roots(vectors[:, head.columns]) - head.mean) / head.standard_deviation
    points = scaled @ head.components
    residual = np.maximum((scaled**2).sum(axis=1) - (points**2).sum(axis=1), 1e-6)
    return np.column_stack([points / scales, np.log(residual)])


def read_shift_detector(path: Path) -> tuple[ShiftDetector, str]:
    """Return the detector of a safetensors file, and the hash of the head's file that it belongs to."""
    try:
        with safe_open(path, framework="numpy") as file:
            metadata: dict[str, str] = file.metadata() or {}
            tensors = {name: file.get_tensor(name).astype(np.float64) for name in TENSORS}
        numbers = {name: float(metadata[name]) for name in NUMBERS}
        head = metadata["head"]
    except (OSError, SafetensorError, KeyError, ValueError) as error:
        raise WeightsError(f"{path}: not a detector of shifts that can be read ({error})") from error
    detector = ShiftDetector(
        scales=tensors["scales"],
        weights=tensors["weights"],
        centres=tensors["centres"],
        units=tensors["units"],
        intercept=numbers["intercept"],
        threshold=numbers["threshold"],
    )
    return detector, head
