"""Realism score: how deep a generated image lies within the balls of real images.

For each generated image y, the largest radius(x)/|x − y| over the real images x whose ball is no wider than the
median one; 1 or more means inside a ball. Kynkäänniemi et al. (2019). The value for a set is the median over its
images: the mean is infinite as soon as one image equals a real one.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from beholder.distances.features import checked_pair
from beholder.distances.neighbours import NEIGHBOURS
from beholder.distances.result import Distance, normal_quantile
from beholder.distances.screening import (
    Nearest,
    even_blocks,
    make_screen,
    neighbour_distances,
)

_CANDIDATES = 4


def realism(real: ArrayLike, generated: ArrayLike, *, k: int = NEIGHBOURS, level: float = 0.95) -> Distance:
    """Return the median realism score of the generated images; higher is better."""
    normal_quantile(level)
    real_features, generated_features = checked_pair(
        "realism", real, generated, least=k + 1, why=f"for k = {k} neighbours"
    )
    scores = np.sort(realism_scores(real_features, generated_features, k=k))
    low, high = _order_statistics(len(scores), level)
    return Distance(
        name="realism",
        value=float(_middle(scores)),
        low=float(scores[low]),
        high=float(scores[high]),
        level=level,
        method="order statistics of generated images, the real held fixed",
        real=len(real_features),
        generated=len(generated_features),
        dims=real_features.shape[1],
        settings={"k": k},
    )


def realism_scores(real: ArrayLike, generated: ArrayLike, *, k: int = NEIGHBOURS) -> NDArray[np.float64]:
    """Return the realism score of each generated image, (generated,)."""
    real_features, generated_features = checked_pair(
        "realism", real, generated, least=k + 1, why=f"for k = {k} neighbours"
    )
    (radius,) = neighbour_distances(real_features, (k,))
    narrow = np.flatnonzero((radius <= np.median(radius)) & (radius > 0))  # a ball of radius 0 scores 0
    if len(narrow) == 0:
        return np.zeros(len(generated_features))
    screen = make_screen(real_features[narrow], generated_features)
    weights = (1 / (radius[narrow] * screen.scale**2)).astype(np.float32)[:, None]
    deepest = Nearest(
        len(generated_features), min(_CANDIDATES, len(narrow))
    )  # closeness in units of the ball's radius
    for rows in even_blocks(len(narrow)):
        for columns in even_blocks(len(generated_features)):
            block = screen.closeness(0, rows, 1, columns)
            block *= weights[rows]
            deepest.offer_columns(rows, columns, block)
    candidate_count = deepest.index.shape[1]
    owners, candidates = np.repeat(np.arange(len(generated_features)), candidate_count), deepest.index.ravel()
    squared = screen.exact(1, owners, 0, candidates).reshape(-1, candidate_count)
    with np.errstate(divide="ignore"):
        ratios = radius[narrow][deepest.index] / squared
    return np.asarray(np.sqrt(ratios.max(axis=1)), np.float64)


def _middle(ordered: NDArray[np.float64]) -> float:
    """The median; infinite where both middle values are."""
    half = len(ordered) // 2
    if len(ordered) % 2 or ordered[half - 1] == ordered[half]:
        return float(ordered[half])
    return float((ordered[half - 1] + ordered[half]) / 2)


def _order_statistics(count: int, level: float) -> tuple[int, int]:
    """Indices of the order statistics that contain the median with at least that probability."""
    cumulative = special.bdtr(np.arange(count), count, 0.5)
    below = max(0, int(np.searchsorted(cumulative, (1 - level) / 2, side="right")) - 1)
    return below, count - 1 - below
