"""Fréchet distance for infinitely many generated images, extrapolated.

FD is too large for few images, by about c/n. FD∞ is the intercept at 1/n = 0 of a line through FD against 1/n,
from 15 numbers of generated images between min(5000, N/10) and N. Chong and Forsyth, "Effectively unbiased FID and
Inception score" (2020).

The subsets are nested: the first n of one seeded order. With Σ₁ = FᵀF of all real images and Z = Y Fᵀ, every
FΣ₂Fᵀ is a covariance of the first rows of Z, so the sums of one pass serve all 15 sizes; each then costs its
eigenvalues alone. With many images from one size to the next it is cheaper to map their covariance by F than every
image.
"""

import os
from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg

from beholder.distances.eigenvalues import Symmetric, sums_of_roots
from beholder.distances.features import Features, checked, checked_pair
from beholder.distances.frechet import (
    ROWS,
    add_products,
    centred_blocks,
    factor,
    frechet,
    moments,
    triangle,
)
from beholder.distances.result import Distance, normal_quantile

POINTS, MOST, LEAST = 15, 5000, 100
MANY = 2
"""Images from one size to the next, in multiples of dims, above which covariances are mapped instead of images."""
AT_ONCE = 2**28
"""Bytes of the matrices whose eigenvalues are computed together."""


def frechet_infinity(
    real: ArrayLike, generated: ArrayLike, *, rng: np.random.Generator, points: int = POINTS, level: float = 0.95
) -> Distance:
    """Return FD∞ of two sets of features; about 0 for sets of one distribution, lower is better.

    The confidence interval combines two sources of error: the sample of images (as for FD) and the residuals about
    the line. The value is not truncated at 0: that would reintroduce a bias.
    """
    z = normal_quantile(level)
    real_features, generated_features = checked_pair("FD∞", real, generated)
    checked("FD∞", "generated", generated_features, least=LEAST, why="for a line against 1/n")
    sizes = subset_sizes(len(generated_features), points)
    values = frechet_by_size(real_features, generated_features[rng.permutation(len(generated_features))], sizes)
    intercept, error = line_through(1 / sizes, values)
    plain = frechet(real_features, generated_features, level=level)
    sampling_error = (plain.high - plain.value) / z
    reach = z * float(np.hypot(error, sampling_error))
    return Distance(
        name="frechet_infinity",
        value=intercept,
        low=intercept - reach,
        high=intercept + reach,
        level=level,
        method=f"{plain.method}, and residuals of the line",
        real=len(real_features),
        generated=len(generated_features),
        dims=real_features.shape[1],
        settings={"points": points, "smallest": int(sizes[0])},
    )


def subset_sizes(images: int, points: int = POINTS) -> NDArray[np.int64]:
    """Return the numbers of images at which FD is computed, evenly from min(5000, N/10) to N."""
    return np.linspace(min(MOST, images // 10), images, points).astype(np.int64)


def frechet_by_size(real: Features, generated: Features, sizes: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return FD of all real images and the first n generated ones, for each n of ``sizes`` (ascending)."""
    first = moments(real)
    root = _factor(real, first.mean, first.covariance)  # (rank, dims)
    nested = _nested(generated, sizes, first.mean, root)
    return frechet_of_sizes(((first.spread + rest, inner) for rest, inner in nested), len(root))


def frechet_of_sizes(parts: Iterable[tuple[float, Symmetric]], rank: int) -> NDArray[np.float64]:
    """Return FD for each size from all of it but the roots, and the matrix of whose eigenvalues they are.

    No more matrices of (rank, rank) are held at a time than their eigenvalues are computed of together.
    """
    at_once = max(AT_ONCE // (8 * rank**2), os.cpu_count() or 1)
    others, roots, waiting = list[float](), list[float](), list[Symmetric]()
    for rest, inner in parts:
        others.append(rest)
        waiting.append(inner)
        if len(waiting) == at_once:
            roots += sums_of_roots(waiting)
            waiting.clear()
    roots += sums_of_roots(waiting)
    return np.asarray(np.array(others) - 2 * np.array(roots), np.float64)


def _nested(
    generated: Features, sizes: NDArray[np.int64], middle: NDArray[np.float64], root: NDArray[np.float64]
) -> Iterator[tuple[float, Symmetric]]:
    """For each size |μ₁ − μ₂|² + tr Σ₂, and the matrix whose eigenvalues' roots add up to tr (Σ₁Σ₂)^½."""
    rank, dims = root.shape
    triangular = rank == dims and not np.tril(root, -1).any()
    late = triangular and sizes[0] > rank and len(generated) > MANY * dims * len(sizes)
    sums, squares, products = np.zeros(dims), 0.0, np.zeros((rank, rank), order="F")
    used, rows, room = 0, np.empty((0, rank)), np.empty((ROWS, dims))
    for size in sizes:
        for block in centred_blocks(
            generated[used:size], middle, room
        ):  # about the real mean: fixed, and close to theirs
            sums += block.sum(axis=0)
            squares += float(linalg.blas.ddot(block.ravel(), block.ravel()))
            mapped = block if late else _mapped(block, root, triangular=triangular)
            products = add_products(products, mapped)
            rows = np.concatenate([rows, mapped]) if size <= rank else rows[:0]
        used = int(size)
        mean = sums / size
        apart = float(mean @ mean)
        rest = apart + (squares - size * apart) / (size - 1)
        if size <= rank:
            # (images, images); the smallest eigenvalue is 0, as the rows are centred
            centred = rows - rows.mean(axis=0)
            yield rest, Symmetric(centred @ centred.T / (size - 1), zeros=1)
        else:
            shifted = mean if late else linalg.blas.dgemv(1.0, root, mean)
            inner = linalg.blas.dsyr(-size / (size - 1), shifted, a=products / (size - 1), overwrite_a=1)
            if late:
                inner = linalg.lapack.dsygst(inner, root, itype=2, overwrite_a=1)[0]
            yield rest, Symmetric(np.asarray(inner, np.float64))


def _mapped(block: NDArray[np.float64], root: NDArray[np.float64], *, triangular: bool) -> NDArray[np.float64]:
    """Images (n, dims) as (n, rank), possibly overwriting ``block``; a triangle takes half the products."""
    if triangular:
        return np.asarray(linalg.blas.dtrmm(1.0, root, block.T, overwrite_b=1).T, np.float64)
    return np.asarray(block @ root.T, np.float64)


def _factor(
    vectors: Features, mean: NDArray[np.float64], covariance: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    upper = None if covariance is None else triangle(covariance)
    return factor(vectors, mean) if upper is None else upper


def line_through(inverse: NDArray[np.float64], values: NDArray[np.float64]) -> tuple[float, float]:
    """Return the intercept of the least-squares line at 0, and its standard error from the residuals."""
    design = np.stack([np.ones_like(inverse), inverse], axis=1)
    solution, *_ = np.linalg.lstsq(design, values, rcond=None)
    residuals = values - design @ solution
    covariance = np.linalg.inv(design.T @ design) * float(residuals @ residuals) / (len(values) - 2)
    return float(solution[0]), float(np.sqrt(covariance[0, 0]))
