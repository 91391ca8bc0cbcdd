import numpy as np
import pandas as pd
import pingouin
import pytest
from numpy.typing import NDArray
from scipy import stats
from statsmodels.stats.multicomp import pairwise_tukeyhsd

from beholder.errors import StatisticsError
from beholder.stats.significance.group_pairs import games_howell, tukey_hsd


def some_groups(
    seed: int, sizes: tuple[int, ...] = (6, 12, 9, 20)
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(len(sizes)), sizes)
    return rng.normal(groups / 2, 0.5 + groups / 2), groups


def test_tukey_by_hand() -> None:
    # 1 2 3 | 4 5 6 | 7 8 9: MS within = 6/6 = 1, SE = √(2/3) = .816497, six degrees of freedom. The tabled range
    # of three means at .05 is q = 4.339, so the interval reaches 4.339 · √(1/3) = 2.505
    pairs = tukey_hsd(np.arange(1.0, 10.0), np.repeat([0, 1, 2], 3))
    np.testing.assert_allclose(pairs.difference, [-3, -6, -3])
    np.testing.assert_allclose(pairs.standard_error, np.sqrt(2 / 3))
    np.testing.assert_allclose(pairs.high - pairs.difference, 2.505, atol=5e-4)
    assert pairs.separated.all()
    assert not tukey_hsd(np.arange(1.0, 10.0), np.repeat([0, 1, 2], 3), level=0.99).separated[0]


def test_games_howell_by_hand() -> None:
    # 0 2 | 4 6 8: s² = 2 and 4; SE² = 1 + 4/3 = 7/3; degrees (7/3)²/(1²/1 + (4/3)²/2) = 5.444444/1.888889
    pairs = games_howell([0, 2, 4, 6, 8], [0, 0, 1, 1, 1])
    assert pairs.difference[0] == -5
    assert pairs.standard_error[0] == pytest.approx(np.sqrt(7 / 3))
    assert pairs.degrees[0] == pytest.approx(2.882353, abs=1e-6)
    # for two groups the range test is Welch's t test
    assert pairs.p_value[0] == pytest.approx(stats.ttest_ind([0, 2], [4, 6, 8], equal_var=False).pvalue, abs=1e-9)


@pytest.mark.parametrize("seed", [0, 1])
def test_tukey_against_scipy_and_statsmodels(seed: int) -> None:
    values, groups = some_groups(seed)
    pairs = tukey_hsd(values, groups)
    scipys = stats.tukey_hsd(*[values[groups == group] for group in range(4)])
    interval = scipys.confidence_interval()
    pair = pairs.first, pairs.second
    np.testing.assert_allclose(pairs.p_value, scipys.pvalue[pair], atol=1e-9)
    np.testing.assert_allclose(pairs.low, np.asarray(interval.low, np.float64)[pair], atol=1e-9)
    np.testing.assert_allclose(pairs.high, np.asarray(interval.high, np.float64)[pair], atol=1e-9)
    models = pairwise_tukeyhsd(values, groups)
    np.testing.assert_allclose(pairs.difference, -models.meandiffs, atol=1e-9)
    np.testing.assert_allclose(pairs.p_value, models.pvalues, atol=1e-5)
    assert pairs.separated.tolist() == models.reject.tolist()


@pytest.mark.parametrize("seed", [2, 3])
def test_games_howell_against_pingouin(seed: int) -> None:
    values, groups = some_groups(seed)
    pairs = games_howell(values, groups)
    theirs = pingouin.pairwise_gameshowell(pd.DataFrame({"v": values, "g": groups}), dv="v", between="g")
    np.testing.assert_allclose(pairs.difference, theirs["diff"], atol=1e-9)
    np.testing.assert_allclose(pairs.standard_error, theirs["se"], atol=1e-9)
    np.testing.assert_allclose(pairs.degrees, theirs["df"], atol=1e-9)
    np.testing.assert_allclose(pairs.p_value, theirs["pval"], atol=1e-9)


def test_laws() -> None:
    values, groups = some_groups(4)
    for test in (tukey_hsd, games_howell):
        pairs = test(values, groups)
        turned = test(5 - 3 * values, groups)
        np.testing.assert_allclose(turned.p_value, pairs.p_value, atol=1e-9)
        np.testing.assert_allclose(turned.low, -3 * pairs.high, atol=1e-9)
        assert np.all((pairs.low <= pairs.difference) & (pairs.difference <= pairs.high))
        # an interval without 0 and a small p are one thing
        np.testing.assert_array_equal(pairs.separated, (pairs.low > 0) | (pairs.high < 0))
        wide = test(values, groups, level=0.99)
        assert np.all((wide.low < pairs.low) & (wide.high > pairs.high))


def test_false_separations_are_rare_where_spreads_differ() -> None:
    # equal means, the smallest group with the largest spread: Tukey's common spread is too small there
    rng = np.random.default_rng(5)
    groups = np.repeat([0, 1, 2], [10, 40, 40])
    wrong = np.zeros(2)
    for _ in range(40):
        values = rng.normal(0, np.array([3.0, 1.0, 1.0])[groups])
        wrong += [games_howell(values, groups).separated.any(), tukey_hsd(values, groups).separated.any()]
    assert wrong[0] / 40 < 0.16
    assert wrong[1] / 40 > 0.2


def test_no_spread() -> None:
    for test in (tukey_hsd, games_howell):
        pairs = test([0.5, 0.5, 0.5, 0.5, 0.7, 0.7], [0, 0, 1, 1, 2, 2])
        assert pairs.p_value.tolist() == [1, 0, 0]
        np.testing.assert_allclose(pairs.low, pairs.difference, atol=1e-12)


def test_nonsense_is_refused() -> None:
    with pytest.raises(StatisticsError, match="two raters in every group; found 1 in group 1"):
        games_howell([1.0, 2.0, 3.0], [0, 0, 1])
    with pytest.raises(StatisticsError, match="more raters than groups"):
        tukey_hsd([1.0, 2.0], [0, 1])
    with pytest.raises(StatisticsError, match="level"):
        tukey_hsd([1.0, 2.0, 3.0], [0, 0, 1], level=1.5)
