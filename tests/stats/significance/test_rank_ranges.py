import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from beholder.errors import StatisticsError
from beholder.stats.intervals.clustered_t import ratio_influence
from beholder.stats.significance.rank_ranges import rank_ranges
from beholder.stats.significance.separation import separate


def test_by_hand() -> None:
    # four cells; 0 beats 2 and 3, 1 beats 3: nobody is above 0 and 1, two above 3, one above 2
    first, second = np.triu_indices(4, 1)  # 01 02 03 12 13 23
    advantage = [0.1, 2.0, 3.0, 0.5, 2.5, 0.7]
    separated = [False, True, True, False, True, False]
    best, worst = rank_ranges(first, second, advantage, separated, 4)
    assert best.tolist() == [1, 1, 2, 3]
    assert worst.tolist() == [2, 3, 4, 4]
    # the same, each pair the other way round
    best, worst = rank_ranges(second, first, np.negative(advantage), separated, 4)
    assert (best.tolist(), worst.tolist()) == ([1, 1, 2, 3], [2, 3, 4, 4])


def test_one_cell_and_no_separations() -> None:
    none = np.zeros(0)
    assert [ends.tolist() for ends in rank_ranges(none, none, none, none, 1)] == [[1], [1]]
    best, worst = rank_ranges([0], [1], [0.4], [False], 2)
    assert (best.tolist(), worst.tolist()) == ([1, 1], [2, 2])


def ordered(rng: np.random.Generator, cells: int) -> tuple[NDArray[np.int64], ...]:
    first, second = np.triu_indices(cells, 1)
    return first.astype(np.int64), second.astype(np.int64), rng.permutation(cells)


@given(st.integers(2, 8), st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None)
def test_laws(cells: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    first, second, place = ordered(rng, cells)
    advantage = (place[second] - place[first]).astype(np.float64)  # a lower place is better
    some = rng.random(len(first)) < 0.4
    best, worst = rank_ranges(first, second, advantage, some, cells)
    assert np.all((best <= place + 1) & (place + 1 <= worst))  # true separations never shut the truth out
    more = some | (rng.random(len(first)) < 0.4)
    tighter = rank_ranges(first, second, advantage, more, cells)
    assert np.all((tighter[0] >= best) & (tighter[1] <= worst))  # monotone: more separated, narrower ranges
    everything = rank_ranges(first, second, advantage, np.ones(len(first)), cells)
    assert np.array_equal(everything[0], place + 1)
    assert np.array_equal(everything[1], place + 1)
    # each separated pair takes one rank from either end: the ranks given away add up
    assert (best - 1).sum() == (cells - worst).sum() == some.sum()


def test_all_true_ranks_lie_in_their_ranges_together() -> None:
    # 200 studies of five generators, two of them equal in truth (ranks 2–3 both hold); at least 95 % hold all
    rng = np.random.default_rng(0)
    truth = np.array([0.50, 0.44, 0.44, 0.40, 0.30])
    lowest, highest = np.array([1, 2, 2, 4, 5]), np.array([1, 3, 3, 4, 5])
    held, separated = 0, 0
    for _ in range(200):
        scores = rng.normal(truth, 0.1, (25, 5)) + rng.normal(0, 0.1, (25, 1))
        separation = separate(ratio_influence(scores, np.ones_like(scores)))
        # an order of the equal two that agrees with the ranges exists if neither is put above the other
        held += bool(np.all((separation.rank_low <= highest) & (separation.rank_high >= lowest)))
        separated += int(separation.separated.sum())
    assert held / 200 >= 0.93
    assert separated / 200 > 4  # and not by separating nothing


def test_nonsense_is_refused() -> None:
    with pytest.raises(StatisticsError, match="one length"):
        rank_ranges([0], [1], [0.1, 0.2], [True], 2)
    with pytest.raises(StatisticsError, match=r"0…1"):
        rank_ranges([0], [2], [0.1], [True], 2)
