from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from beholder.errors import StatisticsError
from beholder.stats.intervals.bootstrap import (
    clustered_ratio,
    effective_raters,
    method_name,
    rater_weights,
    ratio_of_sums,
)
from beholder.stats.intervals.bootstrap_intervals import (
    Rule,
    bca_interval,
    expanded_tail,
    percentile_interval,
    quantiles,
)

RULES: tuple[Rule, ...] = ("bca", "percentile")
RIGHT = np.array([[3, 0], [1, 2], [0, 5]])
ASKED = np.array([[4, 0], [4, 4], [2, 5]])


def one_group(rater_count: int) -> NDArray[np.int64]:
    return np.zeros(rater_count, np.int64)


def test_ratio_of_sums_by_hand() -> None:
    # rater 0 drawn twice, rater 2 once: cell 0 (2·3 + 0)/(2·4 + 2) = .6, cell 1 (0 + 5)/(0 + 5) = 1
    # rater 0 three times: cell 0 9/12 = .75, cell 1 0/0
    weights = np.array([[2, 0, 1], [3, 0, 0]])
    np.testing.assert_allclose(ratio_of_sums(RIGHT, ASKED, weights), [[0.6, 1.0], [0.75, np.nan]])


def test_expanded_tail_by_hand() -> None:
    # n = 10: t.975,9 = 2.262157, √(10/9) = 1.054093, product 2.384523, Φ(−2.384523) = .008551
    assert expanded_tail(0.95, 9, np.sqrt(10 / 9)) == pytest.approx(0.008551, abs=1e-6)


def test_percentile_interval_by_hand() -> None:
    # 101 replicates 0 … 100: the plain 90 % interval lies at positions 5 and 95
    low, high = percentile_interval(np.arange(101.0)[:, None], 10, level=0.9, expand=False)
    assert (low[0], high[0]) == (pytest.approx(5), pytest.approx(95))


def test_effective_raters_by_hand() -> None:
    # (1+1+2)²/(1+1+4) = 16/6; equal shares give the number of raters; an empty cell none
    answers = np.array([[1, 5, 0], [1, 5, 0], [2, 5, 0]])
    np.testing.assert_allclose(effective_raters(answers), [16 / 6, 3, 0])


def test_bca_by_hand() -> None:
    # influence −1 −1 2: Σl³ = 6, Σl² = 6, a = 6/(6·6^1.5) = .0680414. 201 replicates 0 … 200, estimate 80: the
    # proportion below is (80 + ½)/201 = .400498, z₀ = −.252059. Plain 95 %: z = ±1.959964.
    # low: s = −2.212023, z₀ + s/(1 + .150510) = −2.174707, Φ = .014825, × 200 = 2.9650
    # high: s = 1.707905, z₀ + s/(1 − .116208) = 1.680397, Φ = .953560, × 200 = 190.712
    replicates = np.arange(201.0)[:, None]
    low, high = bca_interval([80.0], replicates, [[-1.0], [-1.0], [2.0]], 3, expand=False)
    assert low[0] == pytest.approx(2.9650, abs=2e-3)
    assert high[0] == pytest.approx(190.712, abs=2e-3)


def test_expanded_bca_by_hand() -> None:
    # symmetric: a = 0 and z₀ = 0, so only the reach matters. 11 raters: t.975,10 = 2.228139, times 11/10
    # = 2.450953, Φ(−2.450953) = .0071239; an effective number of 6: times 6/5 = 2.673767, Φ = .0037502; × 200
    replicates, pull = np.arange(201.0)[:, None], np.arange(-5.0, 6.0)[:, None]
    low, high = bca_interval([100.0], replicates, pull, 11)
    assert (low[0], high[0]) == pytest.approx((1.42479, 198.57521), abs=2e-5)
    low, high = bca_interval([100.0], replicates, pull, 11, effective=6)
    assert (low[0], high[0]) == pytest.approx((0.75005, 199.24995), abs=2e-5)


def test_weights_resample_within_strata() -> None:
    strata = np.array([0, 1, 0, 1, 1, 7])
    weights = rater_weights(strata, 500, np.random.default_rng(0))
    for stratum, size in ((0, 2), (1, 3), (7, 1)):
        assert np.all(weights[:, strata == stratum].sum(axis=1) == size)
    # multinomial: mean 1, variance 1 − 1/n = 2/3 for the three raters of stratum 1
    assert weights[:, 1].mean() == pytest.approx(1, abs=0.12)
    assert weights[:, 1].var() == pytest.approx(2 / 3, abs=0.12)
    np.testing.assert_array_equal(weights, rater_weights(strata, 500, np.random.default_rng(0)))


def test_all_resamples_of_three_raters() -> None:
    # the exact bootstrap distribution of the mean of 1, 2, 6 over its 27 resamples
    exact = sorted(np.mean(pick) for pick in product((1, 2, 6), repeat=3))
    weights = rater_weights(one_group(3), 40_000, np.random.default_rng(1))
    drawn = ratio_of_sums([[1], [2], [6]], np.ones((3, 1)), weights)[:, 0]
    assert drawn.std() == pytest.approx(np.std(exact), rel=0.02)
    for quantile in (0.1, 0.5, 0.9):
        assert np.quantile(drawn, quantile) == pytest.approx(np.quantile(exact, quantile), abs=0.35)


@pytest.mark.parametrize("rater_count", [10, 40])
def test_normal_scores_give_the_t_interval(rater_count: int) -> None:
    scores = stats.norm.ppf((np.arange(rater_count) + 0.5) / rater_count)[:, None]  # symmetric
    weights = rater_weights(one_group(rater_count), 40_000, np.random.default_rng(2))
    ratio = clustered_ratio(scores, np.ones_like(scores), weights, rule="percentile")[0]
    half = stats.t.ppf(0.975, rater_count - 1) * scores.std(ddof=1) / np.sqrt(rater_count)
    assert (ratio.high - ratio.low) / 2 == pytest.approx(half, rel=0.04)


def test_plain_intervals_against_scipy() -> None:
    rng = np.random.default_rng(3)
    scores = rng.gamma(1.0, size=25)
    weights = rater_weights(one_group(25), 40_000, rng)
    replicates = ratio_of_sums(scores[:, None], np.ones((25, 1)), weights)
    pull = (scores - scores.mean())[:, None]
    for method in ("percentile", "BCa"):
        theirs = stats.bootstrap(
            (scores,), np.mean, n_resamples=40_000, method=method, rng=np.random.default_rng(4)
        ).confidence_interval
        if method == "BCa":
            low, high = bca_interval([scores.mean()], replicates, pull, 25, expand=False)
        else:
            low, high = percentile_interval(replicates, 25, expand=False)
        width = theirs.high - theirs.low
        assert low[0] == pytest.approx(theirs.low, abs=0.03 * width)
        assert high[0] == pytest.approx(theirs.high, abs=0.03 * width)


@given(st.integers(2, 30), st.integers(0, 2**32 - 1))
@settings(max_examples=25, deadline=None)
def test_laws(rater_count: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    answers = rng.integers(1, 30, (rater_count, 3))
    right = rng.binomial(answers, 0.3)
    weights = rater_weights(one_group(rater_count), 400, rng)
    order = rng.permutation(rater_count)
    replicates = ratio_of_sums(right, answers, weights)
    np.testing.assert_allclose(replicates, ratio_of_sums(right[order], answers[order], weights[:, order]))
    assert np.all((replicates >= 0) & (replicates <= 1))
    for rule in RULES:
        ratio = clustered_ratio(right, answers, weights, rule=rule)
        turned = clustered_ratio(answers - right, answers, weights, rule=rule)
        np.testing.assert_allclose(turned.low, 1 - ratio.high, atol=1e-9)
        np.testing.assert_allclose(ratio.value, right.sum(axis=0) / answers.sum(axis=0))
        plain = clustered_ratio(right, answers, weights, rule=rule, expand=False)
        assert np.all(ratio.high - ratio.low >= plain.high - plain.low - 1e-12)
        wide = clustered_ratio(right, answers, weights, rule=rule, level=0.99)
        assert np.all((wide.low <= ratio.low) & (wide.high >= ratio.high))


def test_quantiles_are_those_of_numpy() -> None:
    samples = np.random.default_rng(5).normal(size=(200, 3))
    samples[:4, 1] = np.nan
    computed = quantiles(samples, np.array([0.01, 0.3, 0.995]))
    expected = [np.nanquantile(samples[:, i], q) for i, q in enumerate((0.01, 0.3, 0.995))]
    np.testing.assert_allclose(computed, expected)


def test_more_than_one_in_twenty_undefined_replicates_give_no_interval() -> None:
    replicates = np.random.default_rng(6).normal(size=(100, 2))
    replicates[:5, 0] = np.nan
    replicates[:6, 1] = np.nan
    low, high = percentile_interval(replicates, 20)
    assert np.isfinite([low[0], high[0]]).all()
    assert np.isnan([low[1], high[1]]).all()


def test_a_rare_cell_is_undefined_in_many_replicates() -> None:
    # cell 1 was judged by one rater of 5: (4/5)^5 = 33 % of the replicates miss it
    answers = np.ones((5, 2))
    answers[1:, 1] = 0
    weights = rater_weights(one_group(5), 500, np.random.default_rng(7))
    ratio = clustered_ratio(answers * 0.5, answers, weights)
    assert np.isnan([ratio.low[1], ratio.high[1]]).all()
    assert ratio.value[1] == 0.5
    assert ratio.raters.tolist() == [5, 1]


def test_everyone_alike_gives_a_point() -> None:
    weights = rater_weights(one_group(6), 300, np.random.default_rng(8))
    ratio = clustered_ratio(np.full((6, 1), 3), np.full((6, 1), 10), weights)[0]
    assert [ratio.low, ratio.value, ratio.high] == pytest.approx([0.3] * 3)


def test_one_rater_gives_no_interval() -> None:
    weights = rater_weights(one_group(1), 300, np.random.default_rng(9))
    for rule in RULES:
        ratio = clustered_ratio([[3]], [[10]], weights, rule=rule)[0]
        assert np.isnan([ratio.low, ratio.high]).all()


def test_names() -> None:
    assert method_name("bca", expand=True) == "expanded BCa bootstrap over raters"
    assert method_name("percentile", expand=False) == "percentile bootstrap over raters"


def test_nonsense_is_refused() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(StatisticsError, match="one integer per rater"):
        rater_weights(np.zeros(3), 10, rng)
    with pytest.raises(StatisticsError, match="at least one replicate"):
        rater_weights([0], 0, rng)
    with pytest.raises(StatisticsError, match="one shape"):
        ratio_of_sums(RIGHT, ASKED[:, :1], np.ones((1, 3), np.int64))
    with pytest.raises(StatisticsError, match="3 raters"):
        ratio_of_sums(RIGHT, ASKED, np.ones((1, 2), np.int64))
    with pytest.raises(StatisticsError, match="finite"):
        ratio_of_sums(RIGHT, ASKED - 10, np.ones((1, 3), np.int64))
    with pytest.raises(StatisticsError, match="replicates, cells"):
        percentile_interval([1.0, 2.0], 3)
    with pytest.raises(StatisticsError, match="level"):
        percentile_interval([[1.0]], 3, level=95)
    with pytest.raises(StatisticsError, match="influence"):
        bca_interval([1.0], [[1.0]], [1.0], 3)


def test_coverage() -> None:
    # 300 studies, a cell each; benchmarks/coverage_clustered.py does this at length
    rng = np.random.default_rng(11)
    for rater_count in (12, 30):
        answers = np.full((rater_count, 300), 50)
        right = rng.binomial(answers, rng.beta(6, 9, size=answers.shape))
        for rule in RULES:
            weights = rater_weights(one_group(rater_count), 2000, rng)
            ratio = clustered_ratio(right, answers, weights, rule=rule)
            held = np.mean((ratio.low <= 0.4) & (ratio.high >= 0.4))
            assert 0.92 <= held <= 0.98, (rater_count, rule, held)
