"""Gold that thins out as trust grows: how often a rater's next trial should be a gold trial.

While the CUSUM of :mod:`beholder.care.drift` is at 0, a rater gets a gold trial now and then; as soon as it
rises, gold comes back, up to every trial next to the threshold (a CUSUM with variable sampling intervals,
Reynolds et al. 1990). The CUSUM moves at gold trials alone, so its false-alarm rate follows from how many of
these there are.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from beholder.care.drift import DROP, FALSE_ALARMS, HIGHEST, LOWEST, alarm_threshold, steps
from beholder.care.gold_pace import ALARMED, CONSTANT, STEEP, GoldPace

TRUSTED_AFTER = 20
"""Gold trials after which a rater may be trusted: what a qualification has."""

CALM, CALM_MOST = (0.022, 0.042, 0.165), 0.045
"""Proportion while it is at 0, a polynomial in the accuracy above .7: as much as detects a drop as often as
constant checking does (``benchmarks/care.py``)."""

COUNTED = (0.58, 0.45)
"""Gold trials that the threshold counts on, relative to constant checking, and by how much less per accuracy above
.7; more than come on average, because gold comes when the CUSUM is high."""


@dataclass(frozen=True, slots=True)
class GoldSchedule:
    """How often a rater of a given baseline is checked."""

    baseline: float
    calm: float
    """proportion of gold trials while nothing is suspicious"""
    threshold: float
    """of the CUSUM"""

    def rate(self, statistic: ArrayLike) -> NDArray[np.float64]:
        """Return the proportion of gold trials at a value of the CUSUM.

        Example:
            >>> schedule = gold_schedule(0.8)
            >>> schedule.rate([0.0, schedule.threshold / 4, schedule.threshold]).round(2).tolist()
            [0.03, 0.72, 1.0]
        """
        fraction = np.asarray(statistic, np.float64) / self.threshold
        return np.where(fraction > 0, np.minimum(ALARMED + STEEP * fraction, 1.0), self.calm)

    def pace(self, statistic: float) -> GoldPace:
        """Return the pace of a rater whose CUSUM is at a value, for a server to follow.

        Example:
            >>> gold_schedule(0.8).pace(0.0).rate == gold_schedule(0.8).calm
            True
        """
        after_right, after_wrong = steps(min(max(self.baseline, LOWEST), HIGHEST))
        return GoldPace(self.calm, self.threshold, statistic, after_right, after_wrong)


def gold_schedule(
    baseline: float, *, trials: int = 1000, drop: float = DROP, false_alarms: float = FALSE_ALARMS
) -> GoldSchedule:
    """Return the schedule for a rater.

    Args:
        baseline: The accuracy on gold so far; the more accurate a rater, the more a single error says.
        trials: To which the false-alarm rate refers, gold or not.
        drop: In accuracy, to be found.
        false_alarms: Probability of an alarm within the trials if nothing changed.

    Returns:
        The schedule; its threshold keeps the false-alarm rate over all trials.

    Example:
        >>> gold_schedule(0.9).calm > gold_schedule(0.7).calm
        True
    """
    base = min(max(baseline, LOWEST), HIGHEST)
    above = max(base - 0.7, 0.0)
    calm = min(CALM[0] + CALM[1] * above + CALM[2] * above**2, CALM_MOST)
    expected = max(round(trials * CONSTANT * (COUNTED[0] - COUNTED[1] * above)), 1)
    threshold = alarm_threshold(round(base, 2), drop=drop, horizon=expected, false_alarms=false_alarms)
    return GoldSchedule(baseline, calm, threshold)
