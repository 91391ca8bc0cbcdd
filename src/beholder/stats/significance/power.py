"""The number of independent answers that a study needs, and the power of a given number.

Two-sided tests, normal approximation, the far tail left out (so sample size and power are exact inverses).
Answers of one rater are alike: multiply the answers by :func:`design_effect`.
"""

import math

from scipy import special

from beholder.errors import StatisticsError


def preference_votes(proportion: float, *, alpha: float = 0.05, power: float = 0.8) -> int:
    """Return the votes needed to distinguish a preference of ``proportion`` from 50 %.

    n = ((z₁₋α/₂ · ½ + z_power √(p(1−p))) / (p − ½))², rounded up.
    """
    _check_proportions(proportion)
    _check_difference(proportion - 0.5)
    spread = _quantile(alpha) * 0.5 + _power_quantile(power) * math.sqrt(proportion * (1 - proportion))
    return _up((spread / (proportion - 0.5)) ** 2)


def preference_power(proportion: float, votes: float, *, alpha: float = 0.05) -> float:
    """Return the power of ``votes`` to distinguish a preference of ``proportion`` from 50 %."""
    _check_proportions(proportion)
    _check_count(votes)
    reach = abs(proportion - 0.5) * math.sqrt(votes) - _quantile(alpha) * 0.5
    return float(special.ndtr(reach / math.sqrt(proportion * (1 - proportion))))


def proportions_group(first: float, second: float, *, alpha: float = 0.05, power: float = 0.8) -> int:
    """Return the answers needed **per group** to distinguish two proportions, such as generators' fooling rates.

    n = ((z₁₋α/₂ √(2p̄(1−p̄)) + z_power √(p₁(1−p₁) + p₂(1−p₂))) / (p₁ − p₂))², p̄ the mean, rounded up.
    """
    _check_proportions(first, second)
    _check_difference(first - second)
    null, alternative = _spreads(first, second)
    spread = _quantile(alpha) * null + _power_quantile(power) * alternative
    return _up((spread / (first - second)) ** 2)


def proportions_power(first: float, second: float, group: float, *, alpha: float = 0.05) -> float:
    """Return the power of ``group`` answers in each of two groups to distinguish two proportions."""
    _check_proportions(first, second)
    _check_count(group)
    null, alternative = _spreads(first, second)
    return float(special.ndtr((abs(first - second) * math.sqrt(group) - _quantile(alpha) * null) / alternative))


def means_group(difference: float, sd: float, *, alpha: float = 0.05, power: float = 0.8) -> int:
    """Return the ratings needed **per group** to distinguish two means: n = 2 sd² (z₁₋α/₂ + z_power)² / Δ²."""
    _check_difference(difference)
    _check_sd(sd)
    return _up(2 * (sd * (_quantile(alpha) + _power_quantile(power)) / difference) ** 2)


def means_power(difference: float, sd: float, group: float, *, alpha: float = 0.05) -> float:
    """Return the power of ``group`` ratings in each of two groups to distinguish two means."""
    _check_sd(sd)
    _check_count(group)
    return float(special.ndtr(abs(difference) * math.sqrt(group / 2) / sd - _quantile(alpha)))


def design_effect(answers_each: float, correlation: float) -> float:
    """Return 1 + (m−1)ρ: how many times more answers are needed when each rater gives m, correlated by ρ."""
    _check_count(answers_each)
    if not 0 <= correlation <= 1:
        raise StatisticsError(f"the correlation of one rater's answers must be in [0, 1]; found {correlation}")
    return 1 + (answers_each - 1) * correlation


def _spreads(first: float, second: float) -> tuple[float, float]:
    """Return the standard deviations of the difference of two answers under H₀ (pooled) and H₁."""
    mean = (first + second) / 2
    return math.sqrt(2 * mean * (1 - mean)), math.sqrt(first * (1 - first) + second * (1 - second))


def _quantile(alpha: float) -> float:
    if not 0 < alpha < 1:
        raise StatisticsError(f"α must be between 0 and 1; found {alpha}")
    return float(special.ndtri(1 - alpha / 2))


def _power_quantile(power: float) -> float:
    if not 0 < power < 1:
        raise StatisticsError(f"power must be between 0 and 1; found {power}")
    return float(special.ndtri(power))


def _up(size: float) -> int:
    return math.ceil(size - 1e-9)


def _check_proportions(*proportions: float) -> None:
    if not all(0 < proportion < 1 for proportion in proportions):
        raise StatisticsError(f"proportions must lie strictly between 0 and 1; found {proportions}")


def _check_difference(difference: float) -> None:
    if difference == 0 or not math.isfinite(difference):
        raise StatisticsError(f"no number of answers shows a difference of {difference}")


def _check_sd(sd: float) -> None:
    if not 0 < sd < math.inf:
        raise StatisticsError(f"a standard deviation must be above 0 and finite; found {sd}")


def _check_count(count: float) -> None:
    if not 1 <= count < math.inf:
        raise StatisticsError(f"a number of answers must be at least 1; found {count}")
