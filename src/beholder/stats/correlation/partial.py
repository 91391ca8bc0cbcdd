"""Correlation within groups: what two columns share once differences between groups (prompts, say) are gone."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special, stats

from beholder.errors import StatisticsError
from beholder.stats.correlation.coefficients import Correlation, Kind, columns, fisher_interval, standard_error


def partial_correlation(
    x: ArrayLike,
    y: ArrayLike,
    groups: ArrayLike,
    *,
    kind: str = "pearson",
    level: float = 0.95,
) -> Correlation:
    """Correlate what is left of two columns after each group's mean is subtracted (of ranks, for Spearman).

    With g groups, g − 1 degrees of freedom are spent: t has n − g − 1, and the confidence interval is that of
    :func:`beholder.stats.correlation.coefficients.correlation` on n − (g − 1) points. Groups of one point add
    nothing. Nan where nothing is left within groups, or fewer than three points remain.
    """
    xs, ys = columns(x, y)
    group = np.asarray(groups)
    if group.shape != xs.shape or group.dtype.kind not in "iu" or group.min() < 0:
        raise StatisticsError(f"groups need one integer index from 0 per point; found {group.dtype} {group.shape}")
    if kind not in ("pearson", "spearman"):
        raise StatisticsError(f"a partial correlation is pearson or spearman; found {kind!r}")
    if kind == "spearman":
        xs, ys = stats.rankdata(xs), stats.rankdata(ys)
    _, place, counts = np.unique(group, return_inverse=True, return_counts=True)
    points = len(xs) - (len(counts) - 1)
    rest_one, rest_two = _within(xs, place, counts), _within(ys, place, counts)
    spread = float(rest_one @ rest_one) * float(rest_two @ rest_two)
    still = spread <= 1e-24 * float(xs @ xs) * float(ys @ ys)  # rounding leaves constant groups just above zero
    method = f"within {len(counts)} groups, {'Fisher z' if kind == 'pearson' else 'Bonett–Wright'}"
    name: Kind = "pearson" if kind == "pearson" else "spearman"
    if still or points < 3:
        return Correlation(np.nan, np.nan, np.nan, np.nan, level, name, method, len(xs))
    r = float(np.clip(rest_one @ rest_two / np.sqrt(spread), -1, 1))
    low, high = fisher_interval(r, standard_error(r, points, name), level)
    p_value = 2 * special.stdtr(points - 2, -abs(r) * np.sqrt((points - 2) / max(1 - r**2, 1e-300)))
    return Correlation(r, low, high, float(p_value), level, name, method, len(xs))


def _within(
    values: NDArray[np.float64], groups: NDArray[np.intp], counts: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Return values minus the mean of their group (points,)."""
    means = np.bincount(groups, values) / counts
    return np.asarray(values - means[groups], np.float64)
