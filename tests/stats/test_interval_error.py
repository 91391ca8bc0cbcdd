import numpy as np
import pytest
from scipy import stats

from beholder.stats.interval_error import error_of_interval
from beholder.stats.proportions import wilson


def test_the_error_of_a_mean_comes_back() -> None:
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(4, 9))
    error = scores.std(axis=1, ddof=1) / 3
    reach = stats.t.ppf(0.95, 8) * error
    found = error_of_interval(-reach, reach, np.full(4, 9), level=0.9, shares=np.zeros(4))
    assert found == pytest.approx(error)


def test_the_error_of_a_share_is_about_that_of_a_binomial() -> None:
    low, high = wilson(np.array([60.0]), np.array([100.0]), 0.95)
    found = error_of_interval(low, high, [100], level=0.95, shares=[True])
    assert found[0] == pytest.approx(np.sqrt(0.6 * 0.4 / 100), rel=0.03)


def test_a_missing_end_has_no_error() -> None:
    assert np.isnan(error_of_interval([np.nan], [1.0], [1], level=0.95, shares=[False])).all()
