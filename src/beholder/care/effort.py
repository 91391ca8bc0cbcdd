"""Effort of a task by its error–time curve (Cheng, Teevan and Bernstein 2015), and the fair price that follows.

Raters answer under time limits. The error rate falls with the limit t as

    e(t) = floor + (chance − floor) · exp(−t/τ),

fitted by binomial maximum likelihood. The **error–time area** ∫ (e(t) − floor) dt = (chance − floor) · τ is the
effort: easy tasks have little of it. The time that a task needs is the t at which the error that time can still
remove has fallen to ``REMAINING`` of it; at the wage of a study it gives the price.
"""

import math
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import optimize

from beholder.care.top_ups import wage_cents
from beholder.errors import StatisticsError
from beholder.stats.estimate import Estimate

REMAINING = 0.05
REPLICATES = 200

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Effort:
    """The effort of a task, with confidence intervals by a parametric bootstrap over the answers."""

    area: Estimate
    """error–time area, in seconds"""
    seconds: Estimate
    """time that a trial needs"""
    floor: float
    """error rate that remains however long one looks"""
    time_constant: float
    chance: float

    def price_cents(self, hourly: Decimal) -> int:
        """Return the fair price of one trial, at a wage."""
        return wage_cents(self.seconds.value, hourly)


def measure_effort(
    limits: ArrayLike, errors: ArrayLike, answers: ArrayLike, rng: np.random.Generator, *, chance: float = 0.5
) -> Effort:
    """Fit the error–time curve of a task, and return its effort and the time it needs.

    Args:
        limits: Time limits in seconds (limits,).
        errors: Wrong answers under each (limits,).
        answers: All answers under each (limits,).
        rng: For the bootstrap.
        chance: Error rate without looking.

    Returns:
        Area, time and curve.

    Example:
        >>> effort = measure_effort([0.5, 1, 2, 4, 8], [40, 32, 20, 9, 6], [100] * 5, np.random.default_rng(0))
        >>> 0.6 < effort.area.value < 1.1, 4 < effort.seconds.value < 8
        (True, True)
    """
    t, k, n = (np.asarray(column, np.float64) for column in (limits, errors, answers))
    if t.ndim != 1 or t.shape != k.shape or t.shape != n.shape or len(t) < 3:
        raise StatisticsError("an error–time curve needs errors and answers under at least 3 time limits")
    if not np.all((k >= 0) & (k <= n) & (n > 0) & (t > 0)) or not 0 < chance < 1:
        raise StatisticsError("an error–time curve needs 0 ≤ errors ≤ answers and limits above 0")
    floor, constant = _fit(t, k, n, chance)
    rates = floor + (chance - floor) * np.exp(-t / constant)
    fits = [
        _fit(t, rng.binomial(n.astype(np.int64), rates).astype(np.float64), n, chance) for _ in range(REPLICATES)
    ]
    areas = np.array([(chance - low) * tau for low, tau in fits])
    times = np.array([_needed(tau) for _, tau in fits])

    def estimate(value: float, replicates: Array) -> Estimate:
        low, high = np.quantile(replicates, [0.025, 0.975])
        return Estimate(
            value=value,
            low=float(min(low, value)),
            high=float(max(high, value)),
            level=0.95,
            method="parametric bootstrap over answers",
            raters=0,
            answers=int(n.sum()),
            replicates=REPLICATES,
        )

    return Effort(
        estimate((chance - floor) * constant, areas), estimate(_needed(constant), times), floor, constant, chance
    )


def _fit(t: Array, k: Array, n: Array, chance: float) -> tuple[float, float]:
    """Return floor and time constant of the greatest likelihood."""

    def loss(parameters: Array) -> float:
        floor = chance / (1 + math.exp(-parameters[0]))
        rates = np.clip(floor + (chance - floor) * np.exp(-t / math.exp(parameters[1])), 1e-9, 1 - 1e-9)
        # a weak prior on the logit of the floor keeps it finite where no error is left
        return float(-np.sum(k * np.log(rates) + (n - k) * np.log1p(-rates)) + 0.005 * parameters[0] ** 2)

    start = np.array([-2.0, math.log(float(np.median(t)))])
    fitted = optimize.minimize(loss, start, method="BFGS", options={"gtol": 1e-3})
    return chance / (1 + math.exp(-float(fitted.x[0]))), math.exp(float(fitted.x[1]))


def _needed(constant: float) -> float:
    """Return the time after which ``REMAINING`` of the removable error is left: τ · log(1/REMAINING)."""
    return constant * math.log(1 / REMAINING)
