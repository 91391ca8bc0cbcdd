"""Equivalence of several contrasts: are all of them smaller than a margin?

Two one-sided tests (TOST, Schuirmann 1987) for each contrast θ with standard error SE and ν degrees of freedom,

    p = P(t_ν > (margin − |θ̂|) / SE),

so that p is below α exactly where the upper bound |θ̂| + t_ν,1−α · SE is below the margin. All contrasts are
equivalent to 0 together where the largest p is below α: an intersection–union test needs no correction for their
number. That two entries are not significantly different is no evidence that they are equal; this is.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from beholder.errors import StatisticsError


@dataclass(frozen=True)
class Equivalence:
    """Whether all contrasts lie within ± margin."""

    largest: float  # |θ̂|
    bound: float  # the largest upper one-sided confidence bound of |θ|
    margin: float
    p_value: float
    equivalent: bool
    level: float


def equivalence(
    estimates: ArrayLike, standard_errors: ArrayLike, degrees: ArrayLike, *, margin: float, level: float = 0.95
) -> Equivalence:
    """Test whether all contrasts are smaller than a margin.

    Args:
        estimates: The contrasts, such as differences from the best entry (contrasts,).
        standard_errors: Of the contrasts (contrasts,).
        degrees: Degrees of freedom (contrasts,).
        margin: The difference that does not matter, above 0.
        level: 1 − the chance to call contrasts equivalent of which one is at least as large as the margin.

    Returns:
        The largest contrast, its bound, and the verdict.

    Example:
        >>> test = equivalence([0.05, -0.02], [0.04, 0.04], [100, 100], margin=0.2)
        >>> round(test.bound, 3), test.equivalent  # 0.05 + 1.660 × 0.04
        (0.116, True)
    """
    size, error, freedom = (
        np.atleast_1d(np.asarray(column, np.float64)) for column in (estimates, standard_errors, degrees)
    )
    if size.ndim != 1 or len(size) == 0 or error.shape != size.shape or freedom.shape != size.shape:
        raise StatisticsError(
            f"equivalence needs estimates, errors and degrees of one length; found {size.shape}, "
            f"{error.shape} and "
            f"{freedom.shape}"
        )
    if not margin > 0 or not 0.5 < level < 1:
        raise StatisticsError(f"equivalence needs a margin above 0 and a level above 0.5; found {margin}, {level}")
    size = np.abs(size)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(error > 0, (margin - size) / error, np.sign(margin - size) * np.inf)
    p_value = float(special.stdtr(freedom, -t).max())
    bound = float((size + special.stdtrit(freedom, level) * error).max())
    return Equivalence(float(size.max()), bound, margin, p_value, bound < margin, level)
