"""Fréchet distance of two sets of features, each modelled as a normal distribution.

FD = |μ₁ − μ₂|² + tr Σ₁ + tr Σ₂ − 2 tr (Σ₁Σ₂)^½        (FID, where the features are Inception's)

Σ₁Σ₂ is not symmetric, and its matrix root is slow. But with Σ₁ = L Lᵀ it has the eigenvalues of the symmetric
LᵀΣ₂L, and the trace is the sum of their roots. Where a covariance is singular up to rounding, or there are fewer
images than dims, roots of eigenvalues near 0 would lose half of the digits; the trace then comes from the singular
values of F₁F₂ᵀ, with FᵀF = Σ: F is the centred features themselves, or the triangle of their QR decomposition.
Heusel et al., "GANs trained by a two time-scale update rule converge to a local Nash equilibrium" (2017).
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg

from beholder.distances.features import Features, checked_pair
from beholder.distances.result import JACKKNIFE, Distance, normal_quantile, standard_error

ROWS = 2048  # images converted to double precision at a time
_UNIQUE = 1e-11  # least proportion of a feature's variance that earlier features do not explain; less is rounding
_EPSILON = float(np.finfo(np.float64).eps)


def frechet(real: ArrayLike, generated: ArrayLike, *, level: float = 0.95) -> Distance:
    """Return the Fréchet distance of two sets of features; 0 for identical sets, lower is better.

    The influence of a real image x on FD is 2(μ₁−μ₂)·(x−μ₁) + (x−μ₁)ᵀ(I − T)(x−μ₁), with T the linear map that
    transports one normal distribution to the other; that of a generated image is the same with the sets exchanged.
    """
    z = normal_quantile(level)
    real_features, generated_features = checked_pair("Fréchet distance", real, generated)
    real_moments, generated_moments = moments(real_features), moments(generated_features)
    shift = real_moments.mean - generated_moments.mean
    stretches = _stretches(real_features, generated_features, real_moments, generated_moments)
    value = combined(real_moments, generated_moments, stretches.root_trace)
    error = standard_error(
        influence(real_features, real_moments.mean, shift, stretches.first),
        influence(generated_features, generated_moments.mean, -shift, stretches.second),
    )
    return Distance(
        name="frechet",
        value=value,
        low=max(0.0, value - z * error),
        high=value + z * error,
        level=level,
        method=JACKKNIFE,
        real=len(real_features),
        generated=len(generated_features),
        dims=real_features.shape[1],
    )


def frechet_value(real: ArrayLike, generated: ArrayLike) -> float:
    """Return the distance alone, in about a third of the time that it takes with its confidence interval."""
    real_features, generated_features = checked_pair("Fréchet distance", real, generated)
    real_moments, generated_moments = moments(real_features), moments(generated_features)
    root_trace = _symmetric_trace(real_moments.covariance, generated_moments.covariance)
    if root_trace is None:
        root_trace = _singular_trace(real_features, generated_features, real_moments, generated_moments)
    return combined(real_moments, generated_moments, root_trace)


def frechet_of_moments(
    real_mean: ArrayLike, real_covariance: ArrayLike, generated_mean: ArrayLike, generated_covariance: ArrayLike
) -> float:
    """Return the distance of two means and covariances, such as published ones of a reference set."""
    covariances = [np.asarray(each, np.float64) for each in (real_covariance, generated_covariance)]
    means = [np.asarray(each, np.float64) for each in (real_mean, generated_mean)]
    first, second = (
        Moments(mean, float(np.trace(covariance)), covariance)
        for mean, covariance in zip(means, covariances, strict=True)
    )
    root_trace = _symmetric_trace(*covariances)
    if root_trace is None:
        halves = [_symmetric_root(covariance) for covariance in covariances]
        root_trace = float(linalg.svdvals(halves[0] @ halves[1].T, check_finite=False).sum())
    return combined(first, second, root_trace)


@dataclass(frozen=True, eq=False)
class Moments:
    """Mean and covariance (unbiased) of a set; no covariance where there are no more images than dims."""

    mean: NDArray[np.float64]  # (dims,)
    spread: float  # trace of the covariance
    covariance: NDArray[np.float64] | None  # (dims, dims)


def moments(vectors: Features) -> Moments:
    """Return the moments of a set, summed in double precision about the mean."""
    images, dims = vectors.shape
    mean = vectors.mean(axis=0, dtype=np.float64)
    if images <= dims:
        spread = sum(float(np.square(block).sum()) for block in centred_blocks(vectors, mean))
        return Moments(mean, spread / (images - 1), None)
    products = np.zeros((dims, dims), order="F")
    for block in centred_blocks(vectors, mean):
        products = add_products(products, block)
    covariance = mirrored(products) / (images - 1)
    return Moments(mean, float(np.trace(covariance)), covariance)


def centred_blocks(
    vectors: Features, mean: NDArray[np.float64], room: NDArray[np.float64] | None = None
) -> Iterator[NDArray[np.float64]]:
    """Blocks of the set less the mean; each overwrites the one before, in ``room`` if that is given."""
    room = np.empty((min(ROWS, len(vectors)), vectors.shape[1])) if room is None else room
    for start in range(0, len(vectors), ROWS):
        portion = vectors[start : start + ROWS]
        yield np.subtract(portion, mean, out=room[: len(portion)])


def add_products(upper: NDArray[np.float64], block: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the upper triangle of ``upper`` + blockᵀ block, overwriting ``upper`` (in Fortran order).

    SciPy has a BLAS of its own besides NumPy's, and the threads of one spin while the other works: so everything
    between two eigenvalue problems uses SciPy's.
    """
    return np.asarray(linalg.blas.dsyrk(1.0, block.T, beta=1.0, c=upper, overwrite_c=1), np.float64)


def mirrored(upper: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the symmetric matrix with this upper triangle, whose lower triangle is 0."""
    symmetric = upper + upper.T
    np.einsum("ii->i", symmetric)[:] /= 2
    return np.asarray(symmetric, np.float64)


def triangle(covariance: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Return the upper triangle U with UᵀU = Σ; None where Σ is singular up to rounding."""
    try:
        upper = np.asarray(linalg.cholesky(covariance, check_finite=False), np.float64)
    except linalg.LinAlgError:
        return None
    unexplained = np.diag(upper) ** 2 / np.diag(covariance)  # proportion of each variance
    return upper if unexplained.min() > _UNIQUE else None


def factor(vectors: Features, mean: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return an F of at most (dims, dims) with FᵀF = Σ, computed without squaring a feature."""
    images, dims = vectors.shape
    centred = np.asarray((vectors - mean) / np.sqrt(images - 1), np.float64)
    if images <= dims:
        return centred
    return np.asarray(linalg.qr(centred, mode="r", overwrite_a=True, check_finite=False)[0][:dims], np.float64)


def combined(first: Moments, second: Moments, root: float) -> float:
    """Return the distance from the moments and the trace of the root of Σ₁Σ₂."""
    shift = first.mean - second.mean
    # Never below 0 by definition, but rounding of the traces can make it so.
    return max(0.0, float(shift @ shift) + first.spread + second.spread - 2 * root)


def _symmetric_trace(first: NDArray[np.float64] | None, second: NDArray[np.float64] | None) -> float | None:
    """tr (Σ₁Σ₂)^½ by Cholesky and symmetric eigenvalues; None where a covariance is missing or singular."""
    if first is None or second is None:
        return None
    upper = triangle(first)
    if upper is None or triangle(second) is None:
        return None
    # LᵀΣ₂L, its lower triangle: reduced from the upper one, small eigenvalues come out with fewer digits.
    inner = linalg.lapack.dsygst(second, upper.T, itype=2, lower=1)[0]
    squares = linalg.eigvalsh(inner, lower=True, overwrite_a=True, check_finite=False)
    return _sum_of_roots(np.asarray(squares, np.float64))


def _sum_of_roots(squares: NDArray[np.float64]) -> float:
    return float(np.sqrt(np.maximum(squares, 0)).sum())


def _singular_trace(first_features: Features, second_features: Features, first: Moments, second: Moments) -> float:
    across = factor(first_features, first.mean) @ factor(second_features, second.mean).T
    return float(linalg.svdvals(across, overwrite_a=True, check_finite=False).sum())


@dataclass(frozen=True, eq=False)
class Stretches:
    """Matrices H₁, H₂ with |(x−μ)H|² = (x−μ)ᵀT(x−μ) for each set, and the trace of the root of Σ₁Σ₂."""

    first: NDArray[np.float64]
    second: NDArray[np.float64]
    root_trace: float


def _stretches(first_features: Features, second_features: Features, first: Moments, second: Moments) -> Stretches:
    if first.covariance is not None and second.covariance is not None:
        stretches = stretches_of_covariances(first.covariance, second.covariance)
        if stretches is not None:
            return stretches
    return stretches_of_factors(factor(first_features, first.mean), factor(second_features, second.mean))


def stretches_of_covariances(first: NDArray[np.float64], second: NDArray[np.float64]) -> Stretches | None:
    """Return the stretches of two covariances; None where one is singular."""
    eigen = _eigenvectors(first, second)
    if eigen is None:
        return None
    squares, vectors = eigen
    fourth = squares**0.25
    return Stretches(vectors * fourth, (first @ vectors) / fourth, _sum_of_roots(squares))


def stretches_of_factors(left: NDArray[np.float64], right: NDArray[np.float64]) -> Stretches:
    """Return the stretches of two covariances FᵀF, which may be singular."""
    u, roots, w = linalg.svd(left @ right.T, full_matrices=False, overwrite_a=True, check_finite=False)
    nonzero = roots > roots[:1] * _EPSILON * max(left.shape[0], right.shape[0])
    scale = np.sqrt(roots[nonzero])
    return Stretches((right.T @ w[nonzero].T) / scale, (left.T @ u[:, nonzero]) / scale, float(roots.sum()))


def _eigenvectors(
    first: NDArray[np.float64], second: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Eigenvalues of Σ₂Σ₁ and V with VᵀΣ₁V = I, so that T = V Λ^½ Vᵀ; None where a covariance is singular."""
    if triangle(first) is None or triangle(second) is None:
        return None
    squares, vectors = linalg.eigh(second, first, type=2, check_finite=False)
    return (squares, vectors) if squares[0] > 0 else None


def influence(
    vectors: Features, mean: NDArray[np.float64], shift: NDArray[np.float64], stretch: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the influence of each image on the distance, up to a constant: (images,)."""
    influences = []
    for block in centred_blocks(vectors, mean):
        mapped = block @ stretch
        squares = np.einsum("ij,ij->i", block, block) - np.einsum("ij,ij->i", mapped, mapped)
        influences.append(2 * (block @ shift) + squares)
    return np.concatenate(influences)


def _symmetric_root(covariance: NDArray[np.float64]) -> NDArray[np.float64]:
    values, vectors = linalg.eigh(covariance, check_finite=False)
    return np.asarray(np.sqrt(np.maximum(values, 0))[:, None] * vectors.T, np.float64)
