"""Fit the packaged head: kernel ridge regression on principal components, rounded as it is stored."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save_file

from beholder.models.components import signed_roots
from beholder.models.quality.head import NUMBERS, TENSORS, KernelHead

Floats = NDArray[np.float64]
MOMENTS = 4192
"""Columns of the first encoder."""


@dataclass(frozen=True, slots=True)
class HeadSettings:
    """What is chosen by cross-validation."""

    moments: int = 992
    """First columns of the moments: stem and six stages; the last stage and the head are left out."""
    details: int = 608
    """First columns of the details: all of them."""
    dims: int = 256
    """Principal components."""
    gamma: float = 1.0
    """Of the kernel, with distances divided by the root of the number of columns."""
    ridge: float = 0.1
    neighbours: int = 5


def fit_head(
    vectors: NDArray[np.float32],
    labels: Floats,
    settings: HeadSettings,
    *,
    shift_unit: float = 1.0,
    conformal_width: float = 0.0,
) -> KernelHead:
    """Fit the head; components and centres are rounded to half precision before the coefficients are fitted."""
    columns = np.concatenate([np.arange(settings.moments), MOMENTS + np.arange(settings.details)])
    values = signed_roots(vectors[:, columns])
    mean, standard_deviation = values.mean(axis=0), values.std(axis=0) + 1e-6
    mean, standard_deviation = (
        array.astype(np.float32).astype(np.float64) for array in (mean, standard_deviation)
    )
    scaled = (values - mean) / standard_deviation
    _, vectors_of_covariance = np.linalg.eigh(scaled.T @ scaled)
    components = _half(vectors_of_covariance[:, ::-1][:, : settings.dims])
    centres = _half(scaled @ components)
    gamma = settings.gamma / len(columns)
    squares = (centres**2).sum(axis=1)
    kernel = np.exp(-gamma * np.maximum(squares[:, None] + squares - 2 * centres @ centres.T, 0))
    intercept = float(labels.mean())
    coefficients = np.linalg.solve(kernel + settings.ridge * np.eye(len(labels)), labels - intercept)
    return KernelHead(
        columns=columns,
        mean=mean,
        standard_deviation=standard_deviation,
        components=components,
        centres=centres,
        coefficients=coefficients.astype(np.float32).astype(np.float64),
        gamma=gamma,
        intercept=intercept,
        neighbours=settings.neighbours,
        shift_unit=shift_unit,
        conformal_width=conformal_width,
    )


def write_head(path: Path, head: KernelHead, encoders: str) -> None:
    """Write a head, with the identities of its encoders."""
    half = ("components", "centres")
    kinds = {"columns": np.int32} | dict.fromkeys(half, np.float16)
    tensors = {
        name: np.ascontiguousarray(getattr(head, name).astype(kinds.get(name, np.float32))) for name in TENSORS
    }
    metadata = {name: repr(getattr(head, name)) for name in NUMBERS}
    save_file(tensors, path, {"encoders": encoders, "aspect": "quality", "data_set": "AGIQA-3K", **metadata})


def _half(array: Floats) -> Floats:
    return array.astype(np.float16).astype(np.float64)
