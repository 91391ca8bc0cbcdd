"""Boomerang: ratings whose consequences come back to who gave them, and access to studies by them.

A rating is 1 (last), 2 (as others) or 3 (first), asked as a consequence: "where should this rater be when your
next study opens?", "where should this researcher's studies be in your list?". A study opens first to raters
whom its researcher rated best, and to others step by step: whoever rates everybody alike gains nothing by it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from beholder.errors import StatisticsError

RATINGS = (1, 2, 3)
UNRATED = 1.99
"""Score of who was never rated: before those with a low rating, after those with an ordinary one."""

CASCADE = (3.0, 2.0, 1.99, 1.0)
"""Scores that a study opens to, one step after another."""

STEP_SECONDS = 300.0
OTHERS = 0.1
"""Weight of the ratings by others next to one's own."""

DECAY = {"task": 0.3, "researcher": 0.4, "platform": 0.5}
"""Weight of each earlier rating relative to the next, by what the ratings are about."""


@dataclass(frozen=True, slots=True)
class OpenStudy:
    """A study that raters can take part in now, for fair progress between studies."""

    study: str
    pending: float
    """work that is left, such as open slots"""
    recent: float
    """work done in the last hour"""


def decayed_mean(ratings: Sequence[float], decay: float = DECAY["task"]) -> float:
    """Return the mean of ratings in which earlier ones count less: Σ r_k α^k / Σ α^k, k = 0 the newest.

    Args:
        ratings: Newest first (ratings,).
        decay: α, from 0 (the newest alone) to 1 (all alike).

    Returns:
        The mean.

    Example:
        >>> round(decayed_mean([3, 1], decay=0.5), 3)  # (3 + .5) / 1.5
        2.333
    """
    if not len(ratings) or not 0 <= decay <= 1:
        raise StatisticsError(
            f"a decayed mean needs ratings and a decay from 0 to 1; found {len(ratings)}, {decay}"
        )
    weights = [decay**place for place in range(len(ratings))]
    return sum(rating * weight for rating, weight in zip(ratings, weights, strict=True)) / sum(weights)


def reputation(own: Sequence[float], others: Sequence[float], decay: float = DECAY["task"]) -> float:
    """Return the score of a rater for a researcher (or of a researcher for a rater).

    Args:
        own: The ratings that the researcher gave this rater, newest first.
        others: The latest rating by each other researcher.
        decay: Of the own ratings.

    Returns:
        The decayed mean of the own ratings + ``OTHERS`` × the mean of the others'; without own ratings the mean of
        the others'; without any, ``UNRATED``.

    Example:
        >>> reputation([3], [2, 2]), reputation([], [3, 2]), reputation([], [])
        (3.2, 2.5, 1.99)
    """
    mean = sum(others) / len(others) if others else 0.0
    if own:
        return decayed_mean(own, decay) + OTHERS * mean
    return mean if others else UNRATED


def access_threshold(seconds_open: float, step_seconds: float = STEP_SECONDS) -> float:
    """Return the score that a rater needs now, so long after a study opened.

    Args:
        seconds_open: Since the study opened.
        step_seconds: How long each step of the cascade takes.

    Returns:
        The step of ``CASCADE``; after the last, everybody is let in.

    Example:
        >>> [access_threshold(minutes * 60) for minutes in (0, 5, 11, 16, 60)]
        [3.0, 2.0, 1.99, 1.0, 1.0]
    """
    step = min(int(seconds_open // step_seconds), len(CASCADE) - 1)
    return CASCADE[max(step, 0)]


def fair_progress(thresholds: Sequence[float], studies: Sequence[OpenStudy]) -> list[float]:
    """Lower the thresholds of studies that get less work than they have pending.

    min ← min · (1 − (proportion of pending work − proportion of recent work)), where the first is larger.

    Args:
        thresholds: By the cascade (studies,).
        studies: In the same order.

    Returns:
        The thresholds (studies,).

    Example:
        >>> fair_progress([3.0, 3.0], [OpenStudy("a", 50, 0), OpenStudy("b", 50, 10)])
        [1.5, 3.0]
    """
    pending, recent = sum(study.pending for study in studies), sum(study.recent for study in studies)
    if not recent or not pending:
        return list(thresholds)  # nothing was done, so nobody is behind
    behind = [max(study.pending / pending - study.recent / recent, 0.0) for study in studies]
    return [threshold * (1 - part) for threshold, part in zip(thresholds, behind, strict=True)]
