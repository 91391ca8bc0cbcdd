"""Replications: what a second study should find if the first is right, and what it says if it does not.

An original effect θ̂₁ with standard error SE₁ and a replication θ̂₂ with SE₂ estimate the same θ. Then θ̂₂ lies in

    θ̂₁ ± t_ν · √(SE₁² + SE₂²)    (prediction interval; Patil, Peng and Leek 2016)

with a chance of 1 − α, ν the degrees of freedom of both by Satterthwaite. Both errors must be those of what is
drawn again: a replication with new raters but the same prompts has the errors over raters alone.

Two further criteria are in use. *Same sign and significant* asks of the replication what was asked of the
original; it fails often with small replications of true effects. *Small telescopes* (Simonsohn 2015) asks whether
the replication rejects, one-sided, every effect that the original could have seen with a power of at least 1/3,
its d33 = δ₃₃ · SE₁: then the original study was too small to say anything about an effect of this size.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import optimize, special, stats

from beholder.errors import StatisticsError

Verdict = Literal["replicated", "smaller", "contradicted", "not replicated", "inconclusive"]

SMALL_POWER = 1 / 3
"""The power that the original study had at d33."""

TELESCOPES = 2.5
"""How many times the original sample Simonsohn's replication has: it rejects d33 with a power of .8 at 0."""


@dataclass(frozen=True)
class Effect:
    """An estimated effect with its standard error and degrees of freedom."""

    estimate: float
    standard_error: float
    degrees: float

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return its confidence interval."""
        reach = float(special.stdtrit(self.degrees, (1 + level) / 2)) * self.standard_error
        return self.estimate - reach, self.estimate + reach

    @property
    def p_value(self) -> float:
        """Two-sided; 1 for an effect of exactly 0."""
        if self.estimate == 0:
            return 1.0
        if self.standard_error == 0:
            return 0.0
        return float(2 * special.stdtr(self.degrees, -abs(self.estimate) / self.standard_error))


@dataclass(frozen=True)
class Replication:
    """What a replication says about an effect."""

    original: Effect
    replication: Effect
    low: float  # of the prediction interval
    high: float
    within: bool  # whether the replication lies in it
    same_sign_significant: bool
    d33: float  # the effect that the original had a power of 1/3 to detect, with the sign of its estimate
    p_small: float  # one-sided: the true effect is at least d33
    combined: Effect  # both studies together, weighted by precision
    verdict: Verdict
    level: float


def predict(
    original: Effect, error_again: float, degrees_again: float, *, level: float = 0.95
) -> tuple[float, float]:
    """Return the interval in which a replication's estimate lies if both studies estimate the same effect.

    Args:
        original: The effect, with the error over what is drawn again.
        error_again: Standard error of the replication.
        degrees_again: Its degrees of freedom.
        level: The chance to lie inside.

    Returns:
        Both ends.

    Example:
        >>> low, high = predict(Effect(0.5, 0.1, 1e6), 0.1, 1e6)  # 0.5 ± 1.960 · 0.1414
        >>> round(low, 3), round(high, 3)
        (0.223, 0.777)
    """
    if not (original.standard_error >= 0 and error_again >= 0 and 0 < level < 1):
        raise StatisticsError(
            f"a prediction needs standard errors of at least 0 and a level between 0 and 1; found "
            f"{original.standard_error}, {error_again}, {level}"
        )
    both = original.standard_error**2 + error_again**2
    below = original.standard_error**4 / original.degrees + error_again**4 / degrees_again
    degrees = both**2 / below if below > 0 else 1e9
    reach = float(special.stdtrit(degrees, (1 + level) / 2)) * float(np.sqrt(both))
    return original.estimate - reach, original.estimate + reach


def compare_replication(original: Effect, again: Effect, *, level: float = 0.95) -> Replication:
    """Say what a replication says about an original effect, by every criterion.

    Args:
        original: The effect, with the error over what was drawn again.
        again: The replication.
        level: Of the prediction interval and the tests.

    Returns:
        The criteria, both studies together, and a verdict: *replicated* (inside the prediction interval, same sign
        and significant), *smaller* (same sign and significant, but outside), *contradicted* (significant with the
        other sign), *not replicated* (outside, or rejects d33), otherwise *inconclusive*.

    Example:
        >>> compare_replication(Effect(0.5, 0.1, 50), Effect(0.4, 0.1, 50)).verdict
        'replicated'
        >>> compare_replication(Effect(0.5, 0.2, 50), Effect(0.0, 0.05, 50)).verdict
        'not replicated'
    """
    low, high = predict(original, again.standard_error, again.degrees, level=level)
    within = low <= again.estimate <= high
    significant = again.p_value < 1 - level
    same = significant and np.sign(again.estimate) == np.sign(original.estimate)
    small = _small_effect(original, level)
    p_small = _below(again, small)
    return Replication(
        original,
        again,
        low,
        high,
        bool(within),
        bool(same),
        small,
        p_small,
        _combined(original, again),
        _verdict(within=bool(within), same=bool(same), significant=significant, too_small=p_small < 1 - level),
        level,
    )


def _verdict(*, within: bool, same: bool, significant: bool, too_small: bool) -> Verdict:
    if same:
        return "replicated" if within else "smaller"
    if significant:
        return "contradicted"
    return "not replicated" if too_small or not within else "inconclusive"


def _small_effect(original: Effect, level: float) -> float:
    """Return d33, with the sign of the original estimate."""
    critical = float(special.stdtrit(original.degrees, (1 + level) / 2))
    degrees = min(original.degrees, 1e6)

    def power(away: float) -> float:
        return float(stats.nct.sf(critical, degrees, away) + stats.nct.cdf(-critical, degrees, away))

    away = float(optimize.brentq(lambda size: power(size) - SMALL_POWER, 0.0, critical + 2.0))
    return away * original.standard_error * (1.0 if original.estimate >= 0 else -1.0)


def _below(again: Effect, small: float) -> float:
    """Return P(t ≤ (θ̂₂ − d33)/SE₂) for a positive d33, and its mirror image for a negative one."""
    sign = 1.0 if small >= 0 else -1.0
    apart = sign * (again.estimate - small)
    if again.standard_error == 0:
        return float(apart >= 0)
    return float(special.stdtr(again.degrees, apart / again.standard_error))


def _combined(original: Effect, again: Effect) -> Effect:
    """Return both effects weighted by their precision."""
    if min(original.standard_error, again.standard_error) == 0:
        return original if original.standard_error <= again.standard_error else again
    weights = np.array([original.standard_error, again.standard_error]) ** -2.0
    estimates = np.array([original.estimate, again.estimate])
    return Effect(
        float(weights @ estimates / weights.sum()),
        float(weights.sum() ** -0.5),
        original.degrees + again.degrees,
    )
