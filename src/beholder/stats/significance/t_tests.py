"""Student's t for two conditions of the same raters, or for two groups of raters; one number per rater."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from beholder.errors import StatisticsError


@dataclass(frozen=True)
class TTest:
    """The mean difference, its t confidence interval and its test."""

    difference: float  # first − second
    low: float
    high: float
    statistic: float
    degrees: float
    p_value: float  # two-sided
    level: float
    method: str
    raters: int


def paired_t(first: ArrayLike, second: ArrayLike, *, level: float = 0.95) -> TTest:
    """Compare two numbers of each rater, such as errors on fakes and on reals: n − 1 degrees of freedom."""
    left, right = _values(first), _values(second)
    if left.shape != right.shape:
        raise StatisticsError(
            f"a paired test needs two numbers of each rater; found {len(left)} and {len(right)}; "
            "use an unpaired test for different raters"
        )
    gaps = left - right
    error = gaps.std(ddof=1) / np.sqrt(len(gaps))
    return _test(float(gaps.mean()), float(error), len(gaps) - 1.0, level, "paired t", len(gaps))


def unpaired_t(first: ArrayLike, second: ArrayLike, *, pooled: bool = False, level: float = 0.95) -> TTest:
    """Compare two groups of raters: Welch's test, or Student's with one ``pooled`` spread."""
    left, right = _values(first), _values(second)
    n, m = len(left), len(right)
    mean_variances = np.array([left.var(ddof=1) / n, right.var(ddof=1) / m])
    if pooled:
        common = (left.var(ddof=1) * (n - 1) + right.var(ddof=1) * (m - 1)) / (n + m - 2)
        error, degrees = np.sqrt(common * (1 / n + 1 / m)), n + m - 2.0
    else:
        error = np.sqrt(mean_variances.sum())
        below = mean_variances[0] ** 2 / (n - 1) + mean_variances[1] ** 2 / (m - 1)
        degrees = mean_variances.sum() ** 2 / below if below > 0 else n + m - 2.0
    name = "Student's t" if pooled else "Welch's t"
    return _test(float(left.mean() - right.mean()), float(error), float(degrees), level, name, n + m)


def _test(difference: float, error: float, degrees: float, level: float, method: str, raters: int) -> TTest:
    """Without any spread t is 0 for no difference and infinite for one."""
    if not 0 < level < 1:
        raise StatisticsError(f"an interval needs a level between 0 and 1; found {level}")
    still = 0.0 if difference == 0 else float(np.copysign(np.inf, difference))
    t = difference / error if error > 0 else still
    reach = float(special.stdtrit(degrees, (1 + level) / 2)) * error
    p_value = float(2 * special.stdtr(degrees, -abs(t)))
    return TTest(difference, difference - reach, difference + reach, t, degrees, p_value, level, method, raters)


def _values(values: ArrayLike) -> NDArray[np.float64]:
    array = np.asarray(values, np.float64)
    if array.ndim != 1 or len(array) < 2 or not np.all(np.isfinite(array)):
        raise StatisticsError(
            f"a t test needs one finite number per rater, at least two raters; found shape {array.shape}, "
            f"{int((~np.isfinite(array)).sum())} not finite"
        )
    return array
