"""The difference of two proportions of independent cases: Newcombe's interval and Fisher's exact test.

With Wilson's interval (lᵢ, uᵢ) of each proportion pᵢ, the interval of p₁ − p₂ is

    p₁ − p₂ − √((p₁ − l₁)² + (u₂ − p₂)²)  to  p₁ − p₂ + √((u₁ − p₁)² + (p₂ − l₂)²),

which also holds for few cases and proportions near 0 or 1.

Reference: R. G. Newcombe (1998), *Interval estimation for the difference between independent proportions*,
Statistics in Medicine 17(8), method 10.
"""

from dataclasses import dataclass

import numpy as np
from scipy import stats

from beholder.errors import StatisticsError
from beholder.stats.intervals.proportions import wilson


@dataclass(frozen=True)
class ProportionDifference:
    """One proportion less another."""

    first: float
    second: float
    low: float
    high: float
    p_value: float  # Fisher's exact test, two-sided
    level: float

    @property
    def difference(self) -> float:
        """The first less the second."""
        return self.first - self.second


def two_proportions(
    successes: tuple[int, int], trials: tuple[int, int], *, level: float = 0.95
) -> ProportionDifference:
    """Compare two proportions.

    Args:
        successes: Of both samples.
        trials: Of both samples, at least 1 each.
        level: Of the interval.

    Returns:
        The difference with its interval and the exact p-value.

    Example:
        >>> both = two_proportions((56, 48), (70, 80))  # Newcombe's first example
        >>> round(both.low, 4), round(both.high, 4)
        (0.0524, 0.3339)
    """
    if min(trials) < 1 or any(not 0 <= k <= n for k, n in zip(successes, trials, strict=True)):
        raise StatisticsError(
            f"two proportions need 0 ≤ successes ≤ trials, trials ≥ 1; found {successes}, {trials}"
        )
    first, second = (k / n for k, n in zip(successes, trials, strict=True))
    low, high = wilson(np.array(successes), np.array(trials), level)
    table = np.array([[k, n - k] for k, n in zip(successes, trials, strict=True)])
    return ProportionDifference(
        first,
        second,
        float(first - second - np.hypot(first - low[0], high[1] - second)),
        float(first - second + np.hypot(high[0] - first, second - low[1])),
        float(stats.fisher_exact(table).pvalue),
        level,
    )
