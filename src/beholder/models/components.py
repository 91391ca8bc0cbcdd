"""Principal components of the signed roots of vectors, and what the components leave over."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from beholder.models.encoders.encoder import Vectors

Floats = NDArray[np.float64]


def signed_roots(vectors: NDArray[np.floating]) -> Floats:
    """sign(x)·√|x|, which tames the long tails of activations.

    Example:
        >>> signed_roots(np.array([[4.0, -9.0]])).tolist()
        [[2.0, -3.0]]
    """
    values = np.asarray(vectors, np.float64)
    return np.asarray(np.sign(values) * np.sqrt(np.abs(values)))


class Components(Protocol):
    """Components of some columns of vectors, standardised."""

    @property
    def columns(self) -> NDArray[np.int64]:
        """Which of the numbers of a vector are used, (columns,)."""
        ...

    @property
    def mean(self) -> Floats:
        """Of their signed roots, (columns,)."""
        ...

    @property
    def standard_deviation(self) -> Floats:
        """Of their signed roots, (columns,)."""
        ...

    @property
    def components(self) -> Floats:
        """(columns, dims)."""
        ...


@dataclass(frozen=True, eq=False)
class PrincipalComponents:
    """The first principal components of some columns."""

    columns: NDArray[np.int64]
    mean: Floats
    standard_deviation: Floats
    components: Floats


def fit_components(vectors: Vectors, count: int) -> PrincipalComponents:
    """Return the first components of all columns of ``vectors``, (images, columns).

    By the Gram matrix: images are fewer than columns. There are at most ``count``, half as many as images, and a
    quarter as many as columns, so that something is left over.
    """
    values = signed_roots(vectors)
    mean, spread = values.mean(axis=0), values.std(axis=0)
    spread[spread < 1e-6] = 1.0  # a column that never varies says nothing
    scaled = (values - mean) / spread
    count = min(count, len(vectors) // 2, vectors.shape[1] // 4)
    squares, directions = np.linalg.eigh(scaled @ scaled.T)
    lengths = np.sqrt(np.maximum(squares[::-1][:count], 1e-12))
    components = scaled.T @ directions[:, ::-1][:, :count] / lengths
    return PrincipalComponents(np.arange(vectors.shape[1]), mean, spread, components)


def components_and_residuals(
    components: Components, bounds: NDArray[np.int64], vectors: Vectors
) -> tuple[Floats, Floats]:
    """Return the components, and the logarithm of what they leave over of each group of columns.

    ``bounds`` are the first column of each group and the end of the last: (images, dims), (images, groups).
    """
    scaled = (signed_roots(vectors[:, components.columns]) - components.mean) / components.standard_deviation
    points = scaled @ components.components
    squares = (scaled - points @ components.components.T) ** 2
    return points, np.log(np.maximum(np.add.reduceat(squares, bounds[:-1], axis=1), 1e-6))
