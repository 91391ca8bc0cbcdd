"""Fréchet distance for infinitely many generated images, extrapolated.

FD is too large for few images, by about c/n. FD∞ is where a line through FD against 1/n meets 1/n = 0, from 15
numbers of generated images between min(5000, N/10) and N. Chong and Forsyth, "Effectively unbiased FID and
Inception score" (2020).

The subsets are nested: the first n of one seeded order. With Σ₁ = FᵀF of all real images and Z = Y Fᵀ, every
LᵀΣ₂L is a covariance of the first rows of Z, so the sums of one pass serve all 15; each then costs eigenvalues
alone.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg

from beholder.measure.distances.features import Features, checked, checked_pair
from beholder.measure.distances.frechet import add_products, factor, frechet, moments, triangle
from beholder.measure.distances.result import Distance, normal_quantile

POINTS, MOST, LEAST = 15, 5000, 100


def frechet_infinity(
    real: ArrayLike, generated: ArrayLike, *, rng: np.random.Generator, points: int = POINTS, level: float = 0.95
) -> Distance:
    """Return FD∞ of two sets of features; about 0 for sets of one distribution, lower is better.

    The interval joins two sources of chance: the images drawn (as for FD) and the residuals about the line. The
    value is not cut at 0: cutting would bring a bias back.
    """
    z = normal_quantile(level)
    one, two = checked_pair("FD∞", real, generated)
    checked("FD∞", "generated", two, least=LEAST, why="for a line against 1/n")
    sizes = subset_sizes(len(two), points)
    values = frechet_by_size(one, two[rng.permutation(len(two))], sizes)
    intercept, error = _line(1 / sizes, values)
    at_hand = frechet(one, two, level=level)
    drawn = (at_hand.high - at_hand.value) / z
    reach = z * float(np.hypot(error, drawn))
    return Distance(
        name="frechet_infinity",
        value=intercept,
        low=intercept - reach,
        high=intercept + reach,
        level=level,
        method=f"{at_hand.method}, and residuals of the line",
        real=len(one),
        generated=len(two),
        dims=one.shape[1],
        settings={"points": points, "smallest": int(sizes[0])},
    )


def subset_sizes(images: int, points: int = POINTS) -> NDArray[np.int64]:
    """Return the numbers of images at which FD is taken, evenly from min(5000, N/10) to N."""
    return np.linspace(min(MOST, images // 10), images, points).astype(np.int64)


def frechet_by_size(real: Features, generated: Features, sizes: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return FD of all real images and the first n generated ones, for each n of ``sizes`` (ascending)."""
    first = moments(real)
    root = _factor(real, first.mean, first.covariance)  # (rank, dims)
    rank = len(root)
    values = np.empty(len(sizes))
    sums, squares, products = np.zeros(generated.shape[1]), 0.0, np.zeros((rank, rank), order="F")
    seen, rows = 0, np.empty((0, rank))
    for place, size in enumerate(sizes):
        block = generated[seen:size] - first.mean  # about the real mean: fixed, and near
        sums += block.sum(axis=0)
        squares += float(np.einsum("ij,ij->", block, block))
        mapped = _mapped(block, root)
        products = add_products(products, mapped)
        seen = int(size)
        mean = sums / size
        if size <= rank:
            rows = np.concatenate([rows, mapped])
            roots = _gram_roots(rows - rows.mean(axis=0), size)
        else:
            rows = np.empty((0, rank))
            middle = linalg.blas.dgemv(1.0, root, mean)
            inner = linalg.blas.dsyr(-size / (size - 1), middle, a=products / (size - 1), overwrite_a=1)
            roots = _roots(linalg.eigvalsh(inner, lower=False, overwrite_a=True, check_finite=False))
        spread = (squares - size * float(mean @ mean)) / (size - 1)
        values[place] = float(mean @ mean) + first.spread + spread - 2 * roots
    return values


def _factor(
    vectors: Features, mean: NDArray[np.float64], covariance: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    found = None if covariance is None else triangle(covariance)
    return factor(vectors, mean) if found is None else found


def _mapped(block: NDArray[np.float64], root: NDArray[np.float64]) -> NDArray[np.float64]:
    """``block`` rootᵀ, maybe in the place of ``block``; for a triangle half of the products will do."""
    if root.shape[0] == root.shape[1] and not np.tril(root, -1).any():
        return np.asarray(linalg.blas.dtrmm(1.0, root, block.T, overwrite_b=1), np.float64).T
    return block @ root.T


def _gram_roots(centred: NDArray[np.float64], size: np.int64) -> float:
    """tr (…)^½ from the (images, images) products; the smallest eigenvalue is 0, as the rows are centred."""
    return _roots(linalg.eigvalsh(centred @ centred.T / (size - 1), overwrite_a=True, check_finite=False)[1:])


def _roots(squares: NDArray[np.floating]) -> float:
    return float(np.sqrt(np.maximum(squares, 0)).sum())


def _line(inverse: NDArray[np.float64], values: NDArray[np.float64]) -> tuple[float, float]:
    """Where the least-squares line meets 0, and the standard error of that from its residuals."""
    design = np.stack([np.ones_like(inverse), inverse], axis=1)
    solution, *_ = np.linalg.lstsq(design, values, rcond=None)
    residuals = values - design @ solution
    covariance = np.linalg.inv(design.T @ design) * float(residuals @ residuals) / (len(values) - 2)
    return float(solution[0]), float(np.sqrt(covariance[0, 0]))
