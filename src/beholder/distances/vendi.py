"""Vendi score: the effective number of different images in a set.

exp(−Σ λ log λ), with λ the eigenvalues of K/n and K the cosine similarities of all pairs of images: 1 if all
point in one direction, n if all are at right angles. Friedman and Dieng, "The Vendi score" (2023). K/n has the
eigenvalues of C = Σ x xᵀ/n, so the smaller of the two is taken.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg

from beholder.distances.features import checked
from beholder.distances.result import JACKKNIFE, Distance, normal_quantile, standard_error
from beholder.errors import StatisticsError


def vendi(generated: ArrayLike, *, level: float = 0.95) -> Distance:
    """Return the Vendi score of generated images alone; higher is more diverse.

    The influence of an image x of unit length on the entropy is −xᵀ(log C)x.
    """
    z = normal_quantile(level)
    vectors = checked("Vendi score", "generated", generated)
    unit = _unit(vectors.astype(np.float64))
    values, coordinates = _spectrum(unit)
    entropy = -float(values @ np.log(values))
    reach = z * standard_error(-(coordinates @ np.log(values)))
    images, dims = unit.shape
    return Distance(
        name="vendi",
        value=float(np.exp(entropy)),
        low=max(1.0, float(np.exp(entropy - reach))),
        high=min(float(min(images, dims)), float(np.exp(entropy + reach))),
        level=level,
        method=f"{JACKKNIFE}, of the logarithm",
        real=0,
        generated=images,
        dims=dims,
    )


def vendi_ratio(before: ArrayLike, after: ArrayLike, *, level: float = 0.95) -> tuple[float, float, float]:
    """Return how many times as diverse images are after a change as before it, with its confidence interval.

    Row for row, both are of the same prompts. What an image does to the one score it mostly does to the other as
    well, so the interval of the ratio is much narrower than those of the scores: ψ is the difference of both
    influences on the entropy.
    """
    z = normal_quantile(level)
    first, second = (checked("Vendi score", name, rows) for name, rows in (("before", before), ("after", after)))
    if len(first) != len(second):
        raise StatisticsError(
            f"a ratio of Vendi scores needs pairs of images; found {len(first)} and {len(second)}"
        )
    entropies, influences = [], []
    for vectors in (first, second):
        values, coordinates = _spectrum(_unit(vectors.astype(np.float64)))
        entropies.append(-float(values @ np.log(values)))
        influences.append(-(coordinates @ np.log(values)))
    change, reach = entropies[1] - entropies[0], z * standard_error(influences[1] - influences[0])
    ratio, low, high = np.exp([change, change - reach, change + reach]).tolist()
    return ratio, low, high


def _spectrum(unit: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Eigenvalues above 0 (they sum to 1), and the squared coordinates of images along them."""
    images, dims = unit.shape
    if images <= dims:
        values, vectors = linalg.eigh(unit @ unit.T / images, check_finite=False)
        squared = images * values * vectors**2
    else:
        values, vectors = linalg.eigh(unit.T @ unit / images, check_finite=False)
        squared = (unit @ vectors) ** 2
    positive = values > np.finfo(np.float64).eps * min(images, dims)
    return values[positive], squared[:, positive]


def _unit(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    lengths = np.linalg.norm(vectors, axis=1)
    if not lengths.all():
        raise StatisticsError(
            f"Vendi score: {int((lengths == 0).sum())} images have features of length 0, the first is row "
            f"{int(np.argmin(lengths))}; cosine similarity needs directions"
        )
    return np.asarray(vectors / lengths[:, None], np.float64)
