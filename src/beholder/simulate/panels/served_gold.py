"""Gold that thins out as a server does it, and constant checking, on the same raters.

A rater has one uniform number per trial: a gold trial there is answered right if the number is below the accuracy
at that time. So both ways meet the same answers, and their difference is paired.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from beholder.care.drift import DROP, alarm_threshold
from beholder.care.gold_pace import CONSTANT, GoldPace
from beholder.care.gold_schedule import gold_schedule

Gap = Callable[[GoldPace, bool], int]
"""After how many trials the next gold comes; the flag: a session begins."""

Run = tuple[int, int, int, int]
"""Trial of the alarm and gold trials, thinning and constant."""

NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class ServedGold:
    """Gold over many sessions of trusted raters."""

    gold: float
    """gold trials without a change, relative to constant checking up to the same trial"""
    false_alarms: float
    constant_false_alarms: float
    detected: float
    """of a drop after a quarter of the trials, among raters who had no earlier alarm in either way"""
    constant_detected: float
    difference: float
    """detected, thinning − constant, of the same raters"""
    difference_low: float
    """of its 95 % confidence interval"""
    difference_high: float
    raters: int
    """behind the detections"""


def simulate_served_gold(
    accuracy: float,
    raters: int,
    rng: np.random.Generator,
    *,
    trials: int = 1000,
    session: int = 50,
    drawn: float = CONSTANT,
) -> ServedGold:
    """Simulate raters whose next gold trial is drawn when a session begins and after each gold trial.

    Args:
        accuracy: Of the raters, known from their history.
        raters: How many.
        rng: For answers and gaps.
        trials: Of each rater, gold or not; in a second run their accuracy drops after a quarter of them.
        session: Trials of a session.
        drawn: Proportion of them that are drawn as gold: no session asks more.

    Returns:
        Gold, false alarms and detections of both ways.

    Example:
        >>> served = simulate_served_gold(0.85, 60, np.random.default_rng(0), drawn=0.5)
        >>> served.gold < 0.6
        True
    """
    thin = gold_schedule(accuracy, trials=trials).pace(0.0)
    threshold = alarm_threshold(round(accuracy, 2), horizon=round(trials * CONSTANT))
    steadily = GoldPace(CONSTANT, threshold, 0.0, thin.after_right, thin.after_wrong)
    every, change, supply = round(1 / CONSTANT), trials // 4, round(session * drawn)
    chances = np.full(trials, accuracy)
    dropping = chances - DROP * (np.arange(trials) >= change)

    def drawn_gap(pace: GoldPace, begins: bool) -> int:
        return pace.gap(rng.random(), begins=begins)

    steady: list[Run] = []
    dropped: list[Run] = []
    for _ in range(raters):
        for rates, runs in ((chances, steady), (dropping, dropped)):
            right = rng.random(trials) < rates
            constant = _walk(steadily, right, trials, trials, lambda pace, begins: every)  # noqa: ARG005
            runs.append((*_walk(thin, right, session, supply, drawn_gap), *constant))
    alarm, gold, constant_alarm, _ = np.array(steady).T
    detected, _, constant_found, _ = np.array(dropped).T
    late = (detected >= change) & (constant_found >= change)
    pairs = (detected[late] < NEVER).astype(float) - (constant_found[late] < NEVER)
    reach = float(special.ndtri(0.975) * pairs.std(ddof=1) / np.sqrt(len(pairs)))
    return ServedGold(
        gold=float(gold.sum() / (CONSTANT * np.minimum(alarm, trials - 1).astype(float) + CONSTANT).sum()),
        false_alarms=float(np.mean(alarm < NEVER)),
        constant_false_alarms=float(np.mean(constant_alarm < NEVER)),
        detected=float(np.mean(detected[late] < NEVER)),
        constant_detected=float(np.mean(constant_found[late] < NEVER)),
        difference=float(pairs.mean()),
        difference_low=float(pairs.mean() - reach),
        difference_high=float(pairs.mean() + reach),
        raters=len(pairs),
    )


def _walk(pace: GoldPace, right: NDArray[np.bool_], session: int, supply: int, gap: Gap) -> tuple[int, int]:
    """Return the trial of the alarm, ``NEVER`` if there was none, and the gold trials up to then."""
    gold = 0
    for begin in range(0, len(right), session):
        end, left = min(begin + session, len(right)), supply
        due = begin + gap(pace, True) - 1
        while due < end and left:
            gold, left = gold + 1, left - 1
            pace = pace.after(right=bool(right[due]))
            if pace.alarmed:
                return due, gold
            due += gap(pace, False)
    return NEVER, gold
