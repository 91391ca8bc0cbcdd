"""Many gaps at once: simultaneous intervals, adjusted p-values, and estimates shrunk towards no gap.

A gap is a contrast θₖ with its standard error SEₖ and νₖ degrees of freedom: one slice of the prompts less the
rest, say. Slices overlap, so the estimates of m gaps are correlated. Šidák's inequality holds whatever the
correlation: with the critical value of each gap alone at the level (1 − α)^(1/m),

    θ̂ₖ ± t_νₖ · SEₖ    for all k together hold with a chance of at least 1 − α,
    p_adjusted = 1 − (1 − p)^m.

The largest of many estimates is too large. If true gaps vary around 0 with the variance τ², the best guess is

    θ̂ₖ · τ² / (τ² + SEₖ²),    τ² from  Σ θ̂ₖ² / (τ² + SEₖ²) = m    (Paule and Mandel),

which is 0 for all where the estimates vary no more than their errors.

References: Z. Šidák (1967), *Rectangular confidence regions for the means of multivariate normal distributions*,
JASA 62; R. C. Paule and J. Mandel (1982), *Consensus values and weighting factors*, J. Res. NBS 87(5).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import optimize, special

from beholder.errors import StatisticsError


@dataclass(frozen=True, eq=False)
class Gaps:
    """Gaps of one family; every array is (gaps,), nan where a gap has no standard error."""

    estimate: NDArray[np.float64]
    standard_error: NDArray[np.float64]
    low: NDArray[np.float64]  # simultaneous
    high: NDArray[np.float64]
    p_value: NDArray[np.float64]  # two-sided, this gap alone
    p_adjusted: NDArray[np.float64]  # over all gaps of the family
    shrunk: NDArray[np.float64]
    spread: float  # τ: how much true gaps vary around 0
    level: float

    @property
    def significant(self) -> NDArray[np.bool_]:
        """Whether each gap is significant among all of them (gaps,); exactly where its interval excludes 0."""
        return np.asarray(self.p_adjusted < 1 - self.level, np.bool_)


def simultaneous_gaps(
    estimates: ArrayLike, standard_errors: ArrayLike, degrees: ArrayLike, *, level: float = 0.95
) -> Gaps:
    """Return all gaps of a family with intervals that hold together.

    Args:
        estimates: The gaps (gaps,).
        standard_errors: Of the gaps (gaps,); a gap with nan or 0 is not tested and does not count.
        degrees: Degrees of freedom (gaps,), or one number.
        level: 1 − the chance that any interval misses its true gap.

    Returns:
        Intervals, p-values and shrunken estimates.

    Example:
        >>> gaps = simultaneous_gaps([0.3, 0.05], [0.1, 0.1], 1e6)
        >>> gaps.low.round(3).tolist(), gaps.p_adjusted.round(3).tolist()  # z = 2.236 for two gaps, not 1.960
        ([0.076, -0.174], [0.005, 0.853])
    """
    size, error, freedom = np.broadcast_arrays(
        *(np.atleast_1d(np.asarray(column, np.float64)) for column in (estimates, standard_errors, degrees))
    )
    if size.ndim != 1 or not 0 < level < 1:
        raise StatisticsError(
            f"gaps need one-dimensional estimates and a level between 0 and 1; found {size.shape}, {level}"
        )
    tested = np.isfinite(size) & np.isfinite(error) & (error > 0) & np.isfinite(freedom)
    count = max(int(tested.sum()), 1)
    safe_error, safe_freedom = np.where(tested, error, 1.0), np.where(tested, freedom, 1.0)
    alone = -np.expm1(np.log(level) / count)  # 1 − level^(1/m)
    reach = -special.stdtrit(safe_freedom, alone / 2) * safe_error
    p = 2 * special.stdtr(safe_freedom, -np.abs(size / safe_error))
    with np.errstate(divide="ignore"):
        adjusted = -np.expm1(count * np.log1p(-p))
    spread = between_variance(size[tested], error[tested]) if tested.any() else 0.0

    def only_tested(column: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.where(tested, column, np.nan)

    return Gaps(
        estimate=np.array(size),
        standard_error=only_tested(error),
        low=only_tested(size - reach),
        high=only_tested(size + reach),
        p_value=only_tested(p),
        p_adjusted=only_tested(np.clip(adjusted, p, 1.0)),
        shrunk=only_tested(size * spread / (spread + safe_error**2)),
        spread=float(np.sqrt(spread)),
        level=level,
    )


def between_variance(estimates: ArrayLike, standard_errors: ArrayLike) -> float:
    """Return τ², the variance of true effects around 0, by Paule and Mandel.

    Args:
        estimates: The estimated effects (effects,).
        standard_errors: Above 0 (effects,).

    Returns:
        The variance; 0 where the estimates vary no more than their errors.

    Example:
        >>> round(between_variance([3.0, -3.0], [1.0, 1.0]), 6)  # 18/(1 + τ²) = 2
        8.0
        >>> between_variance([0.5, -0.5], [1.0, 1.0])
        0.0
    """
    squares = np.asarray(estimates, np.float64) ** 2
    variance = np.asarray(standard_errors, np.float64) ** 2
    if squares.ndim != 1 or squares.shape != variance.shape or not np.all(variance > 0):
        raise StatisticsError(
            "a variance between effects needs estimates and standard errors above 0 of one length; found "
            f"{squares.shape} and {variance.shape}"
        )

    def excess(tau: float) -> float:
        return float((squares / (tau + variance)).sum() - len(squares))

    if len(squares) == 0 or excess(0.0) <= 0:
        return 0.0
    return float(optimize.brentq(excess, 0.0, float(squares.sum()), xtol=1e-14 * float(squares.max())))
