"""Dose and response: how a rating changes over entries that differ in one controlled setting.

The doses x are brought to 0 for the first entry and 1 for the last. The slope of the least-squares line over the
ratings θ of the entries,

    b = Σ (x − x̄) θ / Σ (x − x̄)²,

is a contrast of the ratings: the change from the first to the last entry along the line. Its standard error is
that of the contrast over prompts and raters, so every prompt is compared with itself. Every entry's difference
from the first is tested, too, with p-values adjusted by Holm's method: the first entry at which the change is
detected. All numbers are divided by ``unit``, such as the standard deviation between prompts, which makes
measures on different scales comparable.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from beholder.errors import StatisticsError
from beholder.stats.intervals.crossed_t import FEWEST, CrossedInfluence, contrast_errors
from beholder.stats.significance.holm import holm


@dataclass(frozen=True, eq=False)
class DoseResponse:
    """The slope over doses, and each entry's difference from the first."""

    slope: float  # in units; nan, with its interval, with fewer than five prompts or raters
    low: float
    high: float
    p_value: float  # two-sided
    difference: NDArray[np.float64]  # (entries − 1,) in units
    difference_low: NDArray[np.float64]
    difference_high: NDArray[np.float64]
    p_adjusted: NDArray[np.float64]  # of the differences
    prompts: int
    raters: int  # 0 where a program scores
    level: float

    @property
    def detected(self) -> NDArray[np.bool_]:
        """Which differences are significant (entries − 1,)."""
        return np.asarray(self.p_adjusted < 1 - self.level, np.bool_)


def dose_response(
    cells: CrossedInfluence,
    entries: Sequence[int],
    doses: Sequence[float],
    *,
    unit: float = 1.0,
    level: float = 0.95,
) -> DoseResponse:
    """Estimate how ratings change with the dose.

    Args:
        cells: The ratings of all entries, with influences.
        entries: The cells of the variants, in the order of their doses.
        doses: The value of the setting for each of them, rising or falling.
        unit: What ratings are divided by; below 0 where lower is better.
        level: Of the intervals; 1 − the chance of any false detection among the differences.

    Returns:
        The slope and the differences from the first variant.

    Example:
        >>> from beholder.stats.intervals.crossed_t import crossed_means
        >>> prompt, cell = np.divmod(np.arange(60), 3)
        >>> noise = np.random.default_rng(0).normal(0, 0.1, 60)
        >>> cells = crossed_means(None, prompt, cell, prompt * 0.3 + cell * 0.5 + noise)
        >>> curve = dose_response(cells, [0, 1, 2], [1.0, 2.0, 3.0])
        >>> round(curve.slope, 1), curve.detected.tolist()
        (1.0, [True, True])
    """
    count = len(entries)
    x = np.asarray(doses, np.float64)
    if count < 2 or x.shape != (count,) or x[0] == x[-1] or unit == 0:
        raise StatisticsError(
            f"a dose response needs at least two entries, each with a dose; found {count}, {doses}"
        )
    x = (x - x[0]) / (x[-1] - x[0])
    centred = x - x.mean()
    weights = np.zeros((count, len(cells.values)))
    weights[0, list(entries)] = centred / (centred @ centred)
    weights[np.arange(1, count), list(entries)[1:]] = 1.0
    weights[1:, entries[0]] = -1.0
    errors = contrast_errors(cells, weights)
    sample = errors.prompts if cells.raters is None else np.minimum(errors.raters, errors.prompts)
    estimate = weights @ cells.values / unit
    error = np.where(sample >= FEWEST, errors.standard_error / abs(unit), np.nan)
    rounding = (np.abs(estimate) < 1e-9) & (error < 1e-9)  # variants that a measure scores alike
    estimate, error = np.where(rounding, 0.0, estimate), np.where(rounding, 0.0, error)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where((error == 0) & (estimate == 0), 0.0, np.abs(estimate) / error)
    p_value = 2 * special.stdtr(errors.degrees, -t)
    reach = special.stdtrit(errors.degrees, (1 + level) / 2) * error
    low, high = estimate - reach, estimate + reach
    return DoseResponse(
        slope=float(estimate[0]),
        low=float(low[0]),
        high=float(high[0]),
        p_value=float(p_value[0]),
        difference=estimate[1:],
        difference_low=low[1:],
        difference_high=high[1:],
        p_adjusted=holm(p_value[1:]),
        prompts=int(errors.prompts[0]),
        raters=int(errors.raters[0]),
        level=level,
    )
