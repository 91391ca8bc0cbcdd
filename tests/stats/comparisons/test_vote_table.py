import numpy as np
import pytest

from beholder.errors import StatisticsError
from beholder.stats.comparisons import vote_table
from beholder.stats.comparisons.bradley_terry import bradley_terry
from beholder.stats.comparisons.vote_table import (
    checked_votes,
    merge_pairs,
    tally_votes,
    votes_by_item,
    weighted_totals,
)
from beholder.stats.intervals.bootstrap import rater_weights


def test_counts_by_hand() -> None:
    pairs, counts = tally_votes([0, 1, 1, 1], [2, 0, 2, 2], [0, 1, 0, 0], [0, 2, 1, 1])
    assert pairs.tolist() == [[0, 1], [2, 0]]
    assert counts.toarray().tolist() == [[0, 0, 0, 1, 0, 0], [0, 0, 1, 0, 2, 0]]
    # rater 1 saw items 0 and 1 once together, 2 and 0 twice
    assert votes_by_item(pairs, counts, 3).tolist() == [[1, 0, 1], [3, 1, 2]]
    # merged, (2, 0) is turned: its wins of the first are wins of the second. Columns: wins, losses, ties
    merged, table = merge_pairs(pairs, counts, keep_order=False)
    assert merged.tolist() == [[0, 1], [0, 2]]
    assert table.toarray().tolist() == [[0, 0, 0, 1, 0, 0], [0, 2, 0, 0, 1, 0]]
    merged, table = merge_pairs(pairs, counts, keep_order=True)
    assert merged.tolist() == [[0, 1], [2, 0]]
    assert table.toarray().tolist() == [[0, 1, 0, 0, 0, 0], [0, 0, 0, 2, 1, 0]]


def test_repeated_pairs_are_summed() -> None:
    order, votes, _ = checked_votes([[0, 1], [1, 0], [0, 1]], [[[1, 2, 3], [10, 20, 30], [100, 200, 300]]], 2)
    merged, table = merge_pairs(order, votes, keep_order=False)
    assert merged.tolist() == [[0, 1]]
    assert table.toarray().tolist() == [[121, 212, 333]]


def test_sparse_and_dense_votes_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    who = rng.permutation(np.concatenate([np.arange(200), rng.integers(0, 200, 300)]))
    left = rng.integers(0, 6, 500)
    right = (left + rng.integers(1, 6, 500)) % 6
    pairs, counts = tally_votes(who, left, right, rng.integers(0, 3, 500))
    weights = rater_weights(np.zeros(200, np.int64), 40, rng)
    dense = bradley_terry(pairs, counts.toarray().reshape(200, -1, 3), items=6, weights=weights)
    monkeypatch.setattr(vote_table, "_DENSE", 0)
    thin = bradley_terry(pairs, counts, items=6, weights=weights)
    np.testing.assert_allclose(thin.rating_replicates, dense.rating_replicates, atol=1e-9)
    np.testing.assert_allclose(thin.influence, dense.influence, atol=1e-12)
    totals = np.concatenate(list(weighted_totals(counts, weights, 7)))
    np.testing.assert_allclose(totals, weights @ counts.toarray())


def test_nonsense_is_refused() -> None:
    with pytest.raises(StatisticsError, match="0, 1 or 2"):
        tally_votes([0], [0], [1], [3])
    with pytest.raises(StatisticsError, match="four integer columns"):
        tally_votes([0], [0], [1], [0.5])
    with pytest.raises(StatisticsError, match="at least one row"):
        tally_votes(*(np.zeros(0, np.int64) for _ in range(4)))
    _, counts = tally_votes([0], [0], [1], [1])
    with pytest.raises(StatisticsError, match="sparse counts must be"):
        bradley_terry([[0, 1], [1, 2]], counts, items=3)
    with pytest.raises(StatisticsError, match="at least two items"):
        bradley_terry([[0, 0]], [[1, 1, 0]], items=1)
