"""Confidence sequences: intervals that hold at every look at once, so that one may look daily and stop at will.

The unit is the **rater**: answers of one rater are alike, so a rater enters once, with their mean, in the
order in which raters finished. A plain 95 % interval that is looked at after every rater misses the true value at
some time far more often than in 5 % of studies; these miss it at any time in at most 5 %.

*Betting* (Waudby-Smith and Ramdas 2024), for means within known bounds, valid for any number of raters. Scaled to
[0, 1], a gambler who bets that the mean is not m has after t raters the capital

    K_t(m) = ½ Π (1 + λᵢ⁺(m)(xᵢ − m)) + ½ Π (1 − λᵢ⁻(m)(xᵢ − m)),    λᵢ⁺ = min(λᵢ, c/m),  λᵢ⁻ = min(λᵢ, c/(1−m)),
    λᵢ = √(2 log(2/α) / (σ̂²ᵢ₋₁ i log(i+1))),

which is a martingale from 1 where m is the true mean: it ever reaches 1/α with a chance of at most α (Ville). The
sequence holds all m that have not been bet away.

*Asymptotic* (Waudby-Smith et al. 2021), for means without bounds, valid for many raters:

    x̄_t ± σ̂_t √((2(tρ² + 1)/(t²ρ²)) log(√(tρ² + 1)/α)).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import optimize

from beholder.errors import StatisticsError

_GRID = 1000  # candidate means between the bounds
_CAUTION = 0.75  # c: the most of the capital that one bet may lose
_LEAST = 50  # raters before the asymptotic sequence says anything: with fewer, skewed scores miss too often


@dataclass(frozen=True, eq=False)
class ConfidenceSequence:
    """A confidence interval after each rater; all hold the true value together with probability ``level``."""

    low: NDArray[np.float64]  # (raters,) never falling
    high: NDArray[np.float64]  # (raters,) never rising
    mean: NDArray[np.float64]  # (raters,) of the raters so far
    level: float
    method: str


def betting_sequence(
    scores: ArrayLike, *, bounds: tuple[float, float] = (0.0, 1.0), level: float = 0.95
) -> ConfidenceSequence:
    """Return the sequence for the mean of ``scores`` (raters,), one each, in order of arrival, within ``bounds``.

    Intervals are those of all looks so far intersected. Ends lie on a grid of 1,000 steps, rounded outwards.
    """
    unit, span = _scaled(scores, bounds, level)
    candidates = np.linspace(0, 1, _GRID + 1)
    capital = log_capital(unit, candidates, level=level)  # (raters, candidates)
    alive = np.maximum.accumulate(capital, axis=0) < np.log(1 / (1 - level))
    # The set of survivors is an interval; the first and last one, a step further out.
    any_left = alive.any(axis=1)
    first = np.where(any_left, np.argmax(alive, axis=1) - 1, 0)
    last = np.where(any_left, _GRID - np.argmax(alive[:, ::-1], axis=1) + 1, _GRID)
    low, high = candidates[np.maximum(first, 0)], candidates[np.minimum(last, _GRID)]
    low, high = np.maximum.accumulate(low), np.minimum.accumulate(high)
    mean = np.cumsum(unit) / np.arange(1, len(unit) + 1)
    begin = bounds[0]
    return ConfidenceSequence(begin + span * low, begin + span * high, begin + span * mean, level, "betting")


def asymptotic_sequence(scores: ArrayLike, *, level: float = 0.95, tightest_at: int = 100) -> ConfidenceSequence:
    """Return the sequence for the mean of ``scores`` (raters,) without bounds; infinite for the first 49 raters.

    ρ is chosen so that the confidence interval is narrowest after ``tightest_at`` raters. Where all scores so far
    are equal nothing is known of their spread, and the interval stays infinite.
    """
    score = _rater_scores(scores, level)
    t = np.arange(1, len(score) + 1, dtype=np.float64)
    mean = np.cumsum(score) / t
    off = score - score[0]  # against cancellation
    variance = np.maximum(np.cumsum(off**2) / t - (np.cumsum(off) / t) ** 2, 0.0)
    rho = _mixture_width(1 - level, tightest_at)
    spread = t * rho**2 + 1
    reach = np.sqrt(variance * 2 * spread / (t**2 * rho**2) * np.log(np.sqrt(spread) / (1 - level)))
    reach = np.where((t >= _LEAST) & (variance > 0), reach, np.inf)
    low, high = np.maximum.accumulate(mean - reach), np.minimum.accumulate(mean + reach)
    return ConfidenceSequence(low, high, mean, level, "asymptotic")


def paired_differences(first: ArrayLike, second: ArrayLike, *, within: bool) -> NDArray[np.float64]:
    """Return the differences that a comparison of two generators rests on, in order of arrival.

    ``within``: the same raters judged both, row by row; raters who lack either (nan) are left out. Otherwise
    different raters judged them, and the k-th rater of one is set against the k-th of the other; whoever has no
    partner yet waits.
    """
    left, right = np.asarray(first, np.float64), np.asarray(second, np.float64)
    if left.ndim != 1 or right.ndim != 1 or (within and len(left) != len(right)):
        raise StatisticsError(
            "differences need one score per rater, within raters as many of both; found "
            f"{left.shape}, {right.shape}"
        )
    if within:
        complete = ~np.isnan(left) & ~np.isnan(right)
        return np.asarray(left[complete] - right[complete], np.float64)
    left, right = left[~np.isnan(left)], right[~np.isnan(right)]
    pairs = min(len(left), len(right))
    return np.asarray(left[:pairs] - right[:pairs], np.float64)


def difference_sequence(
    first: ArrayLike,
    second: ArrayLike,
    *,
    within: bool,
    bounds: tuple[float, float] = (0.0, 1.0),
    level: float = 0.95,
) -> ConfidenceSequence:
    """Return the betting sequence for the difference of two generators whose scores lie within ``bounds``."""
    span = bounds[1] - bounds[0]
    return betting_sequence(paired_differences(first, second, within=within), bounds=(-span, span), level=level)


def log_capital(
    scores: NDArray[np.float64], candidates: NDArray[np.float64], *, level: float = 0.95
) -> NDArray[np.float64]:
    """Return log K_t(m) after each rater for each candidate mean m, as (raters, candidates); scores in [0, 1]."""
    t = np.arange(1, len(scores) + 1)
    running = (0.5 + np.cumsum(scores)) / (t + 1)
    variance = (0.25 + np.cumsum((scores - running) ** 2)) / (t + 1)
    past_variance = np.concatenate([[0.25], variance[:-1]])  # before each rater: a bet may not look ahead
    bet = np.sqrt(2 * np.log(2 / (1 - level)) / (past_variance * t * np.log(t + 1)))[:, None]
    with np.errstate(divide="ignore"):
        up = np.minimum(bet, _CAUTION / candidates)
        down = np.minimum(bet, _CAUTION / (1 - candidates))
    off = scores[:, None] - candidates
    above, below = np.cumsum(np.log1p(up * off), axis=0), np.cumsum(np.log1p(-down * off), axis=0)
    return np.asarray(np.logaddexp(above, below) - np.log(2), np.float64)


def _mixture_width(alpha: float, rater_count: int) -> float:
    """Return the ρ with the narrowest asymptotic confidence interval after so many raters."""

    def width(log_rho: float) -> float:
        square = rater_count * np.exp(2 * log_rho)
        return float((square + 1) / square * np.log(np.sqrt(square + 1) / alpha))

    return float(np.exp(optimize.minimize_scalar(width, bounds=(-8.0, 4.0), method="bounded").x))


def _scaled(scores: ArrayLike, bounds: tuple[float, float], level: float) -> tuple[NDArray[np.float64], float]:
    """Return the scores on [0, 1], and the width of the bounds."""
    score = _rater_scores(scores, level)
    low, high = bounds
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        raise StatisticsError(f"bounds need to be finite and rising; found {bounds}")
    if np.any((score < low) | (score > high)):
        raise StatisticsError(f"scores need to lie within {low} … {high}; found {score.min()} … {score.max()}")
    return (score - low) / (high - low), high - low


def _rater_scores(scores: ArrayLike, level: float) -> NDArray[np.float64]:
    score = np.asarray(scores, np.float64)
    if score.ndim != 1 or not np.all(np.isfinite(score)):
        raise StatisticsError(f"a confidence sequence needs one finite score per rater; found {score.shape}")
    if len(score) == 0:
        raise StatisticsError("a confidence sequence needs at least one rater; found none")
    if not 0 < level < 1:
        raise StatisticsError(f"an interval needs a level between 0 and 1; found {level}")
    return score
