"""How unlike the training images of a trained model an image is, by distances alone.

Of the vectors of the model's frozen encoders: the mean distance to the nearest training images among their
principal components, and for each encoder the logarithm of the squared length of what the components leave over.
Of the statistics of pixels: the logarithm of their Mahalanobis distance; a model without encoders has these alone.
Each part is scaled so that the median of held-out images is 0 and their 95 % quantile 1, and the shift is the
largest part, divided by its own 95 % quantile: above 1, an image is farther than 95 % of held-out images.

Heads, components and statistics are those of :mod:`beholder.models.quality`; no altered images are needed.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from beholder.errors import WeightsError
from beholder.models.encoders.encoder import Vectors
from beholder.models.quality.head import TENSORS as HEAD_TENSORS
from beholder.models.quality.head import KernelHead, signed_roots
from beholder.models.quality.shift import components_and_residuals, mahalanobis_length
from beholder.tables.atomic import write_atomically

Floats = NDArray[np.float64]
COMPONENTS, NEIGHBOURS = 64, 5
RIDGE = 1e-3
"""Added to the variances of the statistics of pixels, some of which are nearly sums of others."""
HIGH = 0.95
FEWEST_HELD_OUT = 20
"""Held-out images below which there is no 95 % quantile to speak of."""
TENSORS = ("bounds", "pixel_means", "pixel_deviations", "pixel_whitening", "medians", "units", "unit")


@dataclass(frozen=True, eq=False)
class TrainingDistance:
    """The training images of a model, as far as distances to them need."""

    head: KernelHead | None
    """Components of the encoders' vectors, and the training images among these; ``None`` without encoders."""
    bounds: NDArray[np.int64]  # (encoders + 1,): the first column of each encoder, and the end of the last
    pixel_means: Floats  # (statistics,)
    pixel_deviations: Floats  # (statistics,)
    pixel_whitening: Floats  # (statistics, statistics)
    medians: Floats  # (parts,), of held-out images
    units: Floats  # (parts,): their 95 % quantiles less the medians
    unit: float
    """The 95 % quantile of the largest part of held-out images."""

    def shifts(self, vectors: Vectors) -> Floats:
        """Return the shift of each image, (images,); above 1: unlike the training images.

        ``vectors`` are those of the model's encoders side by side and, after them, the statistics of pixels.
        """
        return np.asarray(((self.parts(vectors) - self.medians) / self.units).max(axis=1) / self.unit)

    def parts(self, vectors: Vectors) -> Floats:
        """Return the distances by which an image can be unlike: (images, parts)."""
        statistics = vectors[:, -len(self.pixel_means) :].astype(np.float64)
        whitened = (statistics - self.pixel_means) / self.pixel_deviations @ self.pixel_whitening.T
        length = mahalanobis_length(whitened)[:, None]
        if self.head is None:
            return length
        residuals = components_and_residuals(self.head, self.bounds, vectors)[1]
        return np.column_stack([np.log(self.head.shifts(vectors) + 1e-9), residuals, length])


def fit_training_distance(trained: Vectors, held_out: Vectors, dims: tuple[int, ...]) -> TrainingDistance:
    """Return the distance to the images ``trained``, calibrated on images ``held_out``.

    Both are vectors of the encoders, which have so many ``dims`` each, and the statistics of pixels after them.
    """
    bounds = np.cumsum([0, *dims])
    statistics = trained[:, bounds[-1] :].astype(np.float64)
    means, spreads = statistics.mean(axis=0), np.maximum(statistics.std(axis=0), 1e-6)
    covariance = np.cov((statistics - means) / spreads, rowvar=False) + RIDGE * np.eye(len(means))
    parts = len(dims) + 2 if dims else 1
    distance = TrainingDistance(
        head=_fit_head(trained[:, : bounds[-1]]) if dims else None,
        bounds=bounds,
        pixel_means=means,
        pixel_deviations=spreads,
        pixel_whitening=np.linalg.inv(np.linalg.cholesky(covariance)),
        medians=np.zeros(parts),
        units=np.ones(parts),
        unit=1.0,
    )
    lengths = distance.parts(held_out)
    medians, highs = np.quantile(lengths, (0.5, HIGH), axis=0)
    units = np.maximum(highs - medians, 1e-6)
    largest = ((lengths - medians) / units).max(axis=1)
    unit = float(np.quantile(largest, HIGH, method="higher"))
    return TrainingDistance(
        distance.head, bounds, means, spreads, distance.pixel_whitening, medians, units, max(unit, 1e-6)
    )


def _fit_head(vectors: Vectors) -> KernelHead:
    """Principal components of the signed roots of vectors, by the Gram matrix: images are fewer than columns."""
    values = signed_roots(vectors)
    mean, spread = values.mean(axis=0), values.std(axis=0)
    spread[spread < 1e-6] = 1.0  # a column that never varies says nothing
    scaled = (values - mean) / spread
    count = max(min(COMPONENTS, len(vectors) // 2, vectors.shape[1] // 4), 1)  # something must be left over
    squares, directions = np.linalg.eigh(scaled @ scaled.T)
    lengths = np.sqrt(np.maximum(squares[::-1][:count], 1e-12))
    components = scaled.T @ directions[:, ::-1][:, :count] / lengths
    return KernelHead(
        columns=np.arange(vectors.shape[1]),
        mean=mean,
        standard_deviation=spread,
        components=components,
        centres=scaled @ components,
        coefficients=np.zeros(len(vectors)),
        gamma=0.0,
        intercept=0.0,
        neighbours=min(NEIGHBOURS, len(vectors)),
        shift_unit=1.0,
        conformal_width=0.0,
    )


def write_training_distance(path: Path, distance: TrainingDistance) -> None:
    """Write the distance as safetensors, in single precision."""
    tensors = {name: np.atleast_1d(np.asarray(getattr(distance, name), np.float32)) for name in TENSORS}
    if distance.head is not None:
        tensors |= {f"head.{name}": getattr(distance.head, name).astype(np.float32) for name in HEAD_TENSORS}
    with write_atomically(path) as file:
        file.write(save({name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()}))


def read_training_distance(path: Path) -> TrainingDistance:
    """Return the distance of a file; an error names one that cannot be read."""
    try:
        with safe_open(path, framework="numpy") as file:
            tensors = {name: file.get_tensor(name).astype(np.float64) for name in file.keys()}  # noqa: SIM118
        plain = {name: tensors[name] for name in TENSORS[1:-1]}
        unit, bounds = float(tensors["unit"][0]), tensors["bounds"].astype(np.int64)
        parts = {name: tensors[f"head.{name}"] for name in HEAD_TENSORS} if len(bounds) > 1 else {}
    except (OSError, SafetensorError, KeyError, IndexError) as error:
        raise WeightsError(f"{path}: no distances to training images that can be read ({error})") from error
    head = None
    if parts:
        parts["columns"] = parts["columns"].astype(np.int64)
        neighbours = min(NEIGHBOURS, len(parts["centres"]))
        head = KernelHead(
            **parts, gamma=0.0, intercept=0.0, neighbours=neighbours, shift_unit=1.0, conformal_width=0.0
        )
    return TrainingDistance(head=head, bounds=bounds, unit=unit, **plain)
