"""The pace of gold for one rater in one session: when the next gold trial comes, without numpy.

:mod:`beholder.care.gold_schedule` computes a pace from a rater's history; a server follows it from answer to
answer.
"""

import math
from dataclasses import dataclass, replace

CONSTANT = 0.2
"""Proportion of gold trials under constant checking, and of a rater who is not trusted yet."""

ALARMED, STEEP = 0.1, 2.5
"""Proportion of gold trials as soon as the CUSUM rises, and how fast it grows with it."""


@dataclass(frozen=True, slots=True)
class GoldPace:
    """How often a rater is checked, and the CUSUM that decides it."""

    calm: float
    """proportion of gold trials while nothing is suspicious"""
    threshold: float
    """of the CUSUM; from there on the rater is checked as one who is not trusted"""
    statistic: float
    after_right: float
    """by how much the CUSUM changes after a right answer, below 0"""
    after_wrong: float

    @classmethod
    def constant(cls) -> "GoldPace":
        """Return the pace of a rater who is not trusted: constant checking, whatever the answers.

        Example:
            >>> pace = GoldPace.constant()
            >>> pace.rate, pace.after(right=False) == pace
            (0.2, True)
        """
        return cls(CONSTANT, threshold=1.0, statistic=1.0, after_right=-1.0, after_wrong=1.0)

    @property
    def alarmed(self) -> bool:
        """Whether the CUSUM has reached its threshold."""
        return self.statistic >= self.threshold

    def after(self, *, right: bool) -> "GoldPace":
        """Return the pace after a gold trial; an alarm stays.

        Example:
            >>> pace = GoldPace(0.04, 2.0, 0.0, -0.2, 0.9)
            >>> pace.after(right=True).statistic, pace.after(right=False).after(right=True).statistic
            (0.0, 0.7)
        """
        if self.alarmed:
            return self
        step = self.after_right if right else self.after_wrong
        return replace(self, statistic=max(self.statistic + step, 0.0))

    @property
    def rate(self) -> float:
        """Proportion of gold trials now.

        Example:
            >>> GoldPace(0.04, 2.0, 0.5, -0.2, 0.9).rate
            0.725
        """
        if self.alarmed:
            return CONSTANT
        return rate_at(self.statistic / self.threshold, self.calm)

    def gap(self, chance: float, *, begins: bool) -> int:
        """Return after how many trials the next gold trial comes; gaps vary, so that nobody can count it out.

        After a gold trial it is uniform between half and one and a half times the mean gap, one over the rate.
        Where a session or a block begins, one is somewhere within a gap: uniform up to the mean.

        Args:
            chance: Uniform between 0 and 1, 1 excluded.
            begins: Whether a session or a block begins here.

        Returns:
            1 for the next trial.

        Example:
            >>> pace = GoldPace(0.1, 2.0, 0.0, -0.2, 0.9)
            >>> [pace.gap(chance, begins=False) for chance in (0.0, 0.5, 0.99)]
            [5, 10, 15]
            >>> [pace.gap(chance, begins=True) for chance in (0.0, 0.5, 0.99)]
            [1, 6, 10]
        """
        if begins:
            return 1 + math.floor(chance / self.rate)
        return max(math.floor((0.5 + chance) / self.rate + 0.5), 1)


def rate_at(fraction: float, calm: float) -> float:
    """Return the proportion of gold trials at a fraction of the threshold.

    Args:
        fraction: Of the threshold, from 0.
        calm: The proportion at 0.

    Returns:
        At most 1.
    """
    return min(ALARMED + STEEP * fraction, 1.0) if fraction > 0 else calm
