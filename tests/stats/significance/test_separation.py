import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, special, stats

from beholder.stats.comparisons.bradley_terry import bradley_terry
from beholder.stats.intervals.clustered_t import ratio_influence
from beholder.stats.significance.separation import separate


def test_by_hand() -> None:
    # differences of five raters 5, 3, 2, 6, 4: mean 4, s² = 2.5, SE = √.5, t = 5.657 with 4 degrees, p = .0048
    scores = np.array([[9, 4], [8, 5], [7, 5], [9, 3], [7, 3]], float)
    pair = separate(ratio_influence(scores, np.ones((5, 2))))
    assert pair.difference[0] == pytest.approx(4)
    assert pair.standard_error[0] == pytest.approx(np.sqrt(0.5))
    assert (pair.low[0], pair.high[0]) == (
        pytest.approx(4 - 2.776445 * 0.70711, abs=1e-4),
        pytest.approx(5.9632, abs=1e-4),
    )
    assert pair.p_value[0] == pair.p_adjusted[0] == pytest.approx(2 * stats.t.sf(4 / np.sqrt(0.5), 4))
    assert pair.separated.tolist() == [True]
    assert (pair.rank_low.tolist(), pair.rank_high.tolist()) == ([1, 2], [1, 2])
    lower = separate(ratio_influence(scores, np.ones((5, 2))), higher_is_better=False)
    assert lower.rank_low.tolist() == [2, 1]


def test_five_raters_with_most_votes_for_one_generator() -> None:
    # 60 votes, 50 of them (83 %) for the first: an interval that excludes 0 and the verdict go together
    wins = np.array([11, 12, 9, 10, 8])
    counts = np.stack([wins, 12 - wins, 0 * wins], axis=1)[:, None, :].astype(float)
    pair = separate(bradley_terry([[0, 1]], counts, items=2).rater_influence())
    # d = ln 5; on the scale of proportions s/√5 of 11/12, 1, 9/12, 10/12, 8/12 is .05893, over p(1 − p) = .13889
    assert pair.difference[0] == pytest.approx(np.log(5))
    assert pair.standard_error[0] == pytest.approx(0.058926 / 0.138889, rel=1e-4)
    # r = √(2 (50 ln(50/30) + 10 ln(10/30))) = 5.3954, the model's SE 1/√(60 · .13889) = .34641:
    # t = 5.3954 · .34641/.424264 = 4.4053, not ln 5/.424264 = 3.7935
    assert pair.p_value[0] == pytest.approx(2 * stats.t.sf(4.4053, 4), rel=1e-3)
    # the limits of 50 of 60 at r = 2.776445 · .424264/.34641 = 3.4004, in log-odds

    def loss(odds: float) -> float:
        p = special.expit(odds)
        return float(2 * (50 * np.log(50 / 60 / p) + 10 * np.log(10 / 60 / (1 - p))) - 3.4004**2)

    assert pair.low[0] == pytest.approx(optimize.brentq(loss, -3, np.log(5)), abs=1e-3)
    assert pair.high[0] == pytest.approx(optimize.brentq(loss, np.log(5), 9), abs=1e-3)
    assert pair.separated[0] == (pair.low[0] > 0) == (pair.p_adjusted[0] < 0.05)


def test_votes_that_all_agree_are_separated_with_an_interval() -> None:
    # 5 raters · 12 votes for the first; half a pseudo-vote each: d = ln(60.5/.5) = 4.796, SE² = 1/(61 p (1 − p))
    counts = np.tile([12.0, 0.0, 0.0], (5, 1))[:, None, :]
    pair = separate(bradley_terry([[0, 1]], counts, items=2).rater_influence())
    p = 60.5 / 61
    assert pair.difference[0] == pytest.approx(np.log(121))
    assert pair.standard_error[0] == pytest.approx(1 / np.sqrt(61 * p * (1 - p)), rel=1e-6)
    assert pair.separated[0]
    assert 0 < pair.low[0] < pair.high[0] < np.inf


@given(st.integers(2, 5), st.integers(5, 12), st.floats(0, 3), st.booleans(), st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None)
def test_votes_have_verdict_p_value_and_interval_of_one_test(
    cells: int, raters: int, far: float, ties: bool, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    first, second = np.triu_indices(cells, k=1)
    middle = rng.normal(0, far, cells)
    chance = special.expit(middle[first] - middle[second])
    wins, equal = rng.binomial(3, chance, (raters, len(first))), rng.integers(0, 1 + ties, (raters, len(first)))
    counts = np.stack([wins, 3 - wins, equal], axis=2).astype(float)
    pairs = separate(bradley_terry(np.stack([first, second], axis=1), counts, items=cells).rater_influence())
    assert np.array_equal(pairs.separated, (pairs.low > 0) | (pairs.high < 0))
    assert np.array_equal(pairs.separated, pairs.p_adjusted < 0.05)
    assert np.all((pairs.low < pairs.difference) & (pairs.difference < pairs.high))
    assert np.all(np.isfinite(pairs.low) & np.isfinite(pairs.high))
    swapped = bradley_terry(np.stack([second, first], axis=1), counts, items=cells).rater_influence()
    np.testing.assert_allclose(separate(swapped).low, -pairs.high, rtol=1e-6, atol=1e-6)


def test_many_votes_have_the_plain_intervals() -> None:
    # 400 raters: the likelihood of all votes is all but normal within the interval, so its ends are d ± t SE
    wins = np.random.default_rng(3).binomial(30, 0.6, 400)
    counts = np.stack([wins, 30 - wins, 0 * wins], axis=1)[:, None, :].astype(float)
    pair = separate(bradley_terry([[0, 1]], counts, items=2).rater_influence())
    reach = stats.t.ppf(0.975, 399) * pair.standard_error[0]
    np.testing.assert_allclose(
        [pair.low[0], pair.high[0]], pair.difference[0] + np.array([-reach, reach]), rtol=1e-3
    )


@given(st.integers(2, 6), st.integers(5, 30), st.booleans(), st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_laws(cells: int, raters: int, within: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    if within:
        answers = rng.integers(1, 20, (raters, cells)).astype(float)
    else:
        answers = np.repeat(np.eye(cells), raters, axis=0)
    middle = rng.normal(0, 0.5, cells)
    sums = answers * (middle + rng.normal(size=answers.shape))
    pairs = separate(ratio_influence(sums, answers))
    assert np.all(pairs.low <= pairs.difference)
    assert np.all(pairs.difference <= pairs.high)
    np.testing.assert_array_equal(pairs.separated, (pairs.low > 0) | (pairs.high < 0))
    np.testing.assert_array_equal(pairs.separated, pairs.p_adjusted < 0.05)
    np.testing.assert_array_equal(np.isnan(pairs.more_raters), pairs.separated)
    assert np.all(pairs.more_raters[~pairs.separated] >= 1)
    rank = 1 + np.argsort(np.argsort(-(sums.sum(axis=0) / answers.sum(axis=0))))
    assert np.all((pairs.rank_low <= rank) & (rank <= pairs.rank_high))

    order = rng.permutation(cells)
    again = separate(ratio_influence(sums[:, order], answers[:, order]))
    np.testing.assert_array_equal(again.rank_low, pairs.rank_low[order])
    moved = separate(ratio_influence(7 * answers + 2 * sums, answers))
    np.testing.assert_allclose(moved.p_adjusted, pairs.p_adjusted, atol=1e-6)
    np.testing.assert_allclose(moved.low, 2 * pairs.low, atol=1e-6)
    turned = separate(ratio_influence(-sums, answers), higher_is_better=False)
    np.testing.assert_array_equal(turned.rank_low, pairs.rank_low)


def test_the_raters_still_needed_separate_the_pair_in_four_of_five_studies() -> None:
    rng = np.random.default_rng(8)
    scores = rng.normal(0, 1, (10, 2))
    scores[:, 0] += 0.6 - (scores[:, 0] - scores[:, 1]).mean()  # a difference of .6, not significant
    pair = separate(ratio_influence(scores, np.ones((10, 2))))
    assert not pair.separated[0]
    more, spread = int(pair.more_raters[0]), pair.standard_error[0] * np.sqrt(10)
    gaps = rng.normal(0.6, spread, (4000, 10 + more))
    t = gaps.mean(axis=1) / gaps.std(axis=1, ddof=1) * np.sqrt(10 + more)
    power = np.mean(t > stats.t.ppf(0.975, 9 + more))
    assert power == pytest.approx(0.8, abs=0.03)


def test_too_few_raters_leave_everything_open() -> None:
    scores = np.array([[9, 4, 1], [8, 5, 1], [7, 5, 0], [9, 3, 2]], float)
    pairs = separate(ratio_influence(scores, np.ones((4, 3))))
    assert not pairs.separated.any()
    assert np.isnan([pairs.low, pairs.high, pairs.p_value, pairs.p_adjusted, pairs.more_raters]).all()
    assert np.isfinite(pairs.difference).all()
    assert (pairs.rank_low.tolist(), pairs.rank_high.tolist()) == ([1, 1, 1], [3, 3, 3])
    assert separate(ratio_influence(scores, np.ones((4, 3))), fewest=2).separated.any()


def test_cells_without_any_spread() -> None:
    same = separate(ratio_influence(np.full((10, 2), 0.5), np.ones((10, 2))))
    assert (same.p_value[0], same.separated[0]) == (1, False)
    apart = separate(ratio_influence(np.tile([0.5, 0.6], (10, 1)), np.ones((10, 2))))
    assert (apart.p_value[0], apart.separated[0]) == (0, True)


def test_one_cell_has_nothing_to_be_compared_with() -> None:
    alone = separate(ratio_influence(np.random.default_rng(0).random((6, 1)), np.ones((6, 1))))
    assert (len(alone.first), alone.rank_low.tolist(), alone.rank_high.tolist()) == (0, [1], [1])


def test_pairs_can_be_turned_to_the_higher_rated() -> None:
    # means .3 and .7: the pair (0, 1) has the difference −.4; turned round, the interval changes ends and signs
    scores = np.array([[0.2, 0.7], [0.3, 0.8], [0.4, 0.6], [0.3, 0.7], [0.3, 0.7]])
    pair = separate(ratio_influence(scores, np.ones((5, 2))))
    turned = pair.higher_first()
    assert (turned.first.tolist(), turned.second.tolist()) == ([1], [0])
    assert turned.difference[0] == pytest.approx(0.4)
    assert (turned.low[0], turned.high[0]) == (-pair.high[0], -pair.low[0])
    assert turned.p_value[0] == pair.p_value[0]
