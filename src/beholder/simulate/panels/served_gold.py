"""Gold that thins out as a server does it: in sessions, each with the gold of its slot and no more."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beholder.care.drift import DROP
from beholder.care.gold_pace import CONSTANT, GoldPace
from beholder.care.gold_schedule import gold_schedule


@dataclass(frozen=True, slots=True)
class ServedGold:
    """Gold over many sessions of trusted raters."""

    gold: float
    """gold trials without a change, relative to constant checking up to the same trial"""
    false_alarms: float
    detected: float
    """of a drop after a quarter of the trials, among raters without an earlier alarm"""


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
        Gold, false alarms and detections.

    Example:
        >>> served = simulate_served_gold(0.85, 60, np.random.default_rng(0))
        >>> served.gold < 0.6
        True
    """
    pace = gold_schedule(accuracy, trials=trials).pace(0.0)
    steady = [_walk(pace, np.full(trials, accuracy), session, drawn, rng) for _ in range(raters)]
    chances = np.full(trials, accuracy)
    chances[trials // 4 :] -= DROP
    dropped = [_walk(pace, chances, session, drawn, rng)[0] for _ in range(raters)]
    late = [alarm for alarm in dropped if alarm is None or alarm >= trials // 4]
    checked = sum((trials if alarm is None else alarm + 1) * CONSTANT for alarm, _ in steady)
    return ServedGold(
        gold=sum(gold for _, gold in steady) / checked,
        false_alarms=float(np.mean([alarm is not None for alarm, _ in steady])),
        detected=float(np.mean([alarm is not None for alarm in late])),
    )


def _walk(
    pace: GoldPace, chances: NDArray[np.float64], session: int, drawn: float, rng: np.random.Generator
) -> tuple[int | None, int]:
    """Return the trial of the alarm, if there was one, and the gold trials up to then."""
    gold, left, due = 0, 0, 0
    for trial, chance in enumerate(chances):
        if trial % session == 0:
            left = round(session * drawn)
            due = trial + pace.gap(rng.random(), begins=True) - 1
        if trial != due or left == 0:
            continue
        gold, left = gold + 1, left - 1
        pace = pace.after(right=bool(rng.random() < chance))
        if pace.alarmed:
            return trial, gold
        due = trial + pace.gap(rng.random(), begins=False)
    return None, gold
