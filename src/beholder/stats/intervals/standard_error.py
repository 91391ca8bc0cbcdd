"""Standard errors in closed form: of a ratio of sums over raters, and from a published confidence interval."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special, stats

from beholder.errors import StatisticsError


def clustered_error(numerators: ArrayLike, denominators: ArrayLike) -> NDArray[np.float64]:
    """Return the standard error (cells,) of Σ a / Σ b over raters, for (raters, cells) arrays a and b.

    With R = Σa/Σb and n the raters with b > 0, the linearised variance is

        n/(n − 1) · Σ (a − R b)² / (Σ b)²,

    which for a mean of one score per rater (b = 1) is the familiar s²/n. Fewer than two raters give nan.
    """
    above, below = np.asarray(numerators, np.float64), np.asarray(denominators, np.float64)
    if above.ndim != 2 or above.shape != below.shape:
        raise StatisticsError(
            f"a standard error needs two (raters, cells) arrays of one shape; found {above.shape}, {below.shape}"
        )
    n = np.count_nonzero(below, axis=0)
    total = below.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        off = above - above.sum(axis=0) / total * below
        error = np.sqrt(n / (n - 1) * (off**2).sum(axis=0)) / total
    return np.where(n >= 2, error, np.nan)


def error_of_interval(
    low: ArrayLike, high: ArrayLike, answers: ArrayLike, *, level: float, proportions: ArrayLike
) -> NDArray[np.float64]:
    """Return half the width over the quantile: Student's t of ``answers`` − 1, normal for ``proportions``.

    Wilson's confidence interval of a proportion is close to normal; a mean over raters has Student's. Nan where an
    end is missing.
    """
    half = (np.asarray(high, np.float64) - np.asarray(low, np.float64)) / 2
    degrees = np.maximum(np.asarray(answers, np.float64) - 1, 1)
    student, normal = stats.t.ppf((1 + level) / 2, degrees), float(special.ndtri((1 + level) / 2))
    return np.asarray(half / np.where(np.asarray(proportions, bool), normal, student), np.float64)
