"""How unlike the training images an image is, by a detector that is trained without opinions.

A logistic regression separates the training images from altered ones (small, enlarged, in few flat colours,
noisy, compressed, painted, softened, in lines) and from drawn ones (shapes, shaded and textured ones, running
colours). It sees the principal components of the training images; for each stage of the network, the logarithm of
the squared length of what the components leave over; and statistics of pixels
(:mod:`beholder.models.encoders.pixel_statistics`), as they are and, made uncorrelated, how far each and all
together are from their means (Mahalanobis' distance). Its score is scaled so that the median of held-out images is
0 and their 95 % quantile 1: above 1, an image is farther than 95 % of held-out images.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

from beholder.errors import WeightsError
from beholder.models.components import Components, components_and_residuals
from beholder.models.encoders.encoder import Vectors

Floats = NDArray[np.float64]
TENSORS = (
    "scales",
    "bounds",
    "centres",
    "units",
    "pixel_means",
    "pixel_deviations",
    "pixel_whitening",
    "weights",
)
NUMBERS = ("intercept", "median", "unit")
FARTHEST = 8.0
"""Standard deviations at which a statistic of pixels is clipped: an image without any detail has none of it, not
infinitely less."""


@dataclass(frozen=True, eq=False)
class ShiftDetector:
    """A logistic regression on columns and components of a head, and on the statistics of pixels after them."""

    scales: Floats  # (components,): standard deviation of the training images along each component
    bounds: NDArray[np.int64]  # (stages + 1,): the first column of each stage, and the end of the last
    centres: Floats  # (stages,): medians of the residuals over held-out images
    units: Floats  # (stages,): their 95 % quantiles less the medians
    pixel_means: Floats  # (statistics,): of the training images
    pixel_deviations: Floats  # (statistics,): their standard deviations
    pixel_whitening: Floats  # (statistics, statistics): from standardised statistics to uncorrelated ones
    weights: Floats  # (components + stages + 2 · statistics + 1,)
    intercept: float
    median: float
    """Of the score of the regression over held-out images."""
    unit: float
    """Its 95 % quantile less the median."""

    def shifts(self, components: Components, vectors: Vectors) -> Floats:
        """Return the shift of each vector, (images,); above 1: unlike the training images."""
        return np.asarray((self.scores(components, vectors) - self.median) / self.unit)

    def scores(self, components: Components, vectors: Vectors) -> Floats:
        """Return the score of the regression for each vector: the log-odds that it is altered. (images,)"""
        return np.asarray(self.features(components, vectors) @ self.weights + self.intercept)

    def features(self, components: Components, vectors: Vectors) -> Floats:
        """Return standardised components, residuals and pixel features: (images, features)."""
        points, residuals = components_and_residuals(components, self.bounds, vectors)
        return self.joined(points, residuals, vectors)

    def joined(self, points: Floats, residuals: Floats, vectors: Vectors) -> Floats:
        """Return the features of images whose components and residuals are these: (images, features)."""
        pixels = self.pixel_features(vectors[:, -len(self.pixel_means) :])
        return np.column_stack([points / self.scales, (residuals - self.centres) / self.units, pixels])

    def pixel_features(self, statistics: Vectors) -> Floats:
        """Return standardised statistics, the sizes of whitened ones, and the logarithm of the latter's length."""
        standardised = (statistics - self.pixel_means) / self.pixel_deviations
        whitened = standardised @ self.pixel_whitening.T
        length = mahalanobis_length(whitened)
        clipped = [np.clip(values, -FARTHEST, FARTHEST) for values in (standardised, np.abs(whitened))]
        return np.column_stack([*clipped, length])


def mahalanobis_length(whitened: Floats) -> Floats:
    """Return twice the logarithm of the mean square of whitened statistics (images, statistics): (images,).

    One is added to the sum, so that an image at the means is not infinitely near.
    """
    return np.asarray(2 * np.log(((whitened**2).sum(axis=1) + 1) / whitened.shape[1]))


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
    return detector_of(tensors, numbers), head


def detector_of(tensors: Mapping[str, Floats], numbers: Mapping[str, float]) -> ShiftDetector:
    """Return the detector of what a file holds, as ``TENSORS`` and ``NUMBERS`` name it."""
    return ShiftDetector(
        scales=tensors["scales"],
        bounds=tensors["bounds"].astype(np.int64),
        centres=tensors["centres"],
        units=tensors["units"],
        pixel_means=tensors["pixel_means"],
        pixel_deviations=tensors["pixel_deviations"],
        pixel_whitening=tensors["pixel_whitening"],
        weights=tensors["weights"],
        intercept=numbers["intercept"],
        median=numbers["median"],
        unit=numbers["unit"],
    )
