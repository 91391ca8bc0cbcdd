"""Scores of the job survey: how much the work offers of what makes work meaningful (Hackman and Oldham 1976).

Each characteristic is the mean of its two questions, 1 to 7, the second reversed (8 − answer). The motivating
potential of the work is

    MPS = (variety + identity + significance) / 3 · autonomy · feedback,

from 1 to 343: work without autonomy or without feedback motivates nobody, however varied it is.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats as distributions

from beholder.errors import StatisticsError
from beholder.stats.estimate import Estimate
from beholder.study.job_questions import CHARACTERISTICS, POINTS, REVERSED

Answers = Mapping[str, int]
"""Points by question, of one rater; a question may be left out."""


@dataclass(frozen=True, slots=True)
class JobScores:
    """Means over raters, with confidence intervals."""

    characteristics: Mapping[str, Estimate]
    motivating: Estimate | None
    """the motivating potential score, over raters who answered about all five characteristics"""
    weakest: str
    """the characteristic with the lowest mean: what a change of the study helps most"""


def score_survey(answers: Sequence[Answers], level: float = 0.95) -> JobScores:
    """Return the scores of a study.

    Args:
        answers: Of each rater.
        level: Of the confidence intervals, by Student's t over raters.

    Returns:
        The scores.

    Example:
        >>> one = {"variety": 2, "variety-reversed": 6, "feedback": 1}
        >>> scores = score_survey([one, {"variety": 4, "feedback": 3}])
        >>> scores.characteristics["variety"].value, scores.weakest
        (3.0, 'feedback')
    """
    raters = [characteristics_of(row) for row in answers]
    dimension_scores = {
        name: _mean([row[name] for row in raters if name in row], level)
        for name in CHARACTERISTICS
        if any(name in row for row in raters)
    }
    if not dimension_scores:
        raise StatisticsError("a job survey needs at least one answer")
    complete = [motivating_potential(row) for row in raters if len(row) == len(CHARACTERISTICS)]
    weakest = min(dimension_scores, key=lambda name: dimension_scores[name].value)
    return JobScores(dimension_scores, _mean(complete, level) if complete else None, weakest)


def characteristics_of(answers: Answers) -> dict[str, float]:
    """Return the score of each characteristic that a rater answered about.

    Args:
        answers: Of one rater.

    Returns:
        By name.

    Example:
        >>> characteristics_of({"autonomy": 6, "autonomy-reversed": 1})
        {'autonomy': 6.5}
    """
    scores = {}
    for name in CHARACTERISTICS:
        points = [float(answers[name])] if name in answers else []
        other = f"{name}-{REVERSED}"
        points += [float(POINTS + 1 - answers[other])] if other in answers else []
        if points:
            scores[name] = sum(points) / len(points)
    return scores


def motivating_potential(scores: Mapping[str, float]) -> float:
    """Return the motivating potential score, 1 to 343.

    Args:
        scores: Of all five characteristics.

    Returns:
        The score.

    Example:
        >>> motivating_potential(dict.fromkeys(CHARACTERISTICS, 4.0))
        64.0
    """
    meaning = (scores["variety"] + scores["identity"] + scores["significance"]) / 3
    return meaning * scores["autonomy"] * scores["feedback"]


def _mean(values: Sequence[float], level: float) -> Estimate:
    count, mean = len(values), float(np.mean(values))
    if count < 2:
        return Estimate(mean, -math.inf, math.inf, level, "one rater: no interval", count)
    reach = (
        float(distributions.t.ppf((1 + level) / 2, count - 1)) * float(np.std(values, ddof=1)) / math.sqrt(count)
    )
    return Estimate(mean, mean - reach, mean + reach, level, "Student's t over raters", count)
