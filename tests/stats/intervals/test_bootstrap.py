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
    effective_people,
    method_name,
    person_weights,
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


def one_group(people: int) -> NDArray[np.int64]:
    return np.zeros(people, np.int64)


def test_ratio_of_sums_by_hand() -> None:
    # person 0 drawn twice, person 2 once: cell 0 (2·3 + 0)/(2·4 + 2) = .6, cell 1 (0 + 5)/(0 + 5) = 1
    # person 0 three times: cell 0 9/12 = .75, cell 1 0/0
    weights = np.array([[2, 0, 1], [3, 0, 0]])
    np.testing.assert_allclose(ratio_of_sums(RIGHT, ASKED, weights), [[0.6, 1.0], [0.75, np.nan]])


def test_expanded_tail_by_hand() -> None:
    # n = 10: t.975,9 = 2.262157, √(10/9) = 1.054093, product 2.384523, Φ(−2.384523) = .008551
    assert expanded_tail(0.95, 9, np.sqrt(10 / 9)) == pytest.approx(0.008551, abs=1e-6)


def test_percentile_interval_by_hand() -> None:
    # 101 draws 0 … 100: the plain 90 % interval lies at positions 5 and 95
    low, high = percentile_interval(np.arange(101.0)[:, None], 10, level=0.9, expand=False)
    assert (low[0], high[0]) == (pytest.approx(5), pytest.approx(95))


def test_effective_people_by_hand() -> None:
    # (1+1+2)²/(1+1+4) = 16/6; equal shares give the number of people; an empty cell none
    answers = np.array([[1, 5, 0], [1, 5, 0], [2, 5, 0]])
    np.testing.assert_allclose(effective_people(answers), [16 / 6, 3, 0])


def test_bca_by_hand() -> None:
    # influence −1 −1 2: Σl³ = 6, Σl² = 6, a = 6/(6·6^1.5) = .0680414. 201 draws 0 … 200, estimate 80: the share
    # below is (80 + ½)/201 = .400498, z₀ = −.252059. Plain 95 %: z = ±1.959964.
    # low: s = −2.212023, z₀ + s/(1 + .150510) = −2.174707, Φ = .014825, × 200 = 2.9650
    # high: s = 1.707905, z₀ + s/(1 − .116208) = 1.680397, Φ = .953560, × 200 = 190.712
    draws = np.arange(201.0)[:, None]
    low, high = bca_interval([80.0], draws, [[-1.0], [-1.0], [2.0]], 3, expand=False)
    assert low[0] == pytest.approx(2.9650, abs=2e-3)
    assert high[0] == pytest.approx(190.712, abs=2e-3)


def test_expanded_bca_by_hand() -> None:
    # symmetric: a = 0 and z₀ = 0, so only the reach matters. 11 people: t.975,10 = 2.228139, times 11/10
    # = 2.450953, Φ(−2.450953) = .0071239; an effective number of 6: times 6/5 = 2.673767, Φ = .0037502; × 200
    draws, pull = np.arange(201.0)[:, None], np.arange(-5.0, 6.0)[:, None]
    low, high = bca_interval([100.0], draws, pull, 11)
    assert (low[0], high[0]) == pytest.approx((1.42479, 198.57521), abs=2e-5)
    low, high = bca_interval([100.0], draws, pull, 11, effective=6)
    assert (low[0], high[0]) == pytest.approx((0.75005, 199.24995), abs=2e-5)


def test_weights_resample_within_strata() -> None:
    strata = np.array([0, 1, 0, 1, 1, 7])
    weights = person_weights(strata, 500, np.random.default_rng(0))
    for stratum, size in ((0, 2), (1, 3), (7, 1)):
        assert np.all(weights[:, strata == stratum].sum(axis=1) == size)
    # multinomial: mean 1, variance 1 − 1/n = 2/3 for the three people of stratum 1
    assert weights[:, 1].mean() == pytest.approx(1, abs=0.12)
    assert weights[:, 1].var() == pytest.approx(2 / 3, abs=0.12)
    np.testing.assert_array_equal(weights, person_weights(strata, 500, np.random.default_rng(0)))


def test_all_resamples_of_three_people() -> None:
    # the exact bootstrap distribution of the mean of 1, 2, 6 over its 27 resamples
    exact = sorted(np.mean(pick) for pick in product((1, 2, 6), repeat=3))
    weights = person_weights(one_group(3), 40_000, np.random.default_rng(1))
    drawn = ratio_of_sums([[1], [2], [6]], np.ones((3, 1)), weights)[:, 0]
    assert drawn.std() == pytest.approx(np.std(exact), rel=0.02)
    for quantile in (0.1, 0.5, 0.9):
        assert np.quantile(drawn, quantile) == pytest.approx(np.quantile(exact, quantile), abs=0.35)


@pytest.mark.parametrize("people", [10, 40])
def test_normal_scores_give_the_t_interval(people: int) -> None:
    scores = stats.norm.ppf((np.arange(people) + 0.5) / people)[:, None]  # symmetric
    weights = person_weights(one_group(people), 40_000, np.random.default_rng(2))
    found = clustered_ratio(scores, np.ones_like(scores), weights, rule="percentile")[0]
    half = stats.t.ppf(0.975, people - 1) * scores.std(ddof=1) / np.sqrt(people)
    assert (found.high - found.low) / 2 == pytest.approx(half, rel=0.04)


def test_plain_intervals_against_scipy() -> None:
    rng = np.random.default_rng(3)
    scores = rng.gamma(1.0, size=25)
    weights = person_weights(one_group(25), 40_000, rng)
    draws = ratio_of_sums(scores[:, None], np.ones((25, 1)), weights)
    pull = (scores - scores.mean())[:, None]
    for method in ("percentile", "BCa"):
        theirs = stats.bootstrap(
            (scores,), np.mean, n_resamples=40_000, method=method, rng=np.random.default_rng(4)
        ).confidence_interval
        if method == "BCa":
            low, high = bca_interval([scores.mean()], draws, pull, 25, expand=False)
        else:
            low, high = percentile_interval(draws, 25, expand=False)
        width = theirs.high - theirs.low
        assert low[0] == pytest.approx(theirs.low, abs=0.03 * width)
        assert high[0] == pytest.approx(theirs.high, abs=0.03 * width)


@given(st.integers(2, 30), st.integers(0, 2**32 - 1))
@settings(max_examples=25, deadline=None)
def test_laws(people: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    asked = rng.integers(1, 30, (people, 3))
    right = rng.binomial(asked, 0.3)
    weights = person_weights(one_group(people), 400, rng)
    order = rng.permutation(people)
    draws = ratio_of_sums(right, asked, weights)
    np.testing.assert_allclose(draws, ratio_of_sums(right[order], asked[order], weights[:, order]))
    assert np.all((draws >= 0) & (draws <= 1))
    for rule in RULES:
        found = clustered_ratio(right, asked, weights, rule=rule)
        turned = clustered_ratio(asked - right, asked, weights, rule=rule)
        np.testing.assert_allclose(turned.low, 1 - found.high, atol=1e-9)
        np.testing.assert_allclose(found.value, right.sum(axis=0) / asked.sum(axis=0))
        plain = clustered_ratio(right, asked, weights, rule=rule, expand=False)
        assert np.all(found.high - found.low >= plain.high - plain.low - 1e-12)
        wide = clustered_ratio(right, asked, weights, rule=rule, level=0.99)
        assert np.all((wide.low <= found.low) & (wide.high >= found.high))


def test_quantiles_are_those_of_numpy() -> None:
    samples = np.random.default_rng(5).normal(size=(200, 3))
    samples[:4, 1] = np.nan
    found = quantiles(samples, np.array([0.01, 0.3, 0.995]))
    expected = [np.nanquantile(samples[:, i], q) for i, q in enumerate((0.01, 0.3, 0.995))]
    np.testing.assert_allclose(found, expected)


def test_more_than_one_in_twenty_undefined_draws_give_no_interval() -> None:
    draws = np.random.default_rng(6).normal(size=(100, 2))
    draws[:5, 0] = np.nan
    draws[:6, 1] = np.nan
    low, high = percentile_interval(draws, 20)
    assert np.isfinite([low[0], high[0]]).all()
    assert np.isnan([low[1], high[1]]).all()


def test_a_rare_cell_is_undefined_in_many_draws() -> None:
    # cell 1 was judged by one person of 5: (4/5)^5 = 33 % of the draws miss it
    asked = np.ones((5, 2))
    asked[1:, 1] = 0
    weights = person_weights(one_group(5), 500, np.random.default_rng(7))
    found = clustered_ratio(asked * 0.5, asked, weights)
    assert np.isnan([found.low[1], found.high[1]]).all()
    assert found.value[1] == 0.5
    assert found.raters.tolist() == [5, 1]


def test_everyone_alike_gives_a_point() -> None:
    weights = person_weights(one_group(6), 300, np.random.default_rng(8))
    found = clustered_ratio(np.full((6, 1), 3), np.full((6, 1), 10), weights)[0]
    assert [found.low, found.value, found.high] == pytest.approx([0.3] * 3)


def test_one_person_gives_no_interval() -> None:
    weights = person_weights(one_group(1), 300, np.random.default_rng(9))
    for rule in RULES:
        found = clustered_ratio([[3]], [[10]], weights, rule=rule)[0]
        assert np.isnan([found.low, found.high]).all()


def test_names() -> None:
    assert method_name("bca", expand=True) == "expanded BCa bootstrap over people"
    assert method_name("percentile", expand=False) == "percentile bootstrap over people"


def test_nonsense_is_refused() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(StatisticsError, match="one integer a person"):
        person_weights(np.zeros(3), 10, rng)
    with pytest.raises(StatisticsError, match="at least one draw"):
        person_weights([0], 0, rng)
    with pytest.raises(StatisticsError, match="one shape"):
        ratio_of_sums(RIGHT, ASKED[:, :1], np.ones((1, 3), np.int64))
    with pytest.raises(StatisticsError, match="3 people"):
        ratio_of_sums(RIGHT, ASKED, np.ones((1, 2), np.int64))
    with pytest.raises(StatisticsError, match="finite"):
        ratio_of_sums(RIGHT, ASKED - 10, np.ones((1, 3), np.int64))
    with pytest.raises(StatisticsError, match="draws, cells"):
        percentile_interval([1.0, 2.0], 3)
    with pytest.raises(StatisticsError, match="level"):
        percentile_interval([[1.0]], 3, level=95)
    with pytest.raises(StatisticsError, match="influence"):
        bca_interval([1.0], [[1.0]], [1.0], 3)


def test_coverage() -> None:
    # 300 studies, a cell each; benchmarks/coverage_clustered.py does this at length
    rng = np.random.default_rng(11)
    for people in (12, 30):
        asked = np.full((people, 300), 50)
        right = rng.binomial(asked, rng.beta(6, 9, size=asked.shape))
        for rule in RULES:
            weights = person_weights(one_group(people), 2000, rng)
            found = clustered_ratio(right, asked, weights, rule=rule)
            held = np.mean((found.low <= 0.4) & (found.high >= 0.4))
            assert 0.92 <= held <= 0.98, (people, rule, held)
