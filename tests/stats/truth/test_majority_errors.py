"""How likely a majority vote is wrong."""

import sys
from collections.abc import Callable
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.special import expit

from beholder.errors import StatisticsError
from beholder.stats.truth.majority_errors import majority_errors
from beholder.stats.truth.one_coin import one_coin

Votes = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]
"""Raters, items, votes; and whether the population prefers the first, for each item."""

SEEDS = range(1000, 1020)
"""Not those by which the settings of the model were chosen (0 to 19)."""


def simulate(
    rng: np.random.Generator,
    strength: NDArray[np.float64],
    reliability: NDArray[np.float64],
    per_item: int,
    ties: float = 0.0,
) -> Votes:
    """Votes of ``per_item`` raters on each item, each with probability ½ + a s for the first."""
    raters = np.concatenate([rng.choice(len(reliability), per_item, replace=False) for _ in strength])
    items = np.repeat(np.arange(len(strength)), per_item)
    first = rng.random(len(items)) < 0.5 + reliability[raters] * strength[items]
    votes = np.where(rng.random(len(items)) < ties, 0, np.where(first, 1, -1))
    return raters, items, votes, strength > 0


def two_kinds(rng: np.random.Generator) -> Votes:
    """Pairs with a clear winner; one half of the raters is right in 95 % of them, the other in 55 %."""
    strength = rng.choice([-0.5, 0.5], 300)
    return simulate(rng, strength, rng.choice([0.9, 0.1], 20), 5)


def with_ties(rng: np.random.Generator) -> Votes:
    """The same with a quarter of ties."""
    return simulate(rng, rng.choice([-0.5, 0.5], 300), rng.choice([0.9, 0.1], 20), 5, ties=0.25)


def close_pairs(rng: np.random.Generator) -> Votes:
    """Pairs of all strengths, and raters of whom four in ten guess."""
    strength = expit(rng.normal(0, 1.5, 400)) - 0.5
    return simulate(rng, strength, rng.choice([1.0, 0.0], 50, p=[0.6, 0.4]), 8)


def all_kinds(rng: np.random.Generator) -> Votes:
    """Raters of all reliabilities."""
    return simulate(rng, rng.choice([-0.45, 0.45], 300), rng.beta(1.5, 1.5, 20), 5)


def doubts(world: Callable[[np.random.Generator], Votes]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """The probability that each majority is wrong, and whether it is, over all seeds."""
    probability, wrong = [], []
    for seed in SEEDS:
        raters, items, votes, first = world(np.random.default_rng(seed))
        fit = majority_errors(raters, items, votes)
        decided = fit.majority != 0
        probability.append(fit.wrong[decided])
        wrong.append(((fit.majority > 0) != first)[decided])
    return np.concatenate(probability), np.concatenate(wrong)


def test_of_labels_that_are_wrong_with_a_probability_of_90_percent_about_that_many_are() -> None:
    parts = [doubts(world) for world in (two_kinds, with_ties, close_pairs, all_kinds)]
    probability = np.concatenate([part[0] for part in parts])
    wrong = np.concatenate([part[1] for part in parts])
    near = (probability >= 0.85) & (probability < 0.95)
    assert near.sum() > 300
    assert 0.85 <= wrong[near].mean() <= 0.95
    for low in np.arange(0, 0.85, 0.1):  # and so for every other probability
        near = (probability >= low) & (probability < low + 0.1)
        assert near.sum() > 100
        assert wrong[near].mean() == pytest.approx(probability[near].mean(), abs=0.07)


def test_a_point_estimate_of_reliability_is_overconfident() -> None:
    # What it replaces: of the labels that the one-coin model calls right with more than 85 %, far more are wrong.
    probability, wrong = [], []
    for seed in SEEDS:
        raters, items, votes, first = close_pairs(np.random.default_rng(seed))
        posterior = one_coin(raters, items, (votes < 0).astype(np.int64), classes=2).posterior[:, 0]
        majority = np.sign(np.bincount(items, votes))
        decided = majority != 0
        probability.append(np.where(majority > 0, 1 - posterior, posterior)[decided])
        wrong.append(((majority > 0) != first)[decided])
    doubt, is_wrong = np.concatenate(probability), np.concatenate(wrong)
    sure = doubt < 0.05
    assert is_wrong[sure].mean() > 2 * doubt[sure].mean()


def test_equal_votes_have_no_majority_and_are_undecided() -> None:
    # Six raters who agree on 30 pairs, and one pair on which they are divided three to three.
    raters, items = np.tile(np.arange(6), 31), np.repeat(np.arange(31), 6)
    votes = np.ones(186, np.int64)
    votes[-3:] = -1
    fit = majority_errors(raters, items, votes)
    assert fit.majority[-1] == 0
    assert np.isnan(fit.wrong[-1])
    assert fit.first[-1] == pytest.approx(0.5, abs=1e-6)
    assert (fit.wrong[:-1] < 0.02).all()


def test_one_pair_by_hand() -> None:
    # One vote and a uniform prior. By symmetry P(s > 0 | v = +1) = E[½ + E(a)|s|] = ½ + E(a) E|s|. Before the
    # first turn all reliabilities are .6, and |s| is uniform on 1/24, …, 12/24 with mean 13/48, so that this is
    # ½ + .6 × 13/48 = .6625.
    fit = majority_errors([0], [0], [1], iterations=1)
    assert fit.first[0] == pytest.approx(0.6625)
    assert fit.wrong[0] == pytest.approx(0.3375)


@given(st.integers(0, 2**32 - 1))
def test_the_order_of_a_pair_means_nothing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    raters, items, votes, _ = simulate(rng, rng.uniform(-0.5, 0.5, 12), rng.random(5), 3, ties=0.2)
    here = majority_errors(raters, items, votes, iterations=10)
    swapped = majority_errors(raters, items, -votes, iterations=10)
    np.testing.assert_allclose(here.first, 1 - swapped.first, atol=1e-9)
    np.testing.assert_allclose(here.reliability, swapped.reliability, atol=1e-9)


def test_items_and_raters_without_answers() -> None:
    fit = majority_errors([0, 2], [0, 2], [1, -1])
    assert np.isnan(fit.first[1])
    assert np.isnan(fit.reliability[1])
    only_ties = majority_errors([0, 1], [0, 0], [0, 0])
    assert (only_ties.majority[0], only_ties.first[0]) == (0, pytest.approx(0.5))


def test_other_votes_are_refused() -> None:
    with pytest.raises(StatisticsError, match="−1, 0 or 1"):
        majority_errors([0], [0], [2])


@given(st.integers(0, 2**32 - 1), st.sampled_from([1, 7, 40]))
def test_how_many_votes_are_held_at_a_time_does_not_matter(seed: int, at_once: int) -> None:
    rng = np.random.default_rng(seed)
    raters, items, votes, _ = simulate(rng, rng.uniform(-0.5, 0.5, 30), rng.random(8), 3, ties=0.2)
    raters, items = raters + 2 * (raters > 4), items + 3 * (items > 11)  # some have no votes
    together = majority_errors(raters, items, votes, iterations=10)
    with patch.object(sys.modules[majority_errors.__module__], "AT_ONCE", at_once):
        apart = majority_errors(raters, items, votes, iterations=10)
    assert apart.iterations == together.iterations
    np.testing.assert_allclose(apart.first, together.first, atol=1e-12)
    np.testing.assert_allclose(apart.reliability, together.reliability, atol=1e-12)


def test_in_any_order_of_the_votes() -> None:
    rng = np.random.default_rng(0)
    raters, items, votes, _ = with_ties(rng)
    shuffle = rng.permutation(len(votes))
    here, there = (
        majority_errors(raters[order], items[order], votes[order]) for order in (np.arange(len(votes)), shuffle)
    )
    np.testing.assert_allclose(here.first, there.first, atol=1e-12)
    np.testing.assert_allclose(here.reliability, there.reliability, atol=1e-12)
