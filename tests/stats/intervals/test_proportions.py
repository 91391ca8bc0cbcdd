from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike, NDArray
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from beholder.errors import StatisticsError
from beholder.stats.intervals.proportions import clopper_pearson, wilson

Interval = Callable[[ArrayLike, ArrayLike, float], tuple[NDArray[np.float64], NDArray[np.float64]]]


def test_wilson_by_hand() -> None:
    # k = 5, n = 10, z = 1.959964, z² = 3.841459: centre = (.5 + .192073)/(1.3841459) = .5,
    # half = 1.959964 · √(.025 + .00960365)/1.3841459 = 1.959964 · .1860205/1.3841459 = .2634069
    low, high = wilson(5, 10)
    assert low == pytest.approx(0.5 - 0.2634069, abs=1e-6)
    assert high == pytest.approx(0.5 + 0.2634069, abs=1e-6)


def test_clopper_pearson_by_hand() -> None:
    # k = 0: high solves (1 − p)^10 = .025, so p = 1 − .025^(1/10) = .3084971
    low, high = clopper_pearson(0, 10)
    assert low == 0
    assert high == pytest.approx(1 - 0.025**0.1, abs=1e-12)


@pytest.mark.parametrize(("ours", "theirs"), [(wilson, "wilson"), (clopper_pearson, "beta")])
@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_against_statsmodels(ours: Interval, theirs: str, level: float) -> None:
    trials = np.repeat([1, 3, 50, 1000], 2)
    successes = np.array([0, 1, 1, 3, 7, 50, 100, 999])
    expected = proportion_confint(successes, trials, alpha=1 - level, method=theirs)
    np.testing.assert_allclose(ours(successes, trials, level), expected, atol=1e-9)


@given(st.integers(1, 400), st.data())
def test_laws(trials: int, data: st.DataObject) -> None:
    k = data.draw(st.integers(0, trials))
    for interval in (wilson, clopper_pearson):
        low, high = interval(k, trials)
        assert 0 <= low <= k / trials <= high <= 1
        np.testing.assert_allclose(interval(trials - k, trials), (1 - high, 1 - low), atol=1e-12)


def test_clopper_pearson_never_covers_too_little() -> None:
    k = np.arange(21)
    low, high = clopper_pearson(k, 20)
    for p in np.linspace(0.01, 0.99, 25):
        assert stats.binom.pmf(k, 20, p)[(low <= p) & (p <= high)].sum() >= 0.95


def test_no_trials_is_nan_and_nonsense_is_refused() -> None:
    assert np.all(np.isnan(wilson([0], [0])))
    assert np.all(np.isnan(clopper_pearson([0], [0])))
    with pytest.raises(StatisticsError, match="successes ≤ trials"):
        wilson(3, 2)
    with pytest.raises(StatisticsError, match="level"):
        wilson(1, 2, level=1.0)
