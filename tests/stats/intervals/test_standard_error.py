"""The standard error of a ratio of sums over raters."""

import numpy as np
import pytest
from scipy import stats

from beholder.errors import StatisticsError
from beholder.stats.intervals.bootstrap import rater_weights, ratio_of_sums
from beholder.stats.intervals.proportions import wilson
from beholder.stats.intervals.standard_error import clustered_error, error_of_interval


def test_one_score_a_rater_is_the_standard_error_of_a_mean() -> None:
    scores = np.random.default_rng(0).normal(3, 1, (17, 4))
    assert clustered_error(scores, np.ones_like(scores)) == pytest.approx(stats.sem(scores, axis=0), rel=1e-12)


def test_hand_worked() -> None:
    # two raters, 3 of 4 and 1 of 2: R = 4/6, off = 3 − 8/3 = 1/3 and 1 − 4/3 = −1/3; √(2 · 2/9) / 6 = (2/3)/6
    assert clustered_error([[3.0], [1.0]], [[4.0], [2.0]]) == pytest.approx([1 / 9])


def test_near_the_spread_of_bootstrap_replicates() -> None:
    rng = np.random.default_rng(1)
    loads = rng.integers(5, 30, (200, 1)).astype(float)
    above = rng.binomial(loads.astype(int), rng.beta(4, 4, (200, 1))).astype(float)
    replicates = ratio_of_sums(above, loads, rater_weights(np.zeros(200, np.int64), 4000, rng))
    assert clustered_error(above, loads)[0] == pytest.approx(replicates.std(), rel=0.05)


def test_raters_who_did_not_judge_do_not_count_and_one_rater_has_none() -> None:
    with_absent = clustered_error([[3.0], [1.0], [0.0]], [[4.0], [2.0], [0.0]])
    assert with_absent == pytest.approx([1 / 9])
    assert np.isnan(clustered_error([[3.0], [0.0]], [[4.0], [0.0]])).all()
    with pytest.raises(StatisticsError, match="of one shape"):
        clustered_error([[1.0]], [[1.0, 2.0]])


def test_the_error_of_a_mean_comes_back() -> None:
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(4, 9))
    error = scores.std(axis=1, ddof=1) / 3
    reach = stats.t.ppf(0.95, 8) * error
    errors = error_of_interval(-reach, reach, np.full(4, 9), level=0.9, proportions=np.zeros(4))
    assert errors == pytest.approx(error)


def test_the_error_of_a_proportion_is_about_that_of_a_binomial() -> None:
    low, high = wilson(np.array([60.0]), np.array([100.0]), 0.95)
    errors = error_of_interval(low, high, [100], level=0.95, proportions=[True])
    assert errors[0] == pytest.approx(np.sqrt(0.6 * 0.4 / 100), rel=0.03)


def test_a_missing_end_has_no_error() -> None:
    assert np.isnan(error_of_interval([np.nan], [1.0], [1], level=0.95, proportions=[False])).all()
