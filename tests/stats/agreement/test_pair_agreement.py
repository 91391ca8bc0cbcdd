"""Sums over pairs of raters: by hand, and against the definition rater by rater."""

from itertools import permutations

import numpy as np
import pytest
from numpy.typing import NDArray

from beholder.stats.agreement.answers import LongAnswers, long_answers
from beholder.stats.agreement.gwet import pair_credits
from beholder.stats.agreement.pair_agreement import on_pairs

Numbers = NDArray[np.float64]


def test_by_hand() -> None:
    # rater 0 (weight 2) gives 0 and 1, rater 1 (weight 3) gives 0 and 0: item 4 agrees, item 7 does not: 1 of 2.
    # Proportions: item 4 all in 0; item 7 3/5 in 0 and 2/5 in 1: means 4/5 and 1/5
    answers = long_answers([0, 1, 0, 1], [4, 4, 7, 7], [0, 0, 1, 0])
    observed, proportions = sums(answers, np.array([0, 0, 1, 0]), np.eye(2), np.array([[2.0, 3.0]]))
    assert observed.tolist() == [0.5]
    assert proportions[:, 0] == pytest.approx([0.8, 0.2])


@pytest.mark.parametrize("credit", ["identity", "quadratic"])
def test_items_of_one_two_and_more_answers_follow_the_definition(credit: str) -> None:
    rng = np.random.default_rng(1)
    number = rng.integers(1, 5, 60)  # answers per item
    items = np.repeat(np.arange(60), number)
    raters = np.concatenate([rng.permutation(7)[:count] for count in number])
    category = rng.integers(0, 3, len(items))
    counted = pair_credits(np.arange(3.0), "identity" if credit == "identity" else "quadratic")
    weights = rng.integers(0, 4, (9, 7)).astype(np.float64)
    weights[0] = 1
    weights[1] = [0, 0, 0, 0, 0, 0, 2]  # a rater alone: no pair
    answers = long_answers(raters, items, category, rater_count=7)
    observed, proportions = sums(answers, category, counted, weights)
    for place, drawn in enumerate(weights):
        expected = defined(items, raters, category, counted, drawn)
        assert observed[place] == pytest.approx(expected[0], nan_ok=True)
        assert proportions[:, place] == pytest.approx(expected[1])
    assert np.isnan(observed[1])


def sums(
    answers: LongAnswers, category: NDArray[np.int64], credit: Numbers, weights: Numbers
) -> tuple[Numbers, Numbers]:
    """Return what the statistic is given: mean agreement and mean proportions."""
    parts: list[tuple[Numbers, Numbers]] = []

    def statistic(observed: Numbers, proportions: Numbers) -> Numbers:
        parts.append((observed, proportions))
        return observed

    on_pairs(answers, category, credit, statistic)(weights)
    return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts], axis=1)


def defined(
    items: NDArray[np.int64],
    raters: NDArray[np.int64],
    category: NDArray[np.int64],
    credit: Numbers,
    weights: Numbers,
) -> tuple[float, list[float]]:
    """Return the two means, from loops over items and pairs of raters."""
    agreements, proportions = [], []
    for item in np.unique(items):
        rows = np.flatnonzero((items == item) & (weights[raters] > 0))
        if not len(rows):
            continue
        weight = weights[raters[rows]]
        proportions.append(np.bincount(category[rows], weight, 3) / weight.sum())
        pairs = list(permutations(rows.tolist(), 2))
        if pairs:
            products = [weights[raters[a]] * weights[raters[b]] for a, b in pairs]
            counted = [credit[category[a], category[b]] for a, b in pairs]
            agreements.append(np.dot(products, counted) / np.sum(products))
    return float(np.mean(agreements)) if agreements else float(np.nan), np.mean(proportions, axis=0).tolist()
