import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from beholder.errors import StatisticsError
from beholder.stats.intervals.bootstrap import rater_weights, ratio_of_sums
from beholder.stats.significance.separation import separate


def test_by_hand() -> None:
    # differences of the replicates of cells 0, 1, 2 from 5, 4, 1: (1 1 −1), (−1 −1 1), (1 −1 1), (−1 1 −1).
    # differences 0−1: 0 0 2 −2, variance 8/3 (unbiased over 4); 0−2: 2 −2 0 0, 8/3; 1−2: 2 −2 −2 2, 16/3;
    # widened by 10/9 for ten raters each: SE² = 80/27, 80/27, 160/27
    replicates = np.array([[6, 5, 0], [4, 3, 2], [6, 3, 2], [4, 5, 0]], float)
    separation = separate([5, 4, 1], replicates, 10, within=False)
    error = np.sqrt(np.array([8 / 3, 8 / 3, 16 / 3]) * 10 / 9)
    np.testing.assert_allclose(separation.difference, [1, 4, 3])
    np.testing.assert_allclose(separation.p_value, 2 * stats.t.sf(np.array([1, 4, 3]) / error, 18))
    # p = .568, .032, .235: Holm 3 · .032 = .096, so nothing is separated at 95 %, one pair at 90 %
    assert not separation.separated.any()
    looser = separate([5, 4, 1], replicates, 10, within=False, level=0.9)
    assert looser.separated.tolist() == [False, True, False]
    # cell 0 beats cell 2 only: ranks 1–2, 1–3, 2–3
    assert looser.rank_low.tolist() == [1, 1, 2]
    assert looser.rank_high.tolist() == [2, 3, 3]
    lower = separate([5, 4, 1], replicates, 10, within=False, level=0.9, higher_is_better=False)
    assert lower.rank_low.tolist() == [2, 1, 1]
    assert lower.rank_high.tolist() == [3, 3, 2]


def test_between_raters_against_scipys_t_test() -> None:
    rng = np.random.default_rng(0)
    scores = np.stack([rng.normal(0.40, 0.1, 25), rng.normal(0.46, 0.1, 25)])
    strata = np.repeat([0, 1], 25)
    above, below = np.zeros((2, 50, 2))
    above[np.arange(50), strata] = scores.ravel()
    below[np.arange(50), strata] = 1
    replicates = ratio_of_sums(above, below, rater_weights(strata, 40_000, rng))
    separation = separate(scores.mean(axis=1), replicates, 25, within=False)
    theirs = stats.ttest_ind(*scores)
    assert stats.t.isf(separation.p_value[0] / 2, 48) == pytest.approx(abs(theirs.statistic), rel=0.02)
    interval = theirs.confidence_interval()
    assert separation.low[0] == pytest.approx(interval.low, abs=0.05 * (interval.high - interval.low))
    assert separation.high[0] == pytest.approx(interval.high, abs=0.05 * (interval.high - interval.low))


def test_within_raters_against_scipys_paired_t_test() -> None:
    rng = np.random.default_rng(1)
    habit = rng.normal(0, 0.2, 20)
    scores = np.stack([0.40 + habit, 0.43 + habit + rng.normal(0, 0.04, 20)], axis=1)
    weights = rater_weights(np.zeros(20, np.int64), 40_000, rng)
    replicates = ratio_of_sums(scores, np.ones_like(scores), weights)
    separation = separate(scores.mean(axis=0), replicates, 20, within=True)
    theirs = stats.ttest_rel(scores[:, 0], scores[:, 1])
    assert stats.t.isf(separation.p_value[0] / 2, 19) == pytest.approx(abs(theirs.statistic), rel=0.02)
    interval = theirs.confidence_interval()
    assert separation.low[0] == pytest.approx(interval.low, abs=0.07 * (interval.high - interval.low))


@given(st.integers(2, 7), st.integers(0, 2**32 - 1))
@settings(max_examples=25, deadline=None)
def test_laws(cells: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.normal(0, 3, cells)
    replicates = values + rng.normal(size=(300, cells))
    raters = rng.integers(5, 30, cells)
    separation = separate(values, replicates, raters, within=False)
    assert len(separation.first) == cells * (cells - 1) // 2
    assert np.all(separation.p_holm >= separation.p_value)
    assert np.all((separation.low <= separation.difference + 1) & (separation.high >= separation.difference - 1))
    rank = 1 + np.argsort(np.argsort(-values))
    assert np.all((separation.rank_low <= rank) & (rank <= separation.rank_high))

    order = rng.permutation(cells)
    again = separate(values[order], replicates[:, order], raters[order], within=False)
    np.testing.assert_array_equal(again.rank_low, separation.rank_low[order])
    np.testing.assert_array_equal(again.rank_high, separation.rank_high[order])
    moved = separate(10 + 2 * values, 10 + 2 * replicates, raters, within=False)
    np.testing.assert_allclose(moved.p_value, separation.p_value, atol=1e-9)
    turned = separate(-values, -replicates, raters, within=False, higher_is_better=False)
    np.testing.assert_array_equal(turned.rank_low, separation.rank_low)
    # within raters has fewer degrees of freedom, so never a smaller p for the same draws
    assert np.all(separate(values, replicates, raters, within=True).p_value >= separation.p_value - 1e-12)


def test_far_apart_cells_have_one_rank_each() -> None:
    values = np.array([0.1, 0.5, 0.9])
    replicates = values + np.random.default_rng(2).normal(0, 0.01, (500, 3))
    separation = separate(values, replicates, [20, 20, 20], within=False)
    assert separation.separated.all()
    assert separation.rank_low.tolist() == separation.rank_high.tolist() == [3, 2, 1]


def test_undefined_cells_are_not_separated() -> None:
    values = np.array([0.1, 0.5, 0.9])
    replicates = values + np.random.default_rng(3).normal(0, 0.01, (500, 3))
    replicates[:100, 1] = np.nan
    separation = separate(values, replicates, [20, 20, 1], within=False)
    assert not separation.separated.any()
    assert np.isnan(separation.p_value).all()
    assert np.isnan(separation.low).all()
    assert separation.rank_low.tolist() == [1, 1, 1]
    assert separation.rank_high.tolist() == [3, 3, 3]


def test_cells_without_any_spread() -> None:
    same = separate([0.5, 0.5], np.full((50, 2), 0.5), 10, within=True)
    assert same.p_value[0] == 1
    apart = separate([0.5, 0.6], np.tile([0.5, 0.6], (50, 1)), 10, within=True)
    assert apart.p_value[0] < 1e-100
    assert apart.separated[0]


def test_nonsense_is_refused() -> None:
    with pytest.raises(StatisticsError, match="at least two replicates"):
        separate([1.0, 2.0], [[1.0, 2.0]], 10, within=True)
    with pytest.raises(StatisticsError, match="raters must be"):
        separate([1.0, 2.0], np.zeros((5, 2)), [1, 2, 3], within=True)
