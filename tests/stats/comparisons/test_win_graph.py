from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from beholder.stats.comparisons.win_graph import comparison_components, strongly_connected


def test_by_hand() -> None:
    # 0 beats 1 beats 2 beats 0: a ring, so all reach all, though no pair went both ways; without 2 beats 0 not
    pairs = np.array([[0, 1], [0, 2], [1, 2]])
    upward = np.array([[True, False, True], [True, False, True], [True, True, True]])
    downward = np.array([[False, True, False], [False, False, False], [True, False, True]])
    assert strongly_connected(pairs, upward, downward, 3).tolist() == [True, False, True]
    assert comparison_components(pairs[:1], 3) == [[0, 1], [2]]


@given(st.integers(2, 6), st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None)
def test_against_powers_of_the_matrix(items: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    pairs = np.array([pair for pair in combinations(range(items), 2) if rng.random() < 0.8] or [(0, 1)])
    upward, downward = rng.random((2, 9, len(pairs))) < rng.uniform(0.3, 1)
    connected = strongly_connected(pairs, upward, downward, items)
    for replicate in range(9):
        reach = np.eye(items, dtype=np.int64)
        reach[pairs[upward[replicate], 1], pairs[upward[replicate], 0]] = 1  # loser to winner
        reach[pairs[downward[replicate], 0], pairs[downward[replicate], 1]] = 1
        assert connected[replicate] == np.all(np.linalg.matrix_power(reach, items) > 0)
