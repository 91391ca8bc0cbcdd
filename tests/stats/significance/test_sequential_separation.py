import numpy as np
import pytest
from numpy.typing import NDArray

from beholder.errors import StatisticsError
from beholder.stats.intervals.confidence_sequence import difference_sequence, log_capital
from beholder.stats.significance.sequential_separation import sequential_separation


def between(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """From (people, cells) of different people each to one row a person, taking turns."""
    people, cells = scores.shape
    table = np.full((people * cells, cells), np.nan)
    table[np.arange(people * cells), np.tile(np.arange(cells), people)] = scores.ravel()
    return table


def test_by_hand() -> None:
    # cell 0 always 1, cell 1 always 0: x = 1 on the unit scale, m = ½ and a bet of 1.5, where bets are cut, give
    # ½ (1.75ⁿ + .25ⁿ): 1, 1.56, 2.69, 4.69, 8.21, 14.4, 25.1: p ≤ .05 after seven people
    found = sequential_separation(np.tile([1.0, 0.0], (12, 1)), within=True)
    assert found.after.tolist() == [7]
    assert found.difference.tolist() == [1]
    assert found.separated.tolist() == [True]
    # different people: the seventh pair is complete with the fourteenth row
    apart = sequential_separation(between(np.tile([1.0, 0.0], (12, 1))), within=False)
    assert (apart.after.tolist(), apart.people.tolist()) == ([14], [12])


def test_it_agrees_with_the_confidence_sequence() -> None:
    # one pair: separated when 0 leaves the sequence of the difference
    rng = np.random.default_rng(0)
    scores = np.clip(rng.normal([0.6, 0.45], 0.15, (80, 2)), 0, 1)
    found = sequential_separation(scores, within=True)
    sequence = difference_sequence(scores[:, 0], scores[:, 1], within=True)
    left = np.flatnonzero(sequence.low > 0)
    assert abs(found.after[0] - (left[0] + 1)) <= 1  # the sequence's ends are on a grid
    capital = log_capital(0.5 + (scores[:, 0] - scores[:, 1]) / 2, np.array([0.5]))
    assert found.p_value[0] == pytest.approx(min(1.0, np.exp(-capital.max())))


def test_laws() -> None:
    rng = np.random.default_rng(1)
    scores = np.clip(rng.normal([0.2, 0.5, 0.55, 0.9], 0.15, (120, 4)), 0, 1)
    found = sequential_separation(scores, within=True)
    assert found.after[0] > 0
    assert np.all(found.p_holm >= found.p_value)
    np.testing.assert_array_equal(found.separated, found.after > 0)
    for people in (20, 60, 100):  # a look on the way says the same, and what is separated stays so
        earlier = sequential_separation(scores[:people], within=True)
        known = (found.after > 0) & (found.after <= people)
        np.testing.assert_array_equal(earlier.separated, known)
    turned = sequential_separation(1 - scores, within=True)
    np.testing.assert_allclose(turned.p_value, found.p_value)
    scaled = sequential_separation(1 + 4 * scores, within=True, bounds=(1, 5))
    np.testing.assert_allclose(scaled.p_value, found.p_value)


@pytest.mark.parametrize("within", [True, False])
def test_false_separations_under_continuous_looking(within: bool) -> None:
    # five equal generators, ten pairs, a look after every person: any false separation ever in at most 5 % of
    # studies
    rng = np.random.default_rng(2)
    wrong = 0
    for _ in range(100):
        habit = rng.normal(0, 0.1, (60, 1)) if within else 0.0
        scores = np.clip(rng.normal(0.4, 0.15, (60, 5)) + habit, 0, 1)
        wrong += bool(sequential_separation(scores if within else between(scores), within=within).separated.any())
    assert wrong <= 5


def test_degenerate() -> None:
    nobody = sequential_separation([[0.5, np.nan], [0.4, np.nan]], within=False)
    assert (nobody.p_value[0], nobody.people[0], nobody.after[0]) == (1, 0, -1)
    assert np.isnan(nobody.difference[0])
    one = sequential_separation([[0.9, 0.1]], within=True)
    assert one.p_value[0] == 1
    same = sequential_separation(np.full((50, 2), 0.3), within=True)
    assert not same.separated.any()
    with pytest.raises(StatisticsError, match="two cells"):
        sequential_separation([[0.5]], within=True)
    with pytest.raises(StatisticsError, match=r"within 0\.0 … 1\.0"):
        sequential_separation([[0.5, 3.0]], within=True)
