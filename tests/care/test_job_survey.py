"""The job survey by hand: reversed questions, the motivating potential, and intervals over raters."""

import pytest
from scipy import stats

from beholder.care.job_survey import characteristics_of, motivating_potential, score_survey
from beholder.errors import StatisticsError
from beholder.study.job_questions import CHARACTERISTICS, SURVEY_KEYS


def test_by_hand() -> None:
    # (6 + (8 − 2)) / 2 = 6; (1 + (8 − 7)) / 2 = 1; (7 + 5 + 3)/3 · 2 · 4 = 40
    assert characteristics_of({"variety": 6, "variety-reversed": 2})["variety"] == 6
    assert characteristics_of({"feedback": 1, "feedback-reversed": 7}) == {"feedback": 1}
    scores = dict(zip(CHARACTERISTICS, (7.0, 5.0, 3.0, 2.0, 4.0), strict=True))
    assert motivating_potential(scores) == pytest.approx(40)


def test_range_of_the_motivating_potential() -> None:
    best = {key: 1 if key.endswith("reversed") else 7 for key in SURVEY_KEYS}
    worst = {key: 7 if key.endswith("reversed") else 1 for key in SURVEY_KEYS}
    assert motivating_potential(characteristics_of(best)) == 343
    assert motivating_potential(characteristics_of(worst)) == 1


def test_intervals_are_those_of_the_t_test() -> None:
    answers = [{"autonomy": point} for point in (2, 5, 6, 7)]
    scores = score_survey(answers)
    estimate = scores.characteristics["autonomy"]
    low, high = stats.ttest_1samp([2, 5, 6, 7], 0).confidence_interval(0.95)
    assert (estimate.value, estimate.low, estimate.high) == pytest.approx((5, low, high))
    assert scores.motivating is None
    assert scores.weakest == "autonomy"
    with pytest.raises(StatisticsError):
        score_survey([{}])
