import numpy as np
import pytest
from numpy.typing import NDArray

from beholder.errors import StatisticsError
from beholder.stats.intervals.confidence_sequence import difference_sequence, log_capital
from beholder.stats.significance.sequential_separation import sequential_separation


def between(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """From (raters, cells) of different raters each to one row per rater, taking turns."""
    rater_count, cells = scores.shape
    table = np.full((rater_count * cells, cells), np.nan)
    table[np.arange(rater_count * cells), np.tile(np.arange(cells), rater_count)] = scores.ravel()
    return table


def test_by_hand() -> None:
    # cell 0 always 1, cell 1 always 0: x = 1 on the unit scale, m = ½ and a bet of 1.5, where bets are cut, give
    # ½ (1.75ⁿ + .25ⁿ): 1, 1.56, 2.69, 4.69, 8.21, 14.4, 25.1: p ≤ .05 after seven raters
    separation = sequential_separation(np.tile([1.0, 0.0], (12, 1)), within=True)
    assert separation.after.tolist() == [7]
    assert separation.difference.tolist() == [1]
    assert separation.separated.tolist() == [True]
    # different raters: the seventh pair is complete with the fourteenth row
    apart = sequential_separation(between(np.tile([1.0, 0.0], (12, 1))), within=False)
    assert (apart.after.tolist(), apart.raters.tolist()) == ([14], [12])


def test_it_agrees_with_the_confidence_sequence() -> None:
    # one pair: separated when 0 leaves the sequence of the difference
    rng = np.random.default_rng(0)
    scores = np.clip(rng.normal([0.6, 0.45], 0.15, (80, 2)), 0, 1)
    separation = sequential_separation(scores, within=True)
    sequence = difference_sequence(scores[:, 0], scores[:, 1], within=True)
    left = np.flatnonzero(sequence.low > 0)
    assert abs(separation.after[0] - (left[0] + 1)) <= 1  # the sequence's ends are on a grid
    capital = log_capital(0.5 + (scores[:, 0] - scores[:, 1]) / 2, np.array([0.5]))
    assert separation.p_value[0] == pytest.approx(min(1.0, np.exp(-capital.max())))


def test_laws() -> None:
    rng = np.random.default_rng(1)
    scores = np.clip(rng.normal([0.2, 0.5, 0.55, 0.9], 0.15, (120, 4)), 0, 1)
    separation = sequential_separation(scores, within=True)
    assert separation.after[0] > 0
    assert np.all(separation.p_holm >= separation.p_value)
    np.testing.assert_array_equal(separation.separated, separation.after > 0)
    for rater_count in (20, 60, 100):  # a look on the way says the same, and what is separated stays so
        earlier = sequential_separation(scores[:rater_count], within=True)
        decided = (separation.after > 0) & (separation.after <= rater_count)
        np.testing.assert_array_equal(earlier.separated, decided)
    turned = sequential_separation(1 - scores, within=True)
    np.testing.assert_allclose(turned.p_value, separation.p_value)
    scaled = sequential_separation(1 + 4 * scores, within=True, bounds=(1, 5))
    np.testing.assert_allclose(scaled.p_value, separation.p_value)


@pytest.mark.parametrize("within", [True, False])
def test_false_separations_under_continuous_looking(within: bool) -> None:
    # five equal generators, ten pairs, a look after every rater: any false separation ever in at most 5 % of
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
    assert (nobody.p_value[0], nobody.raters[0], nobody.after[0]) == (1, 0, -1)
    assert np.isnan(nobody.difference[0])
    single = sequential_separation([[0.9, 0.1]], within=True)
    assert single.p_value[0] == 1
    same = sequential_separation(np.full((50, 2), 0.3), within=True)
    assert not same.separated.any()
    with pytest.raises(StatisticsError, match="two cells"):
        sequential_separation([[0.5]], within=True)
    with pytest.raises(StatisticsError, match=r"within 0\.0 … 1\.0"):
        sequential_separation([[0.5, 3.0]], within=True)
