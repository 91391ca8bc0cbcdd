"""Intervals from bootstrap replicates over raters: expanded percentile, and expanded BCa.

Undefined (nan) replicates are left out. A cell with more than 5 % of them, or with fewer than two raters, has
a confidence interval of (nan, nan).
"""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from beholder.errors import StatisticsError

Rule = Literal["bca", "percentile"]
"""How a confidence interval is made from replicates: see :func:`bca_interval` and :func:`percentile_interval`."""

UNDEFINED_LIMIT = 0.05  # an interval is nan when a larger proportion of the replicates is undefined


def percentile_interval(
    replicates: ArrayLike, raters: ArrayLike, *, level: float = 0.95, expand: bool = True
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the percentile confidence interval (low, high), each (cells,), of ``replicates`` (replicates, cells).

    The plain percentile interval is too narrow for few raters: the bootstrap's variance is (n−1)/n of the
    unbiased one, and its tails are normal instead of t. Hesterberg (2015, "What teachers should know about the
    bootstrap") therefore widens the tails. With n raters behind a cell, the tail probability on each side is

        α′/2 = Φ(−√(n/(n−1)) · t₁₋α/₂,ₙ₋₁)    instead of    α/2,

    which makes the interval of a mean of normal data about equal to the t interval. ``raters`` is n for each
    cell, or one n for all. ``expand=False`` gives the plain interval.
    """
    samples = _checked_replicates(replicates)
    n = np.broadcast_to(np.asarray(raters, np.float64), samples.shape[1:])  # (cells,)
    inflation = np.sqrt(np.maximum(n, 2) / np.maximum(n - 1, 1))
    tail = expanded_tail(level, np.maximum(n - 1, 1), inflation) if expand else (1 - level) / 2
    lower = np.where(n >= 2, tail, np.nan)
    return quantiles(samples, lower), quantiles(samples, 1 - lower)


def bca_interval(
    values: ArrayLike,
    replicates: ArrayLike,
    influence: ArrayLike,
    raters: ArrayLike,
    *,
    effective: ArrayLike | None = None,
    level: float = 0.95,
    expand: bool = True,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the bias-corrected, accelerated interval (low, high), each (cells,), widened for few raters.

    Where rates are near 0 or 1, or a few raters gave most of the answers, the percentile interval misses too often
    on one side. Efron's BCa moves both ends: with z₀ = Φ⁻¹(proportion of replicates below the estimate) and the
    acceleration a = Σ l³ / (6 (Σ l²)^{3/2}) from each rater's ``influence`` l (raters, cells; any scale; 0 for
    raters who did not judge the cell), the quantiles are

        Φ(z₀ + (z₀ ± z)/(1 − a (z₀ ± z))),    z = m/(m−1) · t₁₋α/₂,ₙ₋₁    (plain: Φ⁻¹(1−α/2)),

    with n ``raters`` behind the cell. m is ``effective``, the Kish number of raters (see
    :func:`beholder.stats.intervals.bootstrap.effective_raters`), n by default: raters with many answers count
    for more, which a factor of n alone does not see. The factor m/(m−1), not its root, is that of the
    leave-one-out ("HC3") variance; ``docs/measured/coverage.md`` has the coverage of both intervals.
    """
    samples, point, pull = (
        _checked_replicates(replicates),
        np.asarray(values, np.float64),
        np.asarray(influence, np.float64),
    )
    if point.shape != samples.shape[1:] or pull.ndim != 2 or pull.shape[1:] != point.shape:
        raise StatisticsError(
            f"BCa needs values (cells,), replicates (replicates, cells) and influence (raters, cells); found "
            f"{point.shape}, {samples.shape}, {pull.shape}"
        )
    n = np.broadcast_to(np.asarray(raters, np.float64), point.shape)
    m = n if effective is None else np.broadcast_to(np.asarray(effective, np.float64), point.shape)
    usable = (n >= 2) & (m > 1)
    reach = _reach(level, np.where(usable, n, 2.0), np.where(usable, m, 2.0), expand=expand)
    squares = (pull**2).sum(axis=0)
    still = squares == 0  # everyone answered alike: nothing to correct
    acceleration = (pull**3).sum(axis=0) / (6 * np.where(still, 1.0, squares) ** 1.5)
    return accelerated_interval(
        point, samples, np.where(usable, np.where(still, 0.0, reach), np.nan), acceleration
    )


def accelerated_interval(
    values: NDArray[np.float64],
    replicates: NDArray[np.float64],
    reach: NDArray[np.float64],
    acceleration: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the quantiles Φ(z₀ + (z₀ ± z)/(1 − a (z₀ ± z))) of ``replicates`` (replicates, cells).

    The low and the high ones come back, (cells,) each. z is the ``reach`` in normal quantiles (nan gives nan), a
    the ``acceleration``; each is (cells,).
    """
    defined = np.maximum(np.isfinite(replicates).sum(axis=0), 1)
    below = ((replicates < values).sum(axis=0) + 0.5 * (replicates == values).sum(axis=0)) / defined
    edge = 1 / (len(replicates) + 1)
    bias = special.ndtri(np.clip(below, edge, 1 - edge))
    ends = []
    for shift in (bias - reach, bias + reach):
        slope = 1 - acceleration * shift
        bent = bias + shift / np.where(slope > 0, slope, 1.0)
        bent = np.where(slope > 0, bent, np.copysign(np.inf, shift))
        ends.append(quantiles(replicates, np.where(np.isnan(reach), np.nan, special.ndtr(bent))))
    return ends[0], ends[1]


def expanded_tail(level: float, degrees: ArrayLike, inflation: ArrayLike) -> NDArray[np.float64]:
    """Return the tail probability Φ(−inflation · t₁₋α/₂,degrees) on each side.

    ``inflation`` is the unbiased over the bootstrap standard error: √(n/(n−1)) for one group of n raters.
    """
    reach = special.stdtrit(np.asarray(degrees, np.float64), _upper(level))
    return np.asarray(special.ndtr(-np.asarray(inflation, np.float64) * reach), np.float64)


def quantiles(samples: NDArray[np.float64], probability: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return one quantile of each column, each with its own ``probability`` (cells,); nan gives nan.

    Linear interpolation between order statistics, as numpy's default. Nan replicates are left out, and a column
    with more than 5 % of them gives nan.
    """
    ordered = np.sort(samples, axis=0)  # nan last
    defined = (~np.isnan(samples)).sum(axis=0)  # (cells,)
    unknown = np.isnan(probability) | (defined < (1 - UNDEFINED_LIMIT) * len(samples)) | (defined == 0)
    last = np.maximum(defined - 1, 0)
    position = np.where(unknown, 0.0, probability) * last
    below = np.floor(position).astype(np.int64)
    columns = np.arange(samples.shape[1])
    left, right = ordered[below, columns], ordered[np.minimum(below + 1, last), columns]
    return np.where(unknown, np.nan, left + (position - below) * (right - left))


def _reach(
    level: float, raters: NDArray[np.float64], effective: NDArray[np.float64], *, expand: bool
) -> NDArray[np.float64]:
    """Return the reach of a BCa confidence interval on each side, as a normal quantile (cells,)."""
    if not expand:
        return np.full(raters.shape, special.ndtri(_upper(level)))
    return np.asarray(effective / (effective - 1) * special.stdtrit(raters - 1, _upper(level)), np.float64)


def _upper(level: float) -> float:
    if not 0 < level < 1:
        raise StatisticsError(f"an interval needs a level between 0 and 1; found {level}")
    return (1 + level) / 2


def _checked_replicates(replicates: ArrayLike) -> NDArray[np.float64]:
    samples = np.asarray(replicates, np.float64)
    if samples.ndim != 2 or len(samples) == 0:
        raise StatisticsError(f"an interval needs replicates as (replicates, cells); found shape {samples.shape}")
    return np.where(np.isfinite(samples), samples, np.nan)
