import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from beholder.errors import StatisticsError
from beholder.stats.significance.group_tests import Centre, kruskal_wallis, levene, one_way_anova

VALUES = np.array([1.0, 2.0, 3.0, 2.0, 4.0, 6.0, 9.0])
GROUPS = np.array([0, 0, 0, 1, 1, 1, 2])


def some_groups(seed: int, k: int = 4) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    rng = np.random.default_rng(seed)
    groups = np.concatenate([np.arange(k), rng.integers(0, k, 40)])
    return rng.normal(groups / 3, 1 + groups / 2).round(1), groups


def split(values: NDArray[np.float64], groups: NDArray[np.int64]) -> list[NDArray[np.float64]]:
    return [values[groups == group] for group in range(groups.max() + 1)]


def test_anova_by_hand() -> None:
    # means 2, 4, 9, in all 27/7; between 3(2 − 27/7)² + 3(4 − 27/7)² + (9 − 27/7)² = 1806/49 = 36.857143;
    # within 2 + 8 + 0 = 10; F = (36.857143/2)/(10/4) = 7.371429; η² = 36.857143/46.857143
    anova = one_way_anova(VALUES, GROUPS)
    assert anova.statistic == pytest.approx(7.371429, abs=1e-6)
    assert (anova.between, anova.within) == (2, 4)
    assert anova.eta_squared == pytest.approx(36.857143 / 46.857143)


def test_degrees_of_freedom_are_those_of_raters() -> None:
    # four generators, thirty raters each: (3, 116), not the (3, 29) that is printed for such a study
    values = np.random.default_rng(0).normal(size=120)
    anova = one_way_anova(values, np.repeat(np.arange(4), 30))
    assert (anova.between, anova.within) == (3, 116)


def test_kruskal_by_hand() -> None:
    # ranks of 1 2 3 | 2 4 6 | 9 are 1 2.5 4 | 2.5 5 6 | 7: sums 7.5, 13.5, 7; Σ R²/n = 18.75 + 60.75 + 49 = 128.5
    # H = 12/56 · 128.5 − 24 = 3.535714; one pair of ties: 1 − 6/336 = .982143; H = 3.6
    kruskal = kruskal_wallis(VALUES, GROUPS)
    assert kruskal.statistic == pytest.approx(3.6)
    assert kruskal.degrees == 2
    assert kruskal.p_value == pytest.approx(np.exp(-1.8))  # χ² with two degrees of freedom


def test_levene_by_hand() -> None:
    # distances from the medians 2, 4, 9: 1 0 1 | 2 0 2 | 0, means 2/3, 4/3, 0, grand 6/7;
    # between 3(4/21)² + 3(10/21)² + (18/21)² = (48 + 300 + 324)/441 = 1.523810; within 2/3 + 8/3 = 10/3
    assert levene(VALUES, GROUPS).statistic == pytest.approx((1.523810 / 2) / ((10 / 3) / 4), abs=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_against_scipy(seed: int) -> None:
    values, groups = some_groups(seed)
    parts = split(values, groups)
    anova, theirs = one_way_anova(values, groups), stats.f_oneway(*parts)
    assert (anova.statistic, anova.p_value) == pytest.approx((theirs.statistic, theirs.pvalue), rel=1e-9)
    ranks, scipys = kruskal_wallis(values, groups), stats.kruskal(*parts)
    assert (ranks.statistic, ranks.p_value) == pytest.approx((scipys.statistic, scipys.pvalue), rel=1e-9)
    centres: tuple[Centre, ...] = ("median", "mean")
    for centre in centres:
        spread, other = levene(values, groups, centre=centre), stats.levene(*parts, center=centre)
        assert (spread.statistic, spread.p_value) == pytest.approx((other.statistic, other.pvalue), rel=1e-9)


@given(st.integers(0, 2**32 - 1), st.integers(2, 6), st.floats(-50, 50), st.floats(0.1, 20))
@settings(max_examples=25)
def test_laws(seed: int, k: int, shift: float, scale: float) -> None:
    values, groups = some_groups(seed, k)
    order = np.random.default_rng(seed).permutation(len(values))
    for test in (one_way_anova, kruskal_wallis, levene):
        plain = test(values, groups).statistic
        assert test(values[order], groups[order]).statistic == pytest.approx(plain)
        assert test(values, k - 1 - groups).statistic == pytest.approx(plain)
        assert test(shift + scale * values, groups).statistic == pytest.approx(plain, rel=1e-6)
    # ranks ignore any increasing change of scale
    assert kruskal_wallis(np.exp(values), groups).statistic == pytest.approx(
        kruskal_wallis(values, groups).statistic
    )
    # two groups: F = t²
    two = groups < 1
    theirs = stats.ttest_ind(values[two], values[~two]).statistic
    assert one_way_anova(values, (~two).astype(int)).statistic == pytest.approx(theirs**2)


def test_no_spread() -> None:
    groups = np.array([0, 0, 1, 1])
    apart = one_way_anova([0.1, 0.1, 0.3, 0.3], groups)
    assert (apart.statistic, apart.p_value, apart.eta_squared) == (np.inf, 0.0, 1.0)
    alike = one_way_anova([0.1] * 4, groups)
    assert np.isnan([alike.statistic, alike.p_value, alike.eta_squared]).all()
    ranks = kruskal_wallis([0.1] * 4, groups)
    assert np.isnan([ranks.statistic, ranks.p_value]).all()
    assert np.isnan(levene([0.1] * 4, groups).statistic)


def test_nonsense_is_refused() -> None:
    with pytest.raises(StatisticsError, match="found 1 others"):
        one_way_anova([1.0, np.nan, 2.0], [0, 0, 1])
    with pytest.raises(StatisticsError, match="found 1 of 1"):
        kruskal_wallis([1.0, 2.0], [0, 0])
    with pytest.raises(StatisticsError, match="found 2 of 3"):
        kruskal_wallis([1.0, 2.0], [0, 2])
    with pytest.raises(StatisticsError, match="more raters than groups"):
        one_way_anova([1.0, 2.0], [0, 1])
    with pytest.raises(StatisticsError, match="one length"):
        levene([1.0, 2.0], [0])
    with pytest.raises(StatisticsError, match="integer"):
        levene([1.0, 2.0], [0.0, 1.0])
    with pytest.raises(StatisticsError, match="median or the mean"):
        levene([1.0, 2.0, 3.0], [0, 1, 1], centre="mode")  # type: ignore[arg-type]
