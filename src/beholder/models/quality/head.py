"""Kernel ridge regression on an encoder's vectors, as a head small enough to be packaged.

With z(x) the standardised signed roots of the vector's columns, and P their first principal components:

    score(x) = b + Σᵢ αᵢ exp(−γ |P z(x) − cᵢ|²)

The centres cᵢ are the training images. How far x is from the nearest of them says whether the score is an
extrapolation: ``shift`` is that distance divided by the one that 95 % of held-out images stay below.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

from beholder.errors import WeightsError
from beholder.models.components import signed_roots
from beholder.models.encoders.encoder import Vectors

TENSORS = ("columns", "mean", "standard_deviation", "components", "centres", "coefficients")
NUMBERS = ("gamma", "intercept", "neighbours", "shift_unit", "conformal_width")
"""What a file of a head holds, as tensors and as numbers in its metadata."""


@dataclass(frozen=True, eq=False)
class KernelHead:
    """A kernel ridge regression on some columns of vectors."""

    columns: NDArray[np.int64]  # (columns,)
    """Which of the numbers of a vector are used."""
    mean: NDArray[np.float64]  # (columns,)
    standard_deviation: NDArray[np.float64]  # (columns,)
    components: NDArray[np.float64]  # (columns, dims)
    centres: NDArray[np.float64]  # (training images, dims)
    coefficients: NDArray[np.float64]  # (training images,)
    gamma: float
    intercept: float
    neighbours: int
    """The nearest centres whose mean distance is the shift."""
    shift_unit: float
    """The mean distance that 95 % of held-out images stay below."""
    conformal_width: float
    """95 % of held-out images were scored within this of raters' mean."""

    def scores(self, vectors: Vectors) -> NDArray[np.float64]:
        """Return the score of each vector: (images,)."""
        kernel = np.exp(-self.gamma * self._squared_distances(vectors))
        return np.asarray(self.intercept + kernel @ self.coefficients)

    def shifts(self, vectors: Vectors) -> NDArray[np.float64]:
        """Return the distance of each vector to the nearest centres; above 1: unlike them. (images,)"""
        nearest = np.partition(self._squared_distances(vectors), self.neighbours - 1, axis=1)[:, : self.neighbours]
        return np.asarray(np.sqrt(nearest).mean(axis=1) / self.shift_unit)

    def refitted(self, coefficients: NDArray[np.float64], intercept: float) -> "KernelHead":
        """The head of another opinion with the same centres."""
        return replace(self, coefficients=coefficients, intercept=intercept)

    def _squared_distances(self, vectors: Vectors) -> NDArray[np.float64]:
        """To every centre: (images, training images)."""
        points = (signed_roots(vectors[:, self.columns]) - self.mean) / self.standard_deviation @ self.components
        squares = (points**2).sum(axis=1)[:, None] + (self.centres**2).sum(axis=1)
        return np.asarray(np.maximum(squares - 2 * points @ self.centres.T, 0.0))


def read_head(path: Path) -> tuple[KernelHead, Mapping[str, str]]:
    """Return the head of a safetensors file, and the metadata of the file."""
    try:
        with safe_open(path, framework="numpy") as file:
            metadata: dict[str, str] = file.metadata() or {}
            tensors = {name: file.get_tensor(name).astype(np.float64) for name in TENSORS}
        numbers = {name: float(metadata[name]) for name in NUMBERS}
    except (OSError, SafetensorError, KeyError, ValueError) as error:
        raise WeightsError(f"{path}: not a head that can be read ({error})") from error
    head = KernelHead(
        columns=tensors["columns"].astype(np.int64),
        mean=tensors["mean"],
        standard_deviation=tensors["standard_deviation"],
        components=tensors["components"],
        centres=tensors["centres"],
        coefficients=tensors["coefficients"],
        gamma=numbers["gamma"],
        intercept=numbers["intercept"],
        neighbours=int(numbers["neighbours"]),
        shift_unit=numbers["shift_unit"],
        conformal_width=numbers["conformal_width"],
    )
    return head, metadata
