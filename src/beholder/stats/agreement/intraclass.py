"""Intraclass correlations ICC(1), ICC(2) and ICC(3), of one rater or of the mean of all, with F intervals.

With n items, k raters and the mean squares of items B, raters J, error E and within items W:

    ICC(1) = (B − W)/(B + (k−1)W)                        raters differ from item to item
    ICC(2) = (B − E)/(B + (k−1)E + k(J − E)/n)           raters are a sample; agreement
    ICC(3) = (B − E)/(B + (k−1)E)                        these raters only; consistency

and of the mean of k raters (B − W)/B, (B − E)/(B + (J − E)/n), (B − E)/B. Shrout and Fleiss, "Intraclass
correlations: uses in assessing rater reliability", Psychological Bulletin 86 (1979); the interval of ICC(2) with
the degrees of freedom of McGraw and Wong, Psychological Methods 1 (1996). The confidence intervals take the errors
as normal and independent.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from beholder.errors import StatisticsError
from beholder.stats.agreement.answers import complete_matrix, long_answers
from beholder.stats.estimate import Estimate


@dataclass(frozen=True)
class Intraclass:
    """The six correlations, and the test that all items are alike."""

    one_way: Estimate  # ICC(1,1)
    random: Estimate  # ICC(2,1)
    fixed: Estimate  # ICC(3,1)
    one_way_mean: Estimate  # ICC(1,k)
    random_mean: Estimate  # ICC(2,k)
    fixed_mean: Estimate  # ICC(3,k)
    f: float  # B/E, with n − 1 and (n − 1)(k − 1) degrees of freedom
    p_value: float


def intraclass(raters: ArrayLike, items: ArrayLike, values: ArrayLike, *, level: float = 0.95) -> Intraclass:
    """Return the correlations of long answers; every rater has to judge every item.

    Where all raters give the same scores, which differ by item, all are 1 with the confidence interval [1, 1].
    """
    if not 0 < level < 1:
        raise StatisticsError(f"an interval needs a level between 0 and 1; found {level}")
    matrix = complete_matrix(long_answers(raters, items, values), "an intraclass correlation").T  # (items, raters)
    n, k = matrix.shape
    if n < 2 or k < 2:
        raise StatisticsError(f"an intraclass correlation needs two items and two raters; found {n}, {k}")
    squares = _mean_squares(matrix.astype(np.float64))
    between, judges, error, within = squares
    tiny = 1e-24 * float(np.max(matrix**2))  # rounding of means that are equal
    if between <= tiny and within <= tiny:
        raise StatisticsError("an intraclass correlation needs scores that differ; found one value only")
    error, within = (0.0 if square <= tiny else square for square in (error, within))

    upper = (1 + level) / 2
    one_way_ends = _f_interval(between, within, n - 1, n * (k - 1), upper)
    fixed_ends = _f_interval(between, error, n - 1, (n - 1) * (k - 1), upper)
    random = _ratio(between - error, between + (k - 1) * error + k * (judges - error) / n)
    random_ends = _random_interval(random, (between, judges, error), n, k, upper)

    def estimate(value: float, interval: tuple[float, float], *, mean: bool) -> Estimate:
        low, high = (_stepped_up(end, k) for end in interval) if mean else interval
        return Estimate(value, low, high, level, "F, over items", raters=k, items=n, answers=n * k)

    def from_ratio(ends: tuple[float, float]) -> tuple[float, float]:
        low, high = (1.0 if np.isinf(f) else (f - 1) / (f + k - 1) for f in ends)
        return low, high

    one_way, fixed = (_ratio(between - s, between + (k - 1) * s) for s in (within, error))
    f = between / error if error > 0 else np.inf
    return Intraclass(
        one_way=estimate(one_way, from_ratio(one_way_ends), mean=False),
        random=estimate(random, random_ends, mean=False),
        fixed=estimate(fixed, from_ratio(fixed_ends), mean=False),
        one_way_mean=estimate(_ratio(between - within, between), from_ratio(one_way_ends), mean=True),
        random_mean=estimate(_ratio(between - error, between + (judges - error) / n), random_ends, mean=True),
        fixed_mean=estimate(_ratio(between - error, between), from_ratio(fixed_ends), mean=True),
        f=float(f),
        p_value=float(special.fdtrc(n - 1, (n - 1) * (k - 1), f)) if np.isfinite(f) else 0.0,
    )


def _mean_squares(matrix: NDArray[np.float64]) -> tuple[float, float, float, float]:
    """Return the mean squares of items, raters, error, and within items, of ``matrix`` (items, raters)."""
    n, k = matrix.shape
    grand, of_items, of_raters = matrix.mean(), matrix.mean(axis=1), matrix.mean(axis=0)
    residual = matrix - of_items[:, None] - of_raters[None, :] + grand
    between = k * ((of_items - grand) ** 2).sum() / (n - 1)
    judges = n * ((of_raters - grand) ** 2).sum() / (k - 1)
    error = (residual**2).sum() / ((n - 1) * (k - 1))
    within = ((matrix - of_items[:, None]) ** 2).sum() / (n * (k - 1))
    return float(between), float(judges), float(error), float(within)


def _f_interval(between: float, noise: float, d1: int, d2: int, upper: float) -> tuple[float, float]:
    """Return the ends of the ratio F = between/noise: F/F₍upper; d1, d2₎ and F·F₍upper; d2, d1₎."""
    if noise == 0:
        return np.inf, np.inf
    f = between / noise
    return float(f / special.fdtri(d1, d2, upper)), float(f * special.fdtri(d2, d1, upper))


def _random_interval(
    icc: float, squares: tuple[float, float, float], n: int, k: int, upper: float
) -> tuple[float, float]:
    """Return the confidence interval of ICC(2,1); its degrees of freedom are Satterthwaite's."""
    between, judges, error = squares
    if judges == 0 and error == 0:
        return 1.0, 1.0
    rest = (n * (1 + (k - 1) * icc) - k * icc) * error
    below = (n - 1) * (k * icc * judges) ** 2 + rest**2
    degrees = (n - 1) * (k - 1) * (k * icc * judges + rest) ** 2 / below
    noise = k * judges + (k * n - k - n) * error
    at_low, at_high = special.fdtri(n - 1, degrees, upper), special.fdtri(degrees, n - 1, upper)
    low = n * (between - at_low * error) / (at_low * noise + n * between)
    high = n * (at_high * between - error) / (noise + n * at_high * between)
    return float(low), float(high)


def _stepped_up(single: float, k: int) -> float:
    """Return the correlation of the mean of k raters from that of one (Spearman and Brown)."""
    return _ratio(k * single, 1 + (k - 1) * single)


def _ratio(above: float, below: float) -> float:
    return above / below if below != 0 else np.nan
