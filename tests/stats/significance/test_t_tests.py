import numpy as np
import pytest
from scipy import stats

from beholder.errors import StatisticsError
from beholder.stats.significance.t_tests import TTest, paired_t, unpaired_t


def test_paired_by_hand() -> None:
    # differences 1 2 3: mean 2, SD 1, SE 1/√3, t = 2√3 = 3.464102, two degrees; t.975,2 = 4.302653
    t_test = paired_t([2, 4, 6], [1, 2, 3])
    assert (t_test.difference, t_test.statistic, t_test.degrees) == pytest.approx((2, 3.464102, 2), abs=1e-6)
    assert t_test.high - 2 == pytest.approx(4.302653 / np.sqrt(3), abs=1e-6)


def test_welch_by_hand() -> None:
    # 0 2 | 4 6 8: SE² = 1 + 4/3, degrees 49/17 = 2.882353
    t_test = unpaired_t([0, 2], [4, 6, 8])
    assert t_test.statistic == pytest.approx(-5 / np.sqrt(7 / 3))
    assert t_test.degrees == pytest.approx(49 / 17)


@pytest.mark.parametrize("seed", range(3))
def test_against_scipy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    first, second, other = rng.normal(size=15), rng.normal(0.3, 2, size=15), rng.normal(0.3, 2, size=9)
    for computed, theirs in (
        (paired_t(first, second), stats.ttest_rel(first, second)),
        (unpaired_t(first, other), stats.ttest_ind(first, other, equal_var=False)),
        (unpaired_t(first, other, pooled=True), stats.ttest_ind(first, other)),
    ):
        interval = theirs.confidence_interval()
        ours = (computed.statistic, computed.p_value, computed.degrees, computed.low, computed.high)
        assert ours == pytest.approx((theirs.statistic, theirs.pvalue, theirs.df, *interval), rel=1e-9)


def test_laws() -> None:
    rng = np.random.default_rng(4)
    first, second = rng.normal(size=(2, 12))
    for test in (paired_t, unpaired_t):
        assert test(second, first).statistic == pytest.approx(-test(first, second).statistic)
        assert test(first + 3, second + 3).p_value == pytest.approx(test(first, second).p_value)


def test_no_spread() -> None:
    same: TTest = paired_t([1, 2], [1, 2])
    assert (same.statistic, same.p_value, same.low, same.high) == (0, 1, 0, 0)
    apart = unpaired_t([1, 1], [2, 2])
    assert (apart.statistic, apart.p_value) == (-np.inf, 0)


def test_nonsense_is_refused() -> None:
    with pytest.raises(StatisticsError, match="at least two raters"):
        paired_t([1], [2])
    with pytest.raises(StatisticsError, match="1 not finite"):
        unpaired_t([1, np.nan], [2, 3])
    with pytest.raises(StatisticsError, match="found 2 and 3"):
        paired_t([1, 2], [1, 2, 3])
    with pytest.raises(StatisticsError, match="level"):
        paired_t([1, 2], [1, 3], level=0)
