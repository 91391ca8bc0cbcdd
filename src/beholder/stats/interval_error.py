"""The standard error behind an interval, where only the interval was kept."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special, stats


def error_of_interval(
    low: ArrayLike, high: ArrayLike, answers: ArrayLike, *, level: float, shares: ArrayLike
) -> NDArray[np.float64]:
    """Return half the width over the quantile: Student's t of ``answers`` − 1, or the normal one for ``shares``.

    Wilson's interval of a share is close to normal; a mean over people has Student's. Nan where an end is missing.
    """
    half = (np.asarray(high, np.float64) - np.asarray(low, np.float64)) / 2
    degrees = np.maximum(np.asarray(answers, np.float64) - 1, 1)
    student, normal = stats.t.ppf((1 + level) / 2, degrees), float(special.ndtri((1 + level) / 2))
    return np.asarray(half / np.where(np.asarray(shares, bool), normal, student), np.float64)
