"""What a retrained model is worth: its error on held-out attacks and on the static test set, never one alone."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from beholder.errors import StatisticsError
from beholder.stats.estimate import Estimate

DRAWS = 2000


@dataclass(frozen=True, slots=True)
class RoundFigures:
    """A model after a round, with both of its errors: there is no way to state one without the other."""

    round: int
    parent: str | None
    """The model of the round before, which the attacks of this round were made against."""
    adversarial: Estimate
    static: Estimate


@dataclass(frozen=True, slots=True)
class Improvement:
    """A later model against an earlier one, paired by claim and by item of the static set."""

    adversarial: Estimate
    """Reduction of the error on held-out attacks, as a proportion of the earlier error."""
    static: Estimate
    """Later less earlier error on the static set."""


def round_figures(
    number: int,
    parent: str | None,
    attack_wrong: ArrayLike,
    attacker: ArrayLike,
    static_wrong: ArrayLike,
    *,
    rng: np.random.Generator,
    level: float = 0.95,
) -> RoundFigures:
    """Return both errors of a model, with percentile intervals over attackers and over items of the static set.

    Args:
        number: Of the round, from 1; 0 is the model before any.
        parent: Name of the model of the round before.
        attack_wrong: 1 where the model errs on a held-out verified attack, else 0.
        attacker: Who made each of them: attacks of one person are alike, and are resampled together.
        static_wrong: 1 where it errs on an item of the static test set.
        rng: Draws the resamples.
        level: Of the intervals.

    Returns:
        Both figures.
    """
    wrong, who, other = (
        np.asarray(attack_wrong, float),
        np.asarray(attacker, np.int64),
        np.asarray(static_wrong, float),
    )
    if len(wrong) == 0 or wrong.shape != who.shape or len(other) == 0:
        raise StatisticsError(
            "both figures need items: held-out attacks with their authors, and a static test set"
        )
    weights, own = _resamples(who, rng), _resamples(np.arange(len(other)), rng)
    return RoundFigures(
        number,
        parent,
        _estimate(wrong.mean(), _means(wrong, weights), len(np.unique(who)), len(wrong), level),
        _estimate(other.mean(), _means(other, own), len(other), len(other), level),
    )


def improvement(
    attack_before: ArrayLike,
    attack_after: ArrayLike,
    attacker: ArrayLike,
    static_before: ArrayLike,
    static_after: ArrayLike,
    *,
    rng: np.random.Generator,
    level: float = 0.95,
) -> Improvement:
    """Compare two models on the same held-out attacks and the same static set."""
    first, second, who = (
        np.asarray(attack_before, float),
        np.asarray(attack_after, float),
        np.asarray(attacker, np.int64),
    )
    still, now = np.asarray(static_before, float), np.asarray(static_after, float)
    if first.shape != second.shape or still.shape != now.shape or len(first) == 0 or len(still) == 0:
        raise StatisticsError("two models are compared on the same attacks and the same static items")
    if first.sum() == 0:
        raise StatisticsError("the earlier model makes no error on these attacks: there is nothing to reduce")
    weights, own = _resamples(who, rng), _resamples(np.arange(len(still)), rng)
    before, after = _means(first, weights), _means(second, weights)
    reduction = 1 - after / np.maximum(before, 1e-12)
    return Improvement(
        _estimate(1 - second.mean() / first.mean(), reduction, len(np.unique(who)), len(first), level),
        _estimate(float((now - still).mean()), _means(now - still, own), len(still), len(still), level),
    )


def _resamples(unit: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Return weights (draws, rows): units are drawn with replacement, all rows of one together."""
    names, place = np.unique(unit, return_inverse=True)
    counts = rng.multinomial(len(names), np.full(len(names), 1 / len(names)), size=DRAWS)
    return np.asarray(counts[:, place.reshape(-1)], np.float64)


def _means(values: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(weights @ values / np.maximum(weights.sum(axis=1), 1e-12), np.float64)


def _estimate(value: float, draws: NDArray[np.float64], units: int, answers: int, level: float) -> Estimate:
    low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2])
    return Estimate(
        value=float(value),
        low=float(low),
        high=float(high),
        level=level,
        method="percentile bootstrap",
        raters=units,
        answers=answers,
        replicates=DRAWS,
    )
