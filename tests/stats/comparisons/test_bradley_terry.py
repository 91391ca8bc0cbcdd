import math
from itertools import combinations, permutations

import choix
import evalica
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import optimize

from beholder.errors import StatisticsError
from beholder.stats.comparisons.bradley_terry import bradley_terry
from beholder.stats.intervals.bootstrap import rater_weights


def simulate(
    rng: np.random.Generator,
    *,
    rater_count: int = 60,
    items: int = 4,
    votes: int = 6,
    tie: float | None = -0.5,
    side: float = 0.0,
    taste: float = 0.4,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return pairs (in both orders) and counts (raters, pairs, 3) with ``votes`` a rater and pair."""
    pairs = np.array(list(permutations(range(items), 2)))
    ratings = np.linspace(-0.8, 0.8, items) + rng.normal(0, taste, (rater_count, items))
    gap = ratings[:, pairs[:, 0]] - ratings[:, pairs[:, 1]] + side
    equal = np.zeros_like(gap) if tie is None else np.full_like(gap, math.exp(tie))
    chances = np.stack([np.exp(gap / 2), np.exp(-gap / 2), equal], axis=-1)
    chances /= chances.sum(axis=-1, keepdims=True)
    return pairs, rng.multinomial(votes, chances)


def explicit_logits(
    ratings: NDArray[np.float64], tie: float, side: float, pairs: NDArray[np.int64]
) -> NDArray[np.float64]:
    """The model as the module's docstring states it, (pairs, 3)."""
    left, right = ratings[pairs[:, 0]], ratings[pairs[:, 1]]
    return np.stack([left + side, right, (left + right + side) / 2 + tie], axis=1)


def test_two_items_by_hand() -> None:
    # 30 to 10 without ties: θ₀ − θ₁ = log 3, so θ = ±½ log 3. Var(θ₀ − θ₁) = 1/30 + 1/10, θ₀ has a quarter of it.
    fit = bradley_terry([[0, 1]], [[30, 10, 0]], items=2)
    assert fit.ratings == pytest.approx([math.log(3) / 2, -math.log(3) / 2])
    assert fit.tie is None
    assert fit.side is None
    assert fit.standard_errors == pytest.approx([math.sqrt(4 / 30) / 2] * 2)
    assert fit.win_probability(0, 1) == pytest.approx(0.75)
    assert fit.log_likelihood == pytest.approx(30 * math.log(0.75) + 10 * math.log(0.25))
    assert not fit.prior_used


def test_sandwich_by_hand() -> None:
    # 3:1, 2:2 and 1:3: d = 0, a rater's score of θ₀ is (wins − losses)/2 = 1, 0, −1, of θ₁ the opposite
    # H = 12 votes · ¼ · (1 −1; −1 1) has eigenvalue 6 along (1, −1): influence on θ₀ is score/6,
    # Var θ₀ = 3/2 · (1 + 0 + 1)/36 = 1/12
    fit = bradley_terry([[0, 1]], [[[3, 1, 0]], [[2, 2, 0]], [[1, 3, 0]]], items=2)
    assert fit.influence[:, 0] == pytest.approx([1 / 6, 0, -1 / 6])
    assert fit.covariance[0] == pytest.approx([1 / 12, -1 / 12])
    assert fit.covariance_kind == "sandwich over raters"


def test_ties_by_hand() -> None:
    # Davidson with 36, 4, 24: p₁/p₂ = 9 = e^d, p₃/√(p₁p₂) = 24/12 = 2 = e^δ
    fit = bradley_terry([[0, 1]], [[36, 4, 24]], items=2)
    assert fit.ratings == pytest.approx([math.log(3), -math.log(3)])
    assert fit.tie == pytest.approx(math.log(2))
    np.testing.assert_allclose(fit.outcome_probabilities(0, 1), [36 / 64, 4 / 64, 24 / 64])
    assert fit.win_probability(0, 1) == pytest.approx((36 + 12) / 64)
    assert fit.tie_rule == "davidson"


def test_side_effect_by_hand() -> None:
    # (0, 1): 40 to 10, log-odds log 4 = d + γ; (1, 0): 20 to 20, log-odds 0 = −d + γ; so d = γ = ½ log 4 = log 2
    fit = bradley_terry([[0, 1], [1, 0]], [[40, 10, 0], [20, 20, 0]], items=2, side_effect=True)
    assert fit.ratings == pytest.approx([math.log(2) / 2, -math.log(2) / 2])
    assert fit.side == pytest.approx(math.log(2))
    np.testing.assert_allclose(fit.outcome_probabilities([0, 1], [1, 0])[:, 0], [0.8, 0.5])


def test_pseudo_votes_by_hand() -> None:
    # 0 always beats 1: with one vote shared equally the odds are (20 + .5)/.5 = 41
    fit = bradley_terry([[0, 1]], [[20, 0, 0]], items=2)
    assert fit.prior_used
    assert fit.ratings[0] - fit.ratings[1] == pytest.approx(math.log(41))


def test_without_ties_against_choix_and_evalica() -> None:
    pairs, counts = simulate(np.random.default_rng(0), items=6, tie=None)
    fit = bradley_terry(pairs, counts, items=6)
    wins = np.zeros((6, 6))
    totals = counts.sum(axis=0)
    np.add.at(wins, (pairs[:, 0], pairs[:, 1]), totals[:, 0])
    np.add.at(wins, (pairs[:, 1], pairs[:, 0]), totals[:, 1])
    votes = [(w, x) for w in range(6) for x in range(6) for _ in range(int(wins[w, x]))]
    theirs = choix.ilsr_pairwise(6, votes, max_iter=1000)
    np.testing.assert_allclose(fit.ratings, theirs - theirs.mean(), atol=1e-6)
    result = evalica.bradley_terry(
        [str(w) for w, _ in votes],
        [str(x) for _, x in votes],
        [evalica.Winner.X] * len(votes),
        tolerance=1e-12,
        limit=10_000,
    )
    theirs = np.log([result.scores[str(i)] for i in range(6)])
    np.testing.assert_allclose(fit.ratings, theirs - theirs.mean(), atol=1e-5)


@pytest.mark.parametrize("side_effect", [False, True])
def test_ties_and_sides_against_scipy_on_the_stated_likelihood(side_effect: bool) -> None:
    pairs, counts = simulate(np.random.default_rng(1), items=5, side=0.3)
    totals = counts.sum(axis=0)

    def loss(free: NDArray[np.float64]) -> float:
        ratings = np.append(free[:4], -free[:4].sum())
        logits = explicit_logits(ratings, free[4], free[5] if side_effect else 0.0, pairs)
        return float(-(totals * (logits - np.logaddexp.reduce(logits, axis=1)[:, None])).sum())

    best = optimize.minimize(loss, np.zeros(6 if side_effect else 5), method="BFGS", options={"gtol": 1e-6})
    fit = bradley_terry(pairs, counts, items=5, side_effect=side_effect)
    np.testing.assert_allclose(fit.ratings[:4], best.x[:4], atol=1e-5)
    assert fit.tie == pytest.approx(best.x[4], abs=1e-5)
    if side_effect:
        assert fit.side == pytest.approx(best.x[5], abs=1e-5)
    assert fit.log_likelihood == pytest.approx(-best.fun, abs=1e-6)
    assert fit.log_likelihood >= -best.fun - 1e-7


def test_each_draw_is_the_fit_to_its_own_votes() -> None:
    rng = np.random.default_rng(2)
    pairs, counts = simulate(rng, rater_count=12, votes=2)
    weights = rater_weights(np.zeros(12, np.int64), 15, rng)
    fit = bradley_terry(pairs, counts, items=4, weights=weights, side_effect=True)
    assert fit.tie_replicates is not None
    assert fit.side_replicates is not None
    for replicate in range(15):
        alone = bradley_terry(pairs, np.tensordot(weights[replicate], counts, 1), items=4, side_effect=True)
        np.testing.assert_allclose(fit.rating_replicates[replicate], alone.ratings, atol=1e-7)
        assert fit.tie_replicates[replicate] == pytest.approx(alone.tie, abs=1e-7)
        assert fit.side_replicates[replicate] == pytest.approx(alone.side, abs=1e-7)


def test_sandwich_agrees_with_bootstrap() -> None:
    rng = np.random.default_rng(3)
    pairs, counts = simulate(rng, rater_count=300, taste=0.8)
    weights = rater_weights(np.zeros(300, np.int64), 3000, rng)
    fit = bradley_terry(pairs, counts, items=4, weights=weights)
    # Monte-Carlo error of a standard deviation over 3,000 replicates is 1/√6,000 = 1.3 %
    np.testing.assert_allclose(fit.rating_replicates.std(axis=0), fit.standard_errors, rtol=0.05)
    np.testing.assert_allclose(np.cov(fit.rating_replicates.T), fit.covariance, atol=0.1 * fit.covariance.max())
    # a taste of .8 makes votes of one rater alike: independent votes would give too small errors
    naive = bradley_terry(pairs, counts.sum(axis=0), items=4)
    assert naive.covariance_kind == "model"
    assert np.all(fit.standard_errors > 1.3 * naive.standard_errors)


def test_independent_votes_make_all_three_errors_agree() -> None:
    rng = np.random.default_rng(4)
    pairs, counts = simulate(rng, rater_count=400, votes=3, taste=0.0)
    fit = bradley_terry(pairs, counts, items=4)
    naive = bradley_terry(pairs, counts.sum(axis=0), items=4)
    np.testing.assert_allclose(fit.standard_errors, naive.standard_errors, rtol=0.12)


@given(st.integers(0, 2**32 - 1), st.booleans(), st.booleans())
@settings(max_examples=20, deadline=None)
def test_laws(seed: int, ties: bool, side_effect: bool) -> None:
    rng = np.random.default_rng(seed)
    pairs, counts = simulate(rng, rater_count=8, tie=-0.5 if ties else None, side=0.2)
    fit = bradley_terry(pairs, counts, items=4, side_effect=side_effect)
    assert fit.ratings.sum() == pytest.approx(0, abs=1e-9)
    everyone = fit.win_probability(np.arange(4)[:, None], np.arange(4))
    np.testing.assert_allclose(everyone + everyone.T, 1)
    np.testing.assert_allclose(fit.outcome_probabilities(pairs[:, 0], pairs[:, 1]).sum(axis=1), 1)
    assert fit.influence.sum(axis=0) == pytest.approx(np.zeros(4), abs=1e-7)  # scores add up to 0 at the maximum
    assert fit.answers.sum() == 2 * counts.sum()

    relabelled, names = rng.permutation(8), rng.permutation(4)  # item i is now called names[i]
    again = bradley_terry(names[pairs], counts[relabelled], items=4, side_effect=side_effect)
    np.testing.assert_allclose(again.ratings[names], fit.ratings, atol=1e-8)
    worse = bradley_terry(pairs, counts[:, :, [1, 0, 2]], items=4, side_effect=side_effect)
    np.testing.assert_allclose(worse.ratings, -fit.ratings, atol=1e-7)
    thrice = bradley_terry(pairs, 3 * counts, items=4, side_effect=side_effect)
    np.testing.assert_allclose(thrice.ratings, fit.ratings, atol=1e-8)


def test_winning_more_rates_higher() -> None:
    pairs, counts = simulate(np.random.default_rng(5))
    totals = counts.sum(axis=0).astype(float)
    before = bradley_terry(pairs, totals, items=4).ratings
    totals[(pairs == [2, 0]).all(axis=1), 0] += 25  # item 2 beats item 0 another 25 times
    after = bradley_terry(pairs, totals, items=4).ratings
    assert after[2] > before[2]
    assert after[0] < before[0]


def test_repeats_and_orders_are_merged_without_a_side_effect() -> None:
    once = bradley_terry([[0, 1], [1, 2]], [[7, 3, 2], [6, 4, 1]], items=3)
    apart = bradley_terry([[0, 1], [1, 0], [1, 2], [1, 2]], [[5, 1, 1], [2, 2, 1], [6, 0, 0], [0, 4, 1]], items=3)
    np.testing.assert_allclose(apart.ratings, once.ratings, atol=1e-9)


def test_unbeaten_items_need_the_prior_in_some_replicates_only() -> None:
    # item 2 loses once only, to rater 0: draws without rater 0 (share (4/5)^5 = 33 %) are not connected
    counts = np.zeros((5, 3, 3))
    counts[:, :, 0] = counts[:, :, 1] = 2
    counts[:, 1:, 0] = 0
    counts[0, 1, 0] = 1
    weights = rater_weights(np.zeros(5, np.int64), 2000, np.random.default_rng(6))
    fit = bradley_terry([[0, 1], [0, 2], [1, 2]], counts, items=3, weights=weights)
    assert not fit.prior_used
    assert fit.prior_share == pytest.approx(np.mean(weights[:, 0] == 0))
    assert fit.prior_share == pytest.approx(0.8**5, abs=0.04)
    assert np.all(np.isfinite(fit.rating_replicates))


def test_ties_connect_both_ways() -> None:
    # item 2 only ever tied, and only with item 1: a finite maximum, where the two are equal
    fit = bradley_terry([[0, 1], [1, 2]], [[5, 4, 2], [0, 0, 4]], items=3)
    assert not fit.prior_used
    assert fit.ratings[1] == pytest.approx(fit.ratings[2])


def test_winning_and_tying_without_a_loss_needs_the_prior() -> None:
    # with e^δ = 3 P₁/(5 e^{d/2}) the likelihood grows with d for ever, though ties connect the graph
    fit = bradley_terry([[0, 1]], [[5, 0, 3]], items=2)
    assert fit.prior_used
    third = 1 / 3  # pseudo-votes for each outcome: e^d = p₁/p₂, e^δ = p₃/√(p₁p₂)
    assert fit.ratings[0] - fit.ratings[1] == pytest.approx(math.log((5 + third) / third))
    assert fit.tie == pytest.approx(math.log((3 + third) / math.sqrt((5 + third) * third)))


def test_a_side_that_decides_all_needs_the_prior() -> None:
    # the first always wins: the win graph is connected, but γ has no finite maximum
    fit = bradley_terry([[0, 1], [1, 0]], [[9, 0, 0], [9, 0, 0]], items=2, side_effect=True)
    assert fit.prior_used
    assert fit.ratings == pytest.approx([0, 0], abs=1e-8)
    # each order has half of one pseudo-vote: (9 + .25)/.25 = 37
    assert fit.side == pytest.approx(math.log(37))


def test_nothing_but_ties_needs_the_prior() -> None:
    fit = bradley_terry([[0, 1]], [[0, 0, 9]], items=2)
    assert fit.prior_used
    assert fit.tie == pytest.approx(math.log((9 + 1 / 3) / (1 / 3)))


def test_separate_groups_are_named() -> None:
    with pytest.raises(StatisticsError, match=r"2 separate groups of item indices \{0, 2\}; \{1, 3\}"):
        bradley_terry([[0, 2], [1, 3]], [[1, 1, 0], [1, 1, 0]], items=4)
    # a pair without votes does not join
    with pytest.raises(StatisticsError, match=r"\{0, 2\}; \{1, 3\}"):
        bradley_terry([[0, 2], [1, 3], [0, 1]], [[1, 1, 0], [1, 1, 0], [0, 0, 0]], items=4)


def test_side_effect_needs_both_orders() -> None:
    with pytest.raises(StatisticsError, match="both orders"):
        bradley_terry([[0, 1], [0, 2]], [[3, 2, 0], [3, 2, 0]], items=3, side_effect=True)
    ring = bradley_terry([[0, 1], [1, 2], [2, 0]], [[3, 2, 0]] * 3, items=3, side_effect=True)
    assert ring.side == pytest.approx(math.log(1.5))  # a ring shown one way round identifies both


def test_estimates_carry_their_raters() -> None:
    rng = np.random.default_rng(7)
    pairs, counts = simulate(rng, rater_count=20)
    counts[5:, (pairs == 3).any(axis=1)] = 0  # only five raters saw item 3
    weights = rater_weights(np.zeros(20, np.int64), 500, rng)
    fit = bradley_terry(pairs, counts, items=4, weights=weights)
    for estimates in (fit.estimates(), fit.estimates(rule="percentile")):
        assert estimates.raters.tolist() == [20, 20, 20, 5]
        assert np.all((estimates.low < estimates.value) & (estimates.value < estimates.high))
        assert estimates.replicates == 500
    assert fit.estimates().answers is not None
    with pytest.raises(StatisticsError, match="without weights"):
        bradley_terry(pairs, counts, items=4).estimates()


def test_side_and_tie_carry_intervals() -> None:
    rng = np.random.default_rng(9)
    pairs, counts = simulate(rng, rater_count=40, side=0.3)
    weights = rater_weights(np.zeros(40, np.int64), 500, rng)
    fit = bradley_terry(pairs, counts, items=4, weights=weights, side_effect=True)
    side, tie = fit.side_estimate(), fit.tie_estimate()
    assert side.low < 0.3 < side.high
    assert tie.low < tie.value < tie.high
    assert (side.raters, side.answers, side.replicates) == (40, counts.sum(), 500)
    with pytest.raises(StatisticsError, match="side effect was not fitted"):
        bradley_terry(pairs, counts, items=4, weights=weights).side_estimate()


def test_many_shapes_of_nonsense_are_refused() -> None:
    good = [[1, 1, 0]]
    with pytest.raises(StatisticsError, match=r"pairs must be integers"):
        bradley_terry([[0.0, 1.0]], good, items=2)
    with pytest.raises(StatisticsError, match="counts must be"):
        bradley_terry([[0, 1]], [[1, 1]], items=2)
    with pytest.raises(StatisticsError, match="two different items"):
        bradley_terry([[1, 1]], good, items=2)
    with pytest.raises(StatisticsError, match="at least one vote"):
        bradley_terry([[0, 1]], [[0, 0, 0]], items=2)
    with pytest.raises(StatisticsError, match="found totals"):
        bradley_terry([[0, 1]], good, items=2, weights=np.ones((3, 1), np.int64))
    with pytest.raises(StatisticsError, match=r"1 raters"):
        bradley_terry([[0, 1]], [good], items=2, weights=np.ones((3, 2), np.int64))


def test_blocks_of_replicates_do_not_change_the_fit() -> None:
    # 60 items make blocks of under 1,000 replicates
    rng = np.random.default_rng(8)
    pairs = np.array(list(combinations(range(60), 2)))
    counts = rng.multinomial(2, [0.5, 0.4, 0.1], size=(10, len(pairs)))
    weights = rater_weights(np.zeros(10, np.int64), 450, rng)
    fit = bradley_terry(pairs, counts, items=60, weights=weights)
    last = bradley_terry(pairs, np.tensordot(weights[-1], counts, 1), items=60)
    np.testing.assert_allclose(fit.rating_replicates[-1], last.ratings, atol=1e-7)


def test_one_rater_has_ratings_but_no_intervals() -> None:
    weights = rater_weights(np.zeros(1, np.int64), 30, np.random.default_rng(10))
    fit = bradley_terry([[0, 1]], [[[30, 10, 0]]], items=2, weights=weights)
    assert fit.ratings[0] == pytest.approx(math.log(3) / 2)
    assert np.isnan(fit.standard_errors).all()
    estimates = fit.estimates()
    assert np.isnan([estimates.low, estimates.high]).all()
