"""The chance that each entry is truly the best, given its rating and the uncertainty of all of them."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from beholder.errors import StatisticsError

_DRAWS = 20_000


def chance_best(
    values: ArrayLike,
    covariance: ArrayLike,
    degrees: float,
    rng: np.random.Generator,
    *,
    higher_is_better: bool = True,
) -> NDArray[np.float64]:
    """Return the probability that each cell has the best true rating.

    True ratings are drawn from a multivariate t around the estimates, which is their posterior with a flat prior
    (a confidence distribution): ties between draws have probability 0, and equal entries share the chance.

    Args:
        values: The rating of each cell (cells,); a cell without a rating (nan) has the chance 0.
        covariance: Of the ratings (cells, cells). Negative eigenvalues, which estimates over two samples can have,
            are taken as 0.
        degrees: Degrees of freedom behind the covariance.
        rng: For the draws; the standard error of a chance is at most .0036.
        higher_is_better: Whether the best has the highest rating.

    Returns:
        Chances (cells,) that sum to 1.

    Example:
        >>> chance_best([1.0, 1.0], np.eye(2), 30, np.random.default_rng(0)).round(2).tolist()
        [0.5, 0.5]
    """
    rating, spread = np.asarray(values, np.float64), np.asarray(covariance, np.float64)
    if rating.ndim != 1 or spread.shape != (len(rating), len(rating)) or not degrees > 0:
        raise StatisticsError(
            "a chance to be best needs ratings (cells,), a covariance (cells, cells) and degrees of freedom above "
            f"0; found {rating.shape}, {spread.shape} and {degrees}"
        )
    rated = np.isfinite(rating) & np.isfinite(np.diag(spread))
    chances = np.zeros(len(rating))
    if not rated.any():
        return chances
    part = spread[np.ix_(rated, rated)]
    eigenvalues, vectors = np.linalg.eigh((part + part.T) / 2)
    root = vectors * np.sqrt(np.maximum(eigenvalues, 0.0))
    noise = rng.standard_normal((_DRAWS, len(part))) @ root.T
    noise *= np.sqrt(degrees / rng.chisquare(degrees, (_DRAWS, 1)))
    truth = (rating[rated] + noise) * (1.0 if higher_is_better else -1.0)
    best = truth == truth.max(axis=1, keepdims=True)
    chances[rated] = (best / best.sum(axis=1, keepdims=True)).mean(axis=0)
    return chances
