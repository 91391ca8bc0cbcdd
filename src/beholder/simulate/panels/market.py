"""A market of studies: is work better where it opens to well-rated raters first?"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beholder.care.boomerang import CASCADE, DECAY, STEP_SECONDS, UNRATED

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Market:
    """Studies of one researcher, one after another, and the raters of the panel."""

    raters: int = 120
    studies: int = 8
    slots: int = 30
    """raters per study: the cost, which is the same for both ways of opening it"""
    answers: int = 40
    """of each rater per study"""
    gold: int = 5
    """of these checked: what the researcher's rating rests on"""
    accuracy: tuple[float, float] = (13.0, 4.0)
    """Beta parameters of the raters' accuracy"""
    hour: float = 3600.0
    """within which all raters look at the list of studies once, evenly"""


@dataclass(frozen=True, slots=True)
class MarketOutcome:
    """Mean accuracy of all answers from the second study on."""

    first_come: float
    boomerang: float
    newcomers: float
    """proportion of the slots of later studies that went to raters who were never rated, under Boomerang"""


def simulate_market(market: Market, rng: np.random.Generator) -> MarketOutcome:
    """Simulate the same raters and arrivals under first-come and under Boomerang.

    Args:
        market: Studies and raters.
        rng: For everything that is drawn.

    Returns:
        Accuracy of the answers, at the same number of them.

    Example:
        >>> outcome = simulate_market(Market(), np.random.default_rng(0))
        >>> outcome.boomerang > outcome.first_come
        True
    """
    accuracy = rng.beta(*market.accuracy, market.raters)
    arrivals = rng.uniform(0, market.hour, (market.studies, market.raters))
    checks = rng.random((market.studies, market.raters, market.gold))
    plain = [float(accuracy[np.argsort(times)[: market.slots]].mean()) for times in arrivals]
    score_sum, weight_sum = np.zeros(market.raters), np.zeros(market.raters)
    boomerang: list[float] = []
    newcomers: list[float] = []
    alpha = DECAY["researcher"]
    for study, times in enumerate(arrivals):
        score = np.where(weight_sum > 0, score_sum / np.where(weight_sum > 0, weight_sum, 1), UNRATED)
        joined = np.argsort(_entry(score, times), kind="stable")[: market.slots]
        boomerang.append(float(accuracy[joined].mean()))
        newcomers.append(float(np.mean(weight_sum[joined] == 0)))
        right = (checks[study, joined] < accuracy[joined, None]).mean(axis=1)
        rating = _ratings(right)
        score_sum[joined] = rating + alpha * score_sum[joined]
        weight_sum[joined] = 1 + alpha * weight_sum[joined]
    return MarketOutcome(float(np.mean(plain[1:])), float(np.mean(boomerang[1:])), float(np.mean(newcomers[1:])))


def _entry(score: Array, arrival: Array) -> Array:
    """Return when each rater can start: on arrival, or when the cascade comes down to their score."""
    opens = np.full(len(score), (len(CASCADE) - 1) * STEP_SECONDS)
    for step, threshold in reversed(list(enumerate(CASCADE))):
        opens = np.where(score >= threshold, step * STEP_SECONDS, opens)
    return np.asarray(np.maximum(arrival, opens), np.float64)


def _ratings(right: Array) -> Array:
    """Return the researcher's ratings: all gold right is 3, fewer than four in five 1, others 2."""
    return np.asarray(np.where(right >= 1.0, 3.0, np.where(right < 0.8, 1.0, 2.0)), np.float64)
