"""Claims about ratings, each with its own one-sided test and confidence bound.

A claim says that a contrast θ (one rating less another, or one rating alone) lies above a threshold τ:

    better than          θ = A − B,  τ = 0
    no worse than by m   θ = A − B,  τ = −m        (non-inferiority)
    good enough          θ = A,      τ = threshold (is it good enough to deploy?)

It holds at level 1 − α where the lower one-sided confidence bound θ̂ − t_ν,1−α · SE lies above τ, which is where
the p-value of the one-sided t test is below α. Several claims are adjusted together by Holm's method. Where the
opposite bound θ̂ + t · SE lies below τ the claim is refuted; otherwise it is undecided, which is no evidence of
the contrary.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from beholder.errors import StatisticsError
from beholder.stats.significance.holm import holm

Verdict = Literal["holds", "refuted", "undecided"]


@dataclass(frozen=True)
class ClaimTest:
    """The test of one claim."""

    estimate: float
    threshold: float
    bound: float  # the lower one-sided confidence bound at ``level``, this claim alone
    p_value: float  # one-sided, this claim alone
    p_adjusted: float  # over all claims tested together
    verdict: Verdict
    level: float


def check_claims(
    estimates: ArrayLike,
    standard_errors: ArrayLike,
    degrees: ArrayLike,
    thresholds: ArrayLike,
    *,
    level: float = 0.95,
) -> list[ClaimTest]:
    """Test claims that contrasts lie above thresholds.

    Args:
        estimates: The estimated contrasts (claims,).
        standard_errors: Of the contrasts (claims,); a claim with nan is undecided.
        degrees: Degrees of freedom (claims,).
        thresholds: What each contrast is claimed to exceed (claims,).
        level: 1 − the chance of any false verdict of *holds* among all claims.

    Returns:
        One test per claim, in order.

    Example:
        >>> better, no_worse = check_claims([0.1, 0.1], [0.1, 0.1], [40, 40], [0.0, -0.2])
        >>> better.verdict, round(no_worse.bound, 3), no_worse.verdict
        ('undecided', -0.068, 'holds')
    """
    columns = [np.atleast_1d(np.asarray(c, np.float64)) for c in (estimates, standard_errors, degrees, thresholds)]
    if any(column.shape != columns[0].shape or column.ndim != 1 for column in columns):
        shapes = ", ".join(str(column.shape) for column in columns)
        raise StatisticsError(
            f"claims need estimates, errors, degrees and thresholds of one length; found {shapes}"
        )
    if not 0.5 < level < 1:
        raise StatisticsError(f"claims need a level between 0.5 and 1; found {level}")
    estimate, error, freedom, threshold = columns
    above, below = _tail(estimate - threshold, error, freedom), _tail(threshold - estimate, error, freedom)
    adjusted, refuting = holm(above), holm(below)  # nan stays nan, and compares as False
    reach = special.stdtrit(freedom, level) * error
    return [
        ClaimTest(
            estimate=float(estimate[k]),
            threshold=float(threshold[k]),
            bound=float(estimate[k] - reach[k]),
            p_value=float(above[k]),
            p_adjusted=float(adjusted[k]),
            verdict=_verdict(adjusted[k], refuting[k], 1 - level),
            level=level,
        )
        for k in range(len(estimate))
    ]


def _tail(
    excess: NDArray[np.float64], error: NDArray[np.float64], degrees: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return P(t_ν > excess / SE), ½ where both are 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where((error == 0) & (excess == 0), 0.0, excess / error)
    return np.asarray(special.stdtr(degrees, -t), np.float64)


def _verdict(p_above: float, p_below: float, alpha: float) -> Verdict:
    if p_above < alpha:
        return "holds"
    return "refuted" if p_below < alpha else "undecided"
