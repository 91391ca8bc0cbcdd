from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from beholder.errors import StatisticsError
from beholder.stats.agreement.fleiss import fleiss_kappa
from beholder.stats.agreement.gwet import Credit, ac_of_counts, gwet_ac, pair_credits
from beholder.stats.intervals.bootstrap import rater_weights

CREDITS: tuple[Credit, ...] = ("identity", "linear", "quadratic", "ordinal", "radical", "ratio")
GAP = np.nan
FOUR_RATERS = np.array(  # Krippendorff's twelve units by four raters, the example of Gwet's package irrCAC
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, GAP, GAP, GAP],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, GAP, 3],
        [GAP, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, GAP],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, GAP],
    ]
)


def ones(raters: int) -> NDArray[np.int64]:
    return np.ones((1, raters), np.int64)


def long(matrix: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    who, what = np.nonzero(~np.isnan(matrix))
    return who, what, matrix[who, what]


def test_by_hand() -> None:
    # items 3 0 | 2 1 | 0 3: pₐ = (1 + 1/3 + 1)/3 = 7/9; π = 5/9, 4/9; pₑ = 2 · 20/81 = 40/81; AC1 = 23/41
    assert ac_of_counts([[3, 0], [2, 1], [0, 3]]) == pytest.approx(23 / 41)
    # three categories 1 2 3 with linear credit ½ for neighbours, two raters: items (1,1) (1,2) (2,3) (1,3)
    # pₐ = (1 + ½ + ½ + 0)/4 = ½; π = (½, ¼, ¼); Σ π(1 − π) = ¼ + 3/16 + 3/16 = 5/8; T = 3 + 4 · ½ = 5
    # pₑ = 5/6 · 5/8 = 25/48; AC2 = (24 − 25)/(48 − 25) = −1/23
    counts = [[2, 0, 0], [1, 1, 0], [0, 1, 1], [1, 0, 1]]
    assert ac_of_counts(counts, [1, 2, 3], credit="linear") == pytest.approx(-1 / 23)


def test_published_examples() -> None:
    # irrCAC prints AC1 = .77544 and Fleiss' κ = .76117 for its four raters; pₐ = 9/11, pₑ = .1903212
    assert gwet_ac(*long(FOUR_RATERS), ones(4)).value == pytest.approx(0.77544, abs=5e-6)
    assert fleiss_kappa(*long(FOUR_RATERS), ones(4)).value == pytest.approx(0.76117, abs=5e-6)
    # and for its two abstractors of pregnancies AC1 = .8493305
    confusion = [[13, 0, 0], [0, 20, 7], [0, 4, 56]]
    rows = [np.eye(3)[a] + np.eye(3)[b] for a in range(3) for b in range(3) for _ in range(confusion[a][b])]
    assert ac_of_counts(rows) == pytest.approx(0.8493305, abs=5e-8)


def test_published_credits() -> None:
    # for the categories 1 2 3, as printed by irrCAC
    for credit, near in (("linear", 0.5), ("quadratic", 0.75), ("ordinal", 2 / 3), ("radical", 0.2928932)):
        expected = [[1, near, 0], [near, 1, near], [0, near, 1]]
        np.testing.assert_allclose(pair_credits([1, 2, 3], credit), expected, atol=5e-8)  # type: ignore[arg-type]
    # ratio by hand: (1/3)², (2/4)², (1/5)² over (2/4)²
    expected = [[1, 1 - 4 / 9, 0], [1 - 4 / 9, 1, 1 - 4 / 25], [0, 1 - 4 / 25, 1]]
    np.testing.assert_allclose(pair_credits([1, 2, 3], "ratio"), expected)
    # the order of the given values does not matter to the ordinal one
    np.testing.assert_allclose(
        pair_credits([3, 1, 2], "ordinal"), [[1, 0, 2 / 3], [0, 1, 2 / 3], [2 / 3, 2 / 3, 1]]
    )


@pytest.mark.parametrize("credit", CREDITS)
def test_replicates_follow_the_stated_rule(credit: Credit) -> None:
    """A vectorised draw against a plain loop over pairs of raters."""
    rng = np.random.default_rng(5)
    matrix = np.where(rng.random((6, 9)) < 0.5, rng.integers(1, 5, 9), rng.integers(1, 5, (6, 9))).astype(float)
    matrix[rng.random((6, 9)) < 0.3] = np.nan
    weights = rater_weights(np.zeros(6, np.int64), 1, rng)
    table = pair_credits([1, 2, 3, 4], credit)
    agree, proportions = [], []
    for column in matrix.T:
        there = [i for i in range(6) if not np.isnan(column[i]) and weights[0, i] > 0]
        w, v = weights[0, there].astype(float), column[there].astype(int) - 1
        if there:
            proportions.append(np.bincount(v, w, 4) / w.sum())
        pairs = [(w[i] * w[j], table[v[i], v[j]]) for i, j in permutations(range(len(there)), 2)]
        if pairs:
            agree.append(sum(a * b for a, b in pairs) / sum(a for a, _ in pairs))
    proportion = np.mean(proportions, axis=0)
    chance = table.sum() / 12 * (proportion * (1 - proportion)).sum()
    expected = (np.mean(agree) - chance) / (1 - chance)
    ac = gwet_ac(*long(matrix), weights, categories=[1, 2, 3, 4], credit=credit)
    assert ac.low == ac.high == pytest.approx(expected)


def test_the_number_of_categories_counts() -> None:
    values = [0, 0, 1, 1, 0, 1]
    two = gwet_ac([0, 1] * 3, [0, 0, 1, 1, 2, 2], values, ones(2))
    three = gwet_ac([0, 1] * 3, [0, 0, 1, 1, 2, 2], values, ones(2), categories=[0, 1, 2])
    assert two.value == pytest.approx(1 / 3)  # (2/3 − ½)/(1 − ½)
    assert three.value == pytest.approx(5 / 9)  # pₑ = ½ · ½ = ¼
    assert ac_of_counts([[2, 0, 0], [0, 2, 0], [1, 1, 0]]) == pytest.approx(5 / 9)


def test_high_agreement_is_not_a_paradox() -> None:
    # nearly all items of one kind, 95 % agreement: κ collapses, AC1 does not
    counts = [[2, 0]] * 95 + [[1, 1]] * 5
    assert ac_of_counts(counts) > 0.94
    who, what = np.tile([0, 1], 100), np.repeat(np.arange(100), 2)
    values = np.concatenate([np.zeros(190), np.tile([0, 1], 5)])
    assert fleiss_kappa(who, what, values, ones(2)).value < 0


@given(st.integers(0, 2**32 - 1), st.sampled_from(CREDITS))
@settings(max_examples=25, deadline=None)
def test_laws(seed: int, credit: Credit) -> None:
    rng = np.random.default_rng(seed)
    matrix = np.where(rng.random((6, 20)) < 0.4, rng.integers(0, 4, 20), rng.integers(0, 4, (6, 20))).astype(float)
    matrix[rng.random((6, 20)) < 0.3] = np.nan
    matrix[:2, 0] = 1
    who, what, values = long(matrix)
    four = [0, 1, 2, 3]
    ac = gwet_ac(who, what, values, ones(6), categories=four, credit=credit).value
    assert ac <= 1
    rows = rng.permutation(len(who))
    moved = gwet_ac(
        rng.permutation(6)[who][rows], what[rows], values[rows], ones(6), categories=four, credit=credit
    ).value
    assert moved == pytest.approx(ac)
    agreed = gwet_ac(who, what, what % 4, ones(6), categories=four, credit=credit).value
    assert agreed == pytest.approx(1)
    counts = np.stack([(matrix == v).sum(axis=0) for v in four], axis=1)
    assert ac_of_counts(counts, four, credit=credit) == pytest.approx(ac)


def test_what_is_not_defined() -> None:
    same = gwet_ac([0, 1, 2] * 2, [0, 0, 0, 1, 1, 1], [1] * 6, ones(3), categories=[0, 1])
    assert same.value == 1  # everyone agrees, on one value: κ and α are undefined there, AC1 is not
    with pytest.raises(StatisticsError, match="name all of them"):
        gwet_ac([0, 1], [0, 0], [1, 1], ones(2))
    with pytest.raises(StatisticsError, match="two answers"):
        gwet_ac([0, 1], [0, 1], [1, 2], ones(2))  # nothing overlaps
    with pytest.raises(StatisticsError, match=r"among the categories \[0.0, 1.0\]; found \[2.0\]"):
        gwet_ac([0, 1], [0, 0], [1, 2], ones(2), categories=[0, 1])
    with pytest.raises(StatisticsError, match="value for each of 2"):
        ac_of_counts([[1, 1]], [1, 2, 3])
    with pytest.raises(StatisticsError, match="at least 0; found -1"):
        ac_of_counts([[1, 1]], [-1, 2], credit="ratio")
    two = gwet_ac(
        [0, 1, 0, 1], [0, 0, 1, 1], [0, 0, 1, 0], rater_weights(np.zeros(2, int), 50, np.random.default_rng(0))
    )
    assert np.isnan([two.low, two.high]).all()  # half of the replicates have one rater twice
    assert two.value == pytest.approx((0.5 - 0.375) / 0.625)
