import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from beholder.errors import StatisticsError
from beholder.stats.significance.gaps import between_variance, simultaneous_gaps


def test_three_gaps_by_hand() -> None:
    # Šidák: 1 − .95^(1/3) = .016952; t(1 − .008476, 20) = 2.6000: .3 ± 2.6000 × .1
    gaps = simultaneous_gaps([0.3, -0.1, 0.0], [0.1, 0.1, 0.2], 20)
    critical = stats.t.ppf(1 - (1 - 0.95 ** (1 / 3)) / 2, 20)
    assert (gaps.low[0], gaps.high[0]) == pytest.approx((0.3 - critical * 0.1, 0.3 + critical * 0.1))
    p = 2 * stats.t.sf(3.0, 20)
    assert gaps.p_adjusted[0] == pytest.approx(1 - (1 - p) ** 3)
    assert gaps.significant.tolist() == [True, False, False]


def test_a_gap_without_an_error_is_neither_tested_nor_counted() -> None:
    gaps = simultaneous_gaps([0.3, 9.0, 1.0], [0.1, np.nan, 0.0], 1e6)
    assert (0.3 - gaps.low[0]) / 0.1 == pytest.approx(1.95996, abs=1e-4)
    assert np.isnan(gaps.p_adjusted[1:]).all()
    assert not gaps.significant[1:].any()


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=12), st.integers(0, 99))
def test_intervals_and_p_values_agree_and_shrinking_never_grows(sizes: list[float], seed: int) -> None:
    errors = np.random.default_rng(seed).uniform(0.2, 2.0, len(sizes))
    gaps = simultaneous_gaps(sizes, errors, 12)
    excludes = (gaps.low > 0) | (gaps.high < 0)
    clear = np.abs(gaps.p_adjusted - 0.05) > 1e-9
    assert (excludes == gaps.significant)[clear].all()
    assert (np.abs(gaps.shrunk) <= np.abs(gaps.estimate) + 1e-12).all()


def test_between_variance_solves_its_equation() -> None:
    rng = np.random.default_rng(1)
    errors = rng.uniform(0.5, 1.5, 400)
    sizes = rng.normal(0, np.sqrt(errors**2 + 4.0))
    tau = between_variance(sizes, errors)
    assert np.sum(sizes**2 / (tau + errors**2)) == pytest.approx(400)
    assert tau == pytest.approx(4.0, rel=0.25)


def test_what_is_no_gap_is_refused() -> None:
    with pytest.raises(StatisticsError, match="level"):
        simultaneous_gaps([1.0], [1.0], 5, level=1.0)
    with pytest.raises(StatisticsError, match="above 0"):
        between_variance([1.0], [0.0])
