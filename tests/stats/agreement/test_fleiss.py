import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from statsmodels.stats.inter_rater import aggregate_raters
from statsmodels.stats.inter_rater import fleiss_kappa as oracle

from beholder.errors import StatisticsError
from beholder.stats.agreement.fleiss import fleiss_kappa, kappa_of_counts
from beholder.stats.intervals.bootstrap import rater_weights


def ones(rater_count: int) -> NDArray[np.int64]:
    return np.ones((1, rater_count), np.int64)


def long(matrix: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    who, what = np.nonzero(~np.isnan(matrix))
    return who, what, matrix[who, what]


def test_by_hand() -> None:
    # items 3 0 | 2 1 | 0 3: P = 1, 2/6 = 1/3, 1 → P̄ = 7/9; p = 5/9, 4/9, P̄ₑ = 41/81; κ = (63 − 41)/(81 − 41) = .55
    assert kappa_of_counts([[3, 0], [2, 1], [0, 3]]) == pytest.approx(0.55)


def test_unequal_raters_by_hand() -> None:
    # items 2 0 | 1 1 | 0 1, the last by one rater: P̄ = (1 + 0)/2; p₀ = (1 + ½ + 0)/3 = ½; κ = (½ − ½)/(1 − ½) = 0
    assert kappa_of_counts([[2, 0], [1, 1], [0, 1]]) == pytest.approx(0)


def test_published_examples() -> None:
    # Fleiss (1971) as retold by Wikipedia: ten items, fourteen raters, κ = .210
    table = [
        [0, 0, 0, 0, 14],
        [0, 2, 6, 4, 2],
        [0, 0, 3, 5, 6],
        [0, 3, 9, 2, 0],
        [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0],
        [3, 2, 6, 3, 0],
        [2, 5, 3, 2, 2],
        [6, 5, 2, 1, 0],
        [0, 2, 2, 3, 7],
    ]
    assert kappa_of_counts(table) == pytest.approx(0.210, abs=5e-4)
    # irrCAC's cont3x3abstractors (two raters): Scott's π, which Fleiss' κ is then, .7962397
    confusion = [[13, 0, 0], [0, 20, 7], [0, 4, 56]]
    rows = [np.eye(3)[a] + np.eye(3)[b] for a in range(3) for b in range(3) for _ in range(confusion[a][b])]
    assert kappa_of_counts(rows) == pytest.approx(0.7962397, abs=5e-8)


def test_against_statsmodels() -> None:
    for seed in range(5):
        rng = np.random.default_rng(seed)
        matrix = np.where(rng.random((7, 40)) < 0.5, rng.integers(0, 4, 40), rng.integers(0, 4, (7, 40))).astype(
            float
        )
        counts, _ = aggregate_raters(matrix.T.astype(int))
        kappa = fleiss_kappa(*long(matrix), ones(7))
        assert kappa.value == pytest.approx(oracle(counts), abs=1e-12)
        assert kappa_of_counts(counts) == pytest.approx(oracle(counts), abs=1e-12)
        assert (kappa.raters, kappa.items, kappa.answers) == (7, 40, 280)


def test_a_weighted_draw_by_hand() -> None:
    # one item, raters 0 0 1 with weights 2 1 1 and an item of its own kind 1 1 by the first two, weights 2 1:
    # item a: pairs 16 − 6 = 10, of which alike 9 − 5 = 4; item b all alike: P̄ = .7
    # proportions of 0: ¾ and 0, p₀ = .375: P̄ₑ = .375² + .625² = .53125; κ = .16875/.46875 = .36
    kappa = fleiss_kappa([0, 1, 2, 0, 1], [0, 0, 0, 1, 1], [0, 0, 1, 1, 1], np.array([[2, 1, 1]]))
    assert kappa.low == kappa.high == pytest.approx(0.36)


def test_copies_do_not_raise_kappa() -> None:
    rng = np.random.default_rng(2)
    matrix = rng.integers(0, 3, (8, 300)).astype(float)
    kappa = fleiss_kappa(*long(matrix), rater_weights(np.zeros(8, np.int64), 400, rng))
    assert kappa.low < kappa.value < kappa.high
    assert (kappa.low + kappa.high) / 2 == pytest.approx(kappa.value, abs=0.02)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=25, deadline=None)
def test_laws(seed: int) -> None:
    rng = np.random.default_rng(seed)
    matrix = np.where(rng.random((6, 20)) < 0.4, rng.integers(0, 3, 20), rng.integers(0, 3, (6, 20))).astype(float)
    matrix[rng.random((6, 20)) < 0.3] = np.nan
    matrix[:2, :2] = [[0, 1], [0, 2]]
    who, what, values = long(matrix)
    kappa = fleiss_kappa(who, what, values, ones(6)).value
    assert kappa <= 1
    rows = rng.permutation(len(who))
    renamed = rng.permutation(3)[values.astype(int)]
    again = fleiss_kappa(rng.permutation(6)[who][rows], rng.permutation(20)[what][rows], renamed[rows], ones(6))
    assert again.value == pytest.approx(kappa)
    assert fleiss_kappa(who, what, what % 3, ones(6)).value == pytest.approx(1)


def test_what_is_not_defined() -> None:
    with pytest.raises(StatisticsError, match="two different values"):
        kappa_of_counts([[3, 0], [3, 0]])
    with pytest.raises(StatisticsError, match="two answers"):
        kappa_of_counts([[1, 0], [0, 1]])
    with pytest.raises(StatisticsError, match="two answers"):
        fleiss_kappa([0, 0], [0, 1], [1, 2], ones(1))  # one rater
    with pytest.raises(StatisticsError, match="finite"):
        fleiss_kappa([0, 1], [0, 0], [1, np.nan], ones(2))
    with pytest.raises(StatisticsError, match="at least 0; found shape"):
        kappa_of_counts([[np.nan, 1]])
    single = fleiss_kappa(
        [0, 1, 0, 1], [0, 0, 1, 1], [1, 1, 0, 1], ones(2)
    )  # two raters: leaving one out leaves none
    assert single.value == pytest.approx(-1 / 3)
    with pytest.raises(StatisticsError, match="weights must be"):
        fleiss_kappa([0, 1], [0, 0], [1, 2], np.ones((0, 2), np.int64))
