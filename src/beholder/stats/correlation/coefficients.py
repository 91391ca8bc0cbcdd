"""How far two columns agree, such as a metric and raters: Pearson (PLCC), Spearman (SRCC), Kendall's τ-b (KRCC).

The confidence intervals here are in closed form, on Fisher's scale, and take the points as independent draws:

    tanh(atanh r ± z₁₋α/₂ · SE),    SE² = 1/(n−3)             Pearson (exact for normal data only)
                                    SE² = (1 + r²/2)/(n−3)    Spearman (Bonett and Wright 2000)
                                    SE² = .437/(n−4)          Kendall (Fieller, Hartley and Pearson 1957)

For columns far from normal, or points that come in groups, resample:
:func:`beholder.stats.correlation.bootstrap.bootstrap_correlation`.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special, stats

from beholder.errors import StatisticsError

Kind = Literal["pearson", "spearman", "kendall"]
"""PLCC, SRCC with mid-ranks, or KRCC as τ-b: ties of either column leave the comparison."""

KINDS: tuple[Kind, ...] = ("pearson", "spearman", "kendall")


@dataclass(frozen=True)
class Correlation:
    """A coefficient with its interval; all nan where a column is constant."""

    value: float
    low: float  # nan under four points (five for Kendall)
    high: float
    p_value: float  # two-sided, of no correlation; nan where the interval was resampled
    level: float
    kind: Kind
    method: str  # how the interval was made
    points: int
    replicates: int | None = None


def correlation(x: ArrayLike, y: ArrayLike, *, kind: Kind = "pearson", level: float = 0.95) -> Correlation:
    """Correlate two columns of one length; two points or a constant column give a defined result, not an error.

    p-values are those of scipy: t with n − 2 degrees of freedom, and for Kendall the exact distribution for few
    points without ties, the normal one otherwise.
    """
    xs, ys = columns(x, y)
    check_kind(kind)
    n, name = len(xs), "Fisher z" if kind == "pearson" else "Bonett–Wright" if kind == "spearman" else "Fieller"
    if is_constant(xs) or is_constant(ys):
        return Correlation(np.nan, np.nan, np.nan, np.nan, level, kind, name, n)
    value, p_value = _tested(xs, ys, kind)
    low, high = fisher_interval(value, standard_error(value, n, kind), level)
    return Correlation(value, low, high, p_value, level, kind, name, n)


def standard_error(value: float, points: float, kind: Kind) -> float:
    """Return the standard error of atanh r (see the head of this module); nan for too few points."""
    spare = points - (4 if kind == "kendall" else 3)
    if spare <= 0:
        return float(np.nan)
    above = {"pearson": 1.0, "spearman": 1 + value**2 / 2, "kendall": 0.437}[kind]
    return float(np.sqrt(above / spare))


def fisher_interval(value: float, error: float, level: float) -> tuple[float, float]:
    """Return tanh(atanh r ± z · error); a perfect correlation has itself as both ends."""
    if not 0 < level < 1:
        raise StatisticsError(f"an interval needs a level between 0 and 1; found {level}")
    with np.errstate(divide="ignore"):
        centre = np.arctanh(np.clip(value, -1, 1))
    reach = special.ndtri((1 + level) / 2) * error
    return float(np.tanh(centre - reach)), float(np.tanh(centre + reach))


def columns(x: ArrayLike, y: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Check two columns of one length: finite, at least two points."""
    xs, ys = np.asarray(x, np.float64), np.asarray(y, np.float64)
    if xs.ndim != 1 or xs.shape != ys.shape or len(xs) < 2:
        raise StatisticsError(
            f"a correlation needs two columns of one length, at least two points; found {xs.shape}, {ys.shape}"
        )
    lost = int((~np.isfinite(xs) | ~np.isfinite(ys)).sum())
    if lost:
        raise StatisticsError(f"a correlation needs finite values; found {lost} points without; leave them out")
    return xs, ys


def is_constant(values: NDArray[np.float64]) -> bool:
    """Whether a column is the same everywhere, up to rounding of its size."""
    return bool(np.ptp(values) <= 1e-13 * np.abs(values).max())


def check_kind(kind: str) -> None:
    """Refuse a kind that is not one of ``KINDS``."""
    if kind not in KINDS:
        raise StatisticsError(f"a correlation is one of {', '.join(KINDS)}; found {kind!r}")


def _tested(x: NDArray[np.float64], y: NDArray[np.float64], kind: Kind) -> tuple[float, float]:
    """Return the coefficient and its p-value; the p-value of two points is 1."""
    if len(x) == 2:
        return float(np.sign(np.diff(x) * np.diff(y))[0]), 1.0
    if kind == "pearson":
        linear = stats.pearsonr(x, y)
        return float(linear.statistic), float(linear.pvalue)
    if kind == "spearman":
        ranked = stats.spearmanr(x, y)
        return float(ranked.statistic), float(ranked.pvalue)
    paired = stats.kendalltau(x, y)
    return float(paired.statistic), float(paired.pvalue)
