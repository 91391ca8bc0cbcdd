"""Does one metric agree better with raters than another? Two correlations that share raters and points.

r₁ = r(raters, first metric), r₂ = r(raters, second metric), r₁₂ = r(first, second), n points. The more alike the
metrics, the smaller a difference is told. All tests assume normal columns. For Spearman they are an approximation;
for Kendall, or columns far from normal, resample with :func:`bootstrap_difference`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from beholder.errors import StatisticsError
from beholder.stats.correlation.bootstrap import (
    cluster_index,
    correlation_replicates,
    leave_one_out,
    resampled_interval,
)
from beholder.stats.correlation.coefficients import Kind, correlation, fisher_interval
from beholder.stats.intervals.bootstrap_intervals import Rule

Test = Literal["williams", "steiger", "meng"]
"""Williams' t (1959), Steiger's Z (1980, with pooled correlations), or Meng, Rosenthal and Rubin's Z (1992)."""

ROUNDING = 1e-14
"""Two correlations this close are equal: the last bits differ from one processor to another."""


@dataclass(frozen=True)
class CorrelationDifference:
    """r₁ − r₂ with its confidence interval and test."""

    difference: float
    low: float
    high: float
    statistic: float  # t or z; nan where resampled, or where a correlation is perfect
    degrees: float | None  # of freedom of t; None for z
    p_value: float  # two-sided
    level: float
    method: str
    points: int
    replicates: int | None = None


def compare_correlations(
    ratings: ArrayLike,
    first: ArrayLike,
    second: ArrayLike,
    *,
    kind: Literal["pearson", "spearman"] = "pearson",
    test: Test = "williams",
    level: float = 0.95,
) -> CorrelationDifference:
    """Test r(ratings, first) against r(ratings, second) on the same points, with Zou's interval of r₁ − r₂."""
    r1, r2, r12 = (
        correlation(a, b, kind=kind).value for a, b in ((ratings, first), (ratings, second), (first, second))
    )
    return compare_coefficients(r1, r2, r12, len(np.asarray(ratings)), test=test, level=level)


def compare_coefficients(
    r1: float, r2: float, r12: float, points: int, *, test: Test = "williams", level: float = 0.95
) -> CorrelationDifference:
    """The same from the three correlations alone. Equal metrics (r₁₂ = 1) give a difference of 0 and p = 1.

    Williams    t = (r₁−r₂) √((n−1)(1+r₁₂) / (2|R|(n−1)/(n−3) + r̄²(1−r₁₂)³)),  n−3 degrees of freedom,
                |R| = 1 − r₁² − r₂² − r₁₂² + 2r₁r₂r₁₂,  r̄ = (r₁+r₂)/2
    Steiger     Z = (z₁−z₂) √(n−3) / √(2−2s),  s = ψ/(1−r̄²)²,  ψ = r₁₂(1−2r̄²) − ½r̄²(1−2r̄²−r₁₂²)
    Meng        Z = (z₁−z₂) √((n−3) / (2(1−r₁₂)h)),  h = (1−f q)/(1−q),  q = (r₁²+r₂²)/2,
                f = min(1, (1−r₁₂)/(2(1−q)))

    The confidence interval is Zou's (2007): it joins the Fisher intervals of both correlations by their own
    correlation.
    """
    if test not in _TESTS:
        raise StatisticsError(f"the test is one of {', '.join(_TESTS)}; found {test!r}")
    if points < 4:
        raise StatisticsError(f"comparing two correlations needs at least four points; found {points}")
    if not all(abs(r) <= 1 or np.isnan(r) for r in (r1, r2, r12)):
        raise StatisticsError(f"correlations lie between −1 and 1; found {r1}, {r2}, {r12}")
    low, high = zou_interval(r1, r2, r12, points, level=level)
    degrees = points - 3.0 if test == "williams" else None
    if abs(r1 - r2) <= ROUNDING:
        statistic, p_value = 0.0, 1.0
    else:
        statistic = _TESTS[test](r1, r2, r12, points)
        tail = special.stdtr(degrees, -abs(statistic)) if degrees else special.ndtr(-abs(statistic))
        p_value = float(2 * tail)
    return CorrelationDifference(r1 - r2, low, high, statistic, degrees, p_value, level, test, points)


def zou_interval(r1: float, r2: float, r12: float, points: int, *, level: float = 0.95) -> tuple[float, float]:
    """Return Zou's (2007) confidence interval of r₁ − r₂; nan where a correlation is perfect and the other is not.

    low = r₁ − r₂ − √((r₁−l₁)² + (u₂−r₂)² − 2c(r₁−l₁)(u₂−r₂)) with Fisher's ends l, u of each and
    c = ((r₁₂ − r₁r₂/2)(1 − r₁² − r₂² − r₁₂²) + r₁₂³) / ((1−r₁²)(1−r₂²)); high likewise.
    """
    error = 1 / np.sqrt(points - 3)
    low1, high1 = fisher_interval(r1, error, level)
    low2, high2 = fisher_interval(r2, error, level)
    below = (1 - r1**2) * (1 - r2**2)
    if below <= 0 or np.isnan(below):
        return (0.0, 0.0) if abs(r1 - r2) <= ROUNDING else (float(np.nan), float(np.nan))
    c = ((r12 - r1 * r2 / 2) * (1 - r1**2 - r2**2 - r12**2) + r12**3) / below
    down = (r1 - low1) ** 2 + (high2 - r2) ** 2 - 2 * c * (r1 - low1) * (high2 - r2)
    up = (high1 - r1) ** 2 + (r2 - low2) ** 2 - 2 * c * (high1 - r1) * (r2 - low2)
    return float(r1 - r2 - np.sqrt(max(down, 0.0))), float(r1 - r2 + np.sqrt(max(up, 0.0)))


def bootstrap_difference(
    ratings: ArrayLike,
    first: ArrayLike,
    second: ArrayLike,
    weights: NDArray[np.integer],
    *,
    kind: Kind = "pearson",
    clusters: ArrayLike | None = None,
    level: float = 0.95,
    rule: Rule = "bca",
) -> CorrelationDifference:
    """Return r(ratings, first) − r(ratings, second), with a confidence interval that resamples points or clusters.

    Both correlations see the same replicates, so what the metrics share drops out. The p-value is twice the
    smaller proportion of replicates on either side of 0 (ties half), at least 1/replicates.
    """
    group = cluster_index(clusters, len(np.asarray(ratings)))

    def gap(drawn: NDArray[np.integer]) -> NDArray[np.float64]:
        first_coefficients = correlation_replicates(ratings, first, drawn, kind=kind, clusters=group)
        return np.asarray(
            first_coefficients - correlation_replicates(ratings, second, drawn, kind=kind, clusters=group),
            np.float64,
        )

    value, replicates = gap(np.ones((1, weights.shape[1]), np.int32)), gap(weights)
    low, high = resampled_interval(value, replicates, leave_one_out(gap, group), group, level=level, rule=rule)
    finite = replicates[np.isfinite(replicates)]
    above = float(np.mean(finite > 0) + np.mean(finite == 0) / 2) if len(finite) else np.nan
    p_value = max(2 * min(above, 1 - above), 1 / len(weights)) if len(finite) else np.nan
    unit = "points" if clusters is None else "clusters of points"
    name = f"expanded {'BCa' if rule == 'bca' else 'percentile'} bootstrap over {unit}"
    return CorrelationDifference(
        float(value[0]), low, high, np.nan, None, p_value, level, name, len(group), len(weights)
    )


def _williams(r1: float, r2: float, r12: float, n: int) -> float:
    determinant = 1 - r1**2 - r2**2 - r12**2 + 2 * r1 * r2 * r12
    below = 2 * determinant * (n - 1) / (n - 3) + ((r1 + r2) / 2) ** 2 * (1 - r12) ** 3
    return float((r1 - r2) * np.sqrt((n - 1) * (1 + r12) / below)) if below > 0 else float(np.nan)


def _steiger(r1: float, r2: float, r12: float, n: int) -> float:
    if max(abs(r1), abs(r2)) >= 1:
        return float(np.nan)
    square = ((r1 + r2) / 2) ** 2
    psi = r12 * (1 - 2 * square) - 0.5 * square * (1 - 2 * square - r12**2)
    below = 2 - 2 * psi / (1 - square) ** 2
    return float((np.arctanh(r1) - np.arctanh(r2)) * np.sqrt((n - 3) / below)) if below > 0 else float(np.nan)


def _meng(r1: float, r2: float, r12: float, n: int) -> float:
    if max(abs(r1), abs(r2)) >= 1 or r12 >= 1:
        return float(np.nan)
    q = (r1**2 + r2**2) / 2
    f = min(1.0, (1 - r12) / (2 * (1 - q)))
    h = (1 - f * q) / (1 - q)
    return float((np.arctanh(r1) - np.arctanh(r2)) * np.sqrt((n - 3) / (2 * (1 - r12) * h)))


_TESTS: dict[str, Callable[[float, float, float, int], float]] = {
    "williams": _williams,
    "steiger": _steiger,
    "meng": _meng,
}
