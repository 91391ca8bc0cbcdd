"""Raters on gold trials whose accuracy drops, or does not: alarms, their delay, and the gold they cost."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beholder.care.drift import DROP, alarm_threshold, steps
from beholder.care.early_quality import fit_panel, predict_accuracy
from beholder.care.gold_pace import CONSTANT
from beholder.care.gold_schedule import gold_schedule

Array = NDArray[np.float64]
NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class AlarmRates:
    """Of simulated raters, the proportions with an alarm."""

    false_alarms: float
    """without a change, within 200 gold trials"""
    detected: float
    """of a drop after 50 gold trials, within 150 more, among raters without an earlier alarm"""
    median_delay: float


@dataclass(frozen=True, slots=True)
class GoldCost:
    """Constant and thinning gold over the same number of trials."""

    gold: float
    """gold trials without a change, relative to constant checking"""
    false_alarms: float
    constant_false_alarms: float
    detected: float
    """within 750 trials after a drop"""
    constant_detected: float


def simulate_alarms(
    accuracy: Array, rng: np.random.Generator, *, baseline_trials: int | None = None, drop: float = DROP
) -> AlarmRates:
    """Simulate the CUSUM of many raters, with a known baseline or one estimated from their first gold trials.

    Args:
        accuracy: Of each rater before the drop (raters,).
        rng: For all answers.
        baseline_trials: Gold trials from which the baseline is estimated, shrunk to the panel; ``None``: known.
        drop: In accuracy.

    Returns:
        False alarms and detections.

    Example:
        >>> rates = simulate_alarms(np.full(2000, 0.85), np.random.default_rng(0))
        >>> rates.false_alarms < 0.06, rates.detected > 0.95
        (True, True)
    """
    raters = len(accuracy)
    if baseline_trials is None:
        baseline, certainty = accuracy, np.full(raters, np.inf)
    else:
        right = rng.binomial(baseline_trials, accuracy)
        panel = fit_panel(right, np.full(raters, baseline_trials))
        strength = panel.a + panel.b
        baseline = np.asarray((panel.a + right) / (strength + baseline_trials), np.float64)
        certainty = np.full(raters, strength + baseline_trials)
    baseline = np.asarray(np.clip(np.round(baseline, 2), 0.55, 0.97), np.float64)
    thresholds = np.array([alarm_threshold(float(p), float(n)) for p, n in zip(baseline, certainty, strict=True)])
    chance = np.repeat(accuracy[:, None], 200, axis=1)
    steady = _first_alarm(chance, baseline, thresholds, rng)
    chance = chance.copy()
    chance[:, 50:] -= drop
    dropped = _first_alarm(chance, baseline, thresholds, rng)
    late = dropped >= 50
    found = late & (dropped < NEVER)
    return AlarmRates(
        float(np.mean(steady < NEVER)), float(found.sum() / late.sum()), float(np.median(dropped[found] - 50))
    )


def simulate_gold(accuracy: float, raters: int, rng: np.random.Generator, *, trials: int = 1000) -> GoldCost:
    """Simulate constant checking and gold that thins out, over the same trials.

    Args:
        accuracy: Of the raters, known from their history.
        raters: How many.
        rng: For all answers.
        trials: Of each rater, gold or not; the drop comes after a quarter of them.

    Returns:
        Gold, false alarms and detections.

    Example:
        >>> cost = simulate_gold(0.85, 400, np.random.default_rng(0))
        >>> cost.gold < 0.45
        True
    """
    schedule = gold_schedule(accuracy, trials=trials)
    constant = alarm_threshold(accuracy, horizon=round(trials * CONSTANT))
    change = trials // 4
    runs = {}
    for name, threshold in (("thin", schedule.threshold), ("constant", constant)):
        for drop_at in (None, change):
            alarm, gold = np.full(raters, NEVER), np.zeros(raters)
            level, credit = np.zeros(raters), rng.random(raters)
            after_right, after_wrong = steps(accuracy)
            for trial in range(trials):
                credit += schedule.rate(level) if name == "thin" else CONSTANT
                is_gold = (credit >= 1) & (alarm == NEVER)
                credit[is_gold] -= 1
                gold += is_gold
                chance = accuracy - (DROP if drop_at is not None and trial >= drop_at else 0.0)
                step = np.where(rng.random(raters) < chance, after_right, after_wrong)
                level = np.where(is_gold, np.maximum(level + step, 0.0), level)
                alarm[(level >= threshold) & (alarm == NEVER)] = trial
            runs[name, drop_at is not None] = (alarm, gold)
    detected = {}
    for name in ("thin", "constant"):
        late = runs[name, True][0] >= change
        detected[name] = float(np.sum(late & (runs[name, True][0] < NEVER)) / late.sum())
    return GoldCost(
        gold=float(runs["thin", False][1].mean() / runs["constant", False][1].mean()),
        false_alarms=float(np.mean(runs["thin", False][0] < NEVER)),
        constant_false_alarms=float(np.mean(runs["constant", False][0] < NEVER)),
        detected=detected["thin"],
        constant_detected=detected["constant"],
    )


def simulate_prediction(
    raters: int, first: int, later: int, rng: np.random.Generator, *, spread: tuple[float, float] = (17.0, 3.0)
) -> tuple[float, float]:
    """Predict later accuracy from the first trials of a panel; return correlation and coverage of the intervals.

    Args:
        raters: Of the panel.
        first: Trials that are known.
        later: Trials that are predicted.
        rng: For accuracies and answers.
        spread: Beta parameters of the accuracies.

    Returns:
        Pearson correlation of predicted and later accuracy, and the proportion of 95 % prediction intervals that
        contain it.

    Example:
        >>> correlation, coverage = simulate_prediction(500, 10, 200, np.random.default_rng(0))
        >>> correlation > 0.3, 0.9 < coverage < 0.99
        (True, True)
    """
    accuracy = rng.beta(*spread, raters)
    right, after = rng.binomial(first, accuracy), rng.binomial(later, accuracy) / later
    panel = fit_panel(right, np.full(raters, first))
    prediction = predict_accuracy(right, np.full(raters, first), panel, next_trials=later)
    covered = (prediction.low <= after) & (after <= prediction.high)
    return float(np.corrcoef(prediction.value, after)[0, 1]), float(covered.mean())


def _first_alarm(chance: Array, baseline: Array, thresholds: Array, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the gold trial of the first alarm of each rater; ``NEVER`` where there is none."""
    after_right = np.log((baseline - DROP) / baseline)
    after_wrong = np.log((1 - baseline + DROP) / (1 - baseline))
    level = np.zeros(len(baseline))
    alarm = np.full(len(baseline), NEVER)
    for trial in range(chance.shape[1]):
        right = rng.random(len(baseline)) < chance[:, trial]
        level = np.maximum(level + np.where(right, after_right, after_wrong), 0.0)
        alarm[(level >= thresholds) & (alarm == NEVER)] = trial
    return alarm
