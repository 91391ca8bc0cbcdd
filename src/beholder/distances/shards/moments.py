"""Means and covariances of shards, which merge to those of the set.

Of two sets with n₁ and n₂ images, means μ₁ and μ₂ and products M = Σ (x − μ)(x − μ)ᵀ, the union has

    μ = μ₁ + δ n₂/n,    M = M₁ + M₂ + δδᵀ n₁n₂/n,    δ = μ₂ − μ₁,    n = n₁ + n₂.

Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm for computing sample variances" (1979).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from beholder.distances.features import Features, checked
from beholder.distances.frechet import Moments, add_products, centred_blocks, mirrored


@dataclass(frozen=True, eq=False)
class SetMoments:
    """The number of images of a set, their mean and the products about it; they merge."""

    images: int
    mean: NDArray[np.float64]  # (dims,)
    products: NDArray[np.float64]  # (dims, dims) Σ (x − μ)(x − μ)ᵀ

    def merged(self, other: "SetMoments") -> "SetMoments":
        """Return the moments of both sets together."""
        if self.images == 0 or other.images == 0:
            return other if self.images == 0 else self
        images = self.images + other.images
        shift = other.mean - self.mean
        products = self.products + other.products
        products += np.outer(shift, shift) * (self.images * other.images / images)
        return SetMoments(images, self.mean + shift * (other.images / images), products)

    def moments(self) -> Moments:
        """Return mean and covariance; no covariance where there are no more images than dims."""
        covariance = self.products / (self.images - 1)
        full = self.images > len(self.mean)
        return Moments(self.mean, float(np.trace(covariance)), covariance if full else None)


def shard_moments(features: Features) -> SetMoments:
    """Return the moments of the features of a shard."""
    vectors = checked("moments", "shard's", features, least=0)
    dims = vectors.shape[1]
    if len(vectors) == 0:
        return SetMoments(0, np.zeros(dims), np.zeros((dims, dims)))
    mean = vectors.mean(axis=0, dtype=np.float64)
    products = np.zeros((dims, dims), order="F")
    for block in centred_blocks(vectors, mean):
        products = add_products(products, block)
    return SetMoments(len(vectors), mean, mirrored(products))


def merge(parts: Iterable[SetMoments]) -> SetMoments:
    """Return the moments of all sets together; no more than one of the parts is held at a time."""
    return reduce(SetMoments.merged, parts)


def shard_triangle(features: Features, mean: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return an R of at most (dims, dims) with RᵀR = Σ (x − μ)(x − μ)ᵀ over the shard, without squaring."""
    centred = np.asarray(features, np.float64) - mean
    return triangle_of(centred)


def triangle_of(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the rows themselves, or the triangle of their QR decomposition where it is smaller."""
    images, dims = rows.shape
    if images <= dims:
        return rows
    return np.asarray(linalg.qr(rows, mode="r", check_finite=False)[0][:dims], np.float64)
