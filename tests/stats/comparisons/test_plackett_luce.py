import math
from itertools import permutations

import choix
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import optimize

from beholder.errors import StatisticsError
from beholder.stats.comparisons.bradley_terry import bradley_terry
from beholder.stats.comparisons.plackett_luce import TIE_RULE, plackett_luce
from beholder.stats.comparisons.vote_table import tally_votes
from beholder.stats.intervals.bootstrap import rater_weights

TRUTH = np.array([0.9, 0.4, 0.0, -0.5, -0.8])


def simulate(
    rng: np.random.Generator, raters: int = 30, each: int = 8, longest: int = 5, taste: float = 0.0
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return raters and rankings of 2 … ``longest`` items, by Gumbel noise, which is Plackett–Luce."""
    who = np.repeat(np.arange(raters), each)
    own = TRUTH + rng.normal(0, taste, (raters, 5))
    noisy = own[who] + rng.gumbel(size=(len(who), 5))
    in_set = np.argsort(rng.random((len(who), 5)), axis=1) < rng.integers(2, longest + 1, len(who))[:, None]
    order = np.argsort(np.where(in_set, -noisy, np.inf), axis=1)
    return who, np.where(np.arange(5) < in_set.sum(axis=1)[:, None], order, -1)


def as_tuples(rankings: NDArray[np.int64]) -> list[tuple[int, ...]]:
    return [tuple(int(item) for item in row if item >= 0) for row in rankings]


def test_choices_of_the_best_by_hand() -> None:
    # 6, 3 and 1 times put first of all three: e^θ is in the ratio 6 : 3 : 1
    rankings = [[0, 1, 2]] * 6 + [[1, 0, 2]] * 3 + [[2, 0, 1]]
    fit = plackett_luce(np.arange(10), rankings, items=3, placed=np.ones(10, np.int64))
    logs = np.log([6, 3, 1])
    assert fit.ratings == pytest.approx(logs - logs.mean())
    assert fit.choice_probabilities([0, 1, 2]) == pytest.approx([0.6, 0.3, 0.1])
    assert fit.log_likelihood == pytest.approx(6 * math.log(0.6) + 3 * math.log(0.3) + math.log(0.1))
    assert fit.answers.tolist() == [10, 10, 10]
    assert not fit.prior_used
    assert fit.tie_rule == TIE_RULE


def test_whole_rankings_by_hand() -> None:
    # every order of three items once: all alike, and each choice is by chance: 6 · log(1/3 · 1/2)
    fit = plackett_luce(np.arange(6), list(permutations(range(3))), items=3)
    assert fit.ratings == pytest.approx(np.zeros(3), abs=1e-12)
    assert fit.log_likelihood == pytest.approx(6 * math.log(1 / 6))
    assert fit.win_probability(0, [1, 2]) == pytest.approx([0.5, 0.5])


def test_against_choix() -> None:
    _, rankings = simulate(np.random.default_rng(0), raters=10, each=6)
    fit = plackett_luce(np.arange(len(rankings)), rankings, items=5)
    theirs = choix.ilsr_rankings(5, as_tuples(rankings), max_iter=1000, tol=1e-13)
    np.testing.assert_allclose(fit.ratings, theirs - theirs.mean(), atol=1e-9)
    top = [(row[0], row[1:]) for row in as_tuples(rankings)]
    first = plackett_luce(np.arange(len(rankings)), rankings, items=5, placed=np.ones(len(rankings), np.int64))
    theirs = choix.ilsr_top1(5, top, max_iter=1000, tol=1e-13)
    np.testing.assert_allclose(first.ratings, theirs - theirs.mean(), atol=1e-9)


def test_partly_ordered_rankings_against_scipy() -> None:
    rng = np.random.default_rng(1)
    who, rankings = simulate(rng, raters=10)
    size = (rankings >= 0).sum(axis=1)
    placed = np.minimum(rng.integers(1, 4, len(who)), size)

    def loss(free: NDArray[np.float64]) -> float:
        theta = np.append(free, -free.sum())
        rows = zip(as_tuples(rankings), placed, strict=True)
        terms = [
            theta[row[k]] - np.logaddexp.reduce(theta[[*row[k:]]]) for row, placed in rows for k in range(placed)
        ]
        return -float(np.sum(terms))

    best = optimize.minimize(loss, np.zeros(4), method="BFGS", options={"gtol": 1e-5})
    fit = plackett_luce(who, rankings, items=5, placed=placed)
    np.testing.assert_allclose(fit.ratings[:4], best.x, atol=1e-5)
    assert fit.log_likelihood == pytest.approx(-best.fun, abs=1e-7)


@pytest.mark.parametrize("unbeaten", [False, True])
def test_two_items_a_ranking_are_bradley_terry(unbeaten: bool) -> None:
    rng = np.random.default_rng(2)
    who, rankings = simulate(rng, longest=2)
    duels = rankings[:, :2]
    if unbeaten:
        duels = np.where((duels == 0).any(axis=1)[:, None], np.sort(duels, axis=1), duels)  # item 0 always wins
    weights = rater_weights(np.zeros(30, np.int64), 20, rng)
    fit = plackett_luce(who, duels, items=5, weights=weights)
    pairs, counts = tally_votes(who, duels[:, 0], duels[:, 1], np.zeros(len(who), np.int64))
    other = bradley_terry(pairs, counts, items=5, weights=weights)
    np.testing.assert_allclose(fit.ratings, other.ratings, atol=1e-9)
    np.testing.assert_allclose(fit.rating_replicates, other.rating_replicates, atol=1e-8)
    np.testing.assert_allclose(fit.covariance, other.covariance, atol=1e-9)
    np.testing.assert_allclose(fit.influence, other.influence, atol=1e-9)
    assert fit.log_likelihood == pytest.approx(other.log_likelihood)
    assert (fit.prior_used, fit.prior_share) == (other.prior_used, other.prior_share)
    assert fit.prior_used == unbeaten
    assert fit.rater_counts.tolist() == other.rater_counts.tolist()


def test_each_draw_is_the_fit_to_its_own_rankings() -> None:
    rng = np.random.default_rng(3)
    who, rankings = simulate(rng, raters=12, each=4)
    weights = rater_weights(np.zeros(12, np.int64), 12, rng)
    fit = plackett_luce(who, rankings, items=5, weights=weights)
    for replicate in range(12):
        rows = np.repeat(np.arange(len(who)), weights[replicate][who])
        alone = plackett_luce(who[rows], rankings[rows], items=5)
        np.testing.assert_allclose(fit.rating_replicates[replicate], alone.ratings, atol=1e-8)


def test_sandwich_agrees_with_bootstrap() -> None:
    rng = np.random.default_rng(4)
    who, rankings = simulate(rng, raters=150, taste=0.8)
    weights = rater_weights(np.zeros(150, np.int64), 1500, rng)
    fit = plackett_luce(who, rankings, items=5, weights=weights)
    np.testing.assert_allclose(fit.rating_replicates.std(axis=0), fit.standard_errors, rtol=0.08)
    assert fit.covariance_kind == "sandwich over raters"
    estimates = fit.estimates()
    assert np.all((estimates.low < estimates.value) & (estimates.value < estimates.high))


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=15, deadline=None)
def test_laws(seed: int) -> None:
    rng = np.random.default_rng(seed)
    who, rankings = simulate(rng, raters=10)
    fit = plackett_luce(who, rankings, items=5)
    assert fit.ratings.sum() == pytest.approx(0, abs=1e-9)
    if not fit.prior_used:
        assert fit.influence.sum(axis=0) == pytest.approx(np.zeros(5), abs=1e-7)
    names, raters = rng.permutation(5), rng.permutation(10)
    renamed = np.where(rankings >= 0, names[rankings], -1)
    again = plackett_luce(raters[who], renamed, items=5)
    np.testing.assert_allclose(again.ratings[names], fit.ratings, atol=1e-8)
    wider = np.pad(rankings, ((0, 0), (0, 2)), constant_values=-1)
    np.testing.assert_allclose(plackett_luce(who, wider, items=5).ratings, fit.ratings, atol=1e-9)


def test_one_rater_has_ratings_but_no_errors() -> None:
    fit = plackett_luce([0, 0], [[0, 1, 2], [2, 1, 0]], items=3)
    assert np.all(np.isfinite(fit.ratings))
    assert np.isnan(fit.standard_errors).all()


def test_unbeaten_needs_the_prior() -> None:
    # 0 is always first of two: with one vote shared, odds (20 + .5)/.5 = 41
    fit = plackett_luce(np.zeros(20, np.int64), [[0, 1]] * 20, items=2)
    assert fit.prior_used
    assert fit.ratings[0] - fit.ratings[1] == pytest.approx(math.log(41))


def test_nonsense_is_refused() -> None:
    good = [[0, 1, 2], [2, 1, 0]]
    with pytest.raises(StatisticsError, match=r"2 separate groups of item indices \{0, 2\}; \{1, 3\}"):
        plackett_luce([0, 0], [[0, 2], [1, 3]], items=4)
    with pytest.raises(StatisticsError, match="at least one"):
        plackett_luce(np.zeros(0, np.int64), np.zeros((0, 3), np.int64), items=3)
    with pytest.raises(StatisticsError, match="one index a ranking"):
        plackett_luce([0], good, items=3)
    with pytest.raises(StatisticsError, match="at least two items in all"):
        plackett_luce([0, 0], good, items=2)
    with pytest.raises(StatisticsError, match="at least two items, and −1"):
        plackett_luce([0, 0], [[0, -1, 2], [2, 1, 0]], items=3)
    with pytest.raises(StatisticsError, match="at least two items, and −1"):
        plackett_luce([0, 0], [[0, -1, -1], [2, 1, 0]], items=3)
    with pytest.raises(StatisticsError, match="once only"):
        plackett_luce([0, 0], [[0, 1, 0], [2, 1, 0]], items=3)
    with pytest.raises(StatisticsError, match="placed"):
        plackett_luce([0, 0], good, items=3, placed=[0, 1])
    with pytest.raises(StatisticsError, match="1 raters"):
        plackett_luce([0, 0], good, items=3, weights=np.ones((3, 2), np.int64))
