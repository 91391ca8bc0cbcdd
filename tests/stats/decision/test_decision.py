import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from beholder.errors import StatisticsError
from beholder.stats.decision.pareto import pareto_front, surely_dominated
from beholder.stats.decision.utility import standardise, utilities, winning_weights

MEASURES = arrays(np.float64, (5, 3), elements=st.integers(0, 6).map(float))


def test_front_by_hand() -> None:
    # (2, 2) beats (1, 2); equal rows dominate neither; a missing measure is not on the front
    assert pareto_front([[2.0, 2.0], [1.0, 2.0], [2.0, 2.0], [3.0, 0.0], [np.nan, 9.0]]).tolist() == [
        True,
        False,
        True,
        True,
        False,
    ]


@given(MEASURES)
def test_front_is_what_a_loop_over_all_pairs_finds(measures: np.ndarray) -> None:
    expected = [
        not any(np.all(other >= entry) and np.any(other > entry) for other in measures) for entry in measures
    ]
    assert pareto_front(measures).tolist() == expected


@given(MEASURES)
def test_what_is_surely_dominated_is_not_on_the_front(measures: np.ndarray) -> None:
    sure = surely_dominated(measures - 0.4, measures + 0.4)
    assert not np.any(sure & pareto_front(measures))


def test_utility_by_hand() -> None:
    # z of 1, 2, 3 is ∓√1.5 and 0; weights 2 : 2 halve the sum
    root = np.sqrt(1.5)
    np.testing.assert_allclose(standardise([[1], [2], [3]])[:, 0], [-root, 0, root])
    np.testing.assert_allclose(utilities([[1, 3], [2, 2], [3, 1]], [2, 2]), [0, 0, 0], atol=1e-12)


def test_two_measures_split_the_weights_where_the_lines_cross() -> None:
    # on the scale of z, (a, b) leads (c, d) while w (a − c) > (1 − w)(d − b)
    measures = [[3.0, 0.0], [1.0, 1.0], [0.0, 3.0]]
    z = standardise(measures)
    crossing = (z[2, 1] - z[0, 1]) / (z[2, 1] - z[0, 1] + z[0, 0] - z[2, 0])  # of the first and the last
    wins = winning_weights(measures, np.random.default_rng(0))
    np.testing.assert_allclose(wins.proportion, [1 - crossing, 0, crossing], atol=0.015)
    assert wins.margin[1] < 0 < wins.margin[0]
    np.testing.assert_allclose(wins.best_weights[0], [1, 0], atol=1e-9)


@given(MEASURES)
def test_the_largest_lead_is_reached_by_its_weights(measures: np.ndarray) -> None:
    wins = winning_weights(measures, np.random.default_rng(1))
    for entry, weights in enumerate(wins.best_weights):
        utility = standardise(measures) @ weights
        lead = utility[entry] - np.delete(utility, entry).max()
        assert lead == pytest.approx(wins.margin[entry], abs=1e-7)
    assert wins.proportion.sum() == pytest.approx(1)


def test_faults_are_named() -> None:
    with pytest.raises(StatisticsError, match="missing values"):
        utilities([[1.0], [np.nan]], [1])
    with pytest.raises(StatisticsError, match="not all 0"):
        utilities([[1.0], [2.0]], [0])
