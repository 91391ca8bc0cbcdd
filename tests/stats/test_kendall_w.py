import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from beholder.errors import StatisticsError
from beholder.stats.bootstrap import person_weights
from beholder.stats.kendall_w import kendall_w


def ones(people: int) -> NDArray[np.int64]:
    return np.ones((1, people), np.int64)


def long(matrix: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    who, what = (index.ravel() for index in np.indices(matrix.shape))
    return who, what, matrix.ravel()


def test_by_hand() -> None:
    # orders 1 2 3 | 1 2 3 | 2 1 3: rank sums 4 5 9, mean 6, S = 4 + 1 + 9 = 14; W = 12 · 14/(9 · 24) = 7/9
    found = kendall_w(*long(np.array([[1, 2, 3], [1, 2, 3], [2, 1, 3.0]])), ones(3))
    assert found.w.value == pytest.approx(7 / 9)
    assert found.mean_correlation == pytest.approx((1 + 0.5 + 0.5) / 3)  # Spearman's of the three pairs
    assert found.chi_square == pytest.approx(3 * 2 * 7 / 9)
    assert found.degrees == 2
    assert found.p_value == pytest.approx(np.exp(-7 / 3))  # χ² with two degrees of freedom
    # ties: 1.5 1.5 3 | 1 2 3: sums 2.5 3.5 6, S = 2.25 + .25 + 4 = 6.5; T = 6; W = 78/(96 − 12) = 13/14
    tied = kendall_w(*long(np.array([[5, 5, 9], [1, 2, 3.0]])), ones(2))
    assert tied.w.value == pytest.approx(13 / 14)


def test_published_example() -> None:
    # Siegel (1956), three executives who rank six applicants: W = .16
    ranks = np.array([[1, 6, 3, 2, 5, 4], [1, 5, 6, 4, 2, 3], [6, 3, 2, 5, 4, 1.0]])
    assert kendall_w(*long(ranks), ones(3)).w.value == pytest.approx(0.16, abs=5e-3)


def test_against_friedman() -> None:
    for seed in range(5):
        rng = np.random.default_rng(seed)
        matrix = np.rint(rng.normal(size=9) + rng.normal(size=(7, 9)))  # with ties
        theirs = stats.friedmanchisquare(*matrix.T)
        found = kendall_w(*long(matrix), ones(7))
        assert found.chi_square == pytest.approx(theirs.statistic, abs=1e-9)
        assert found.p_value == pytest.approx(theirs.pvalue, abs=1e-9)


def test_draws_leave_copies_out() -> None:
    # weights 2 1 0, Spearman's ½: only one pair of distinct people remains, so r = ½ and W = (1 + 2 · ½)/3
    matrix = np.array([[1, 2, 3], [2, 1, 3], [3, 2, 1.0]])
    found = kendall_w(*long(matrix), np.array([[2, 1, 0]]))
    assert found.w.low == found.w.high == pytest.approx(2 / 3)
    rng = np.random.default_rng(0)
    guessed = kendall_w(*long(rng.random((12, 30))), person_weights(np.zeros(12, np.int64), 500, rng))
    assert guessed.w.low < 1 / 12 < guessed.w.high
    assert (guessed.w.raters, guessed.w.items, guessed.w.draws) == (12, 30, 500)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=25, deadline=None)
def test_laws(seed: int) -> None:
    rng = np.random.default_rng(seed)
    matrix = rng.integers(0, 6, (5, 8)).astype(float)
    matrix[0] = np.arange(8)
    found = kendall_w(*long(matrix), ones(5))
    assert 0 <= found.w.value <= 1 + 1e-12
    assert kendall_w(*long(np.exp(matrix)), ones(5)).w.value == pytest.approx(found.w.value)
    assert kendall_w(*long(-matrix[:, rng.permutation(8)]), ones(5)).w.value == pytest.approx(found.w.value)
    assert kendall_w(*long(np.tile(matrix[:1], (5, 1))), ones(5)).w.value == pytest.approx(1)
    plain = np.argsort(rng.random((5, 8)), axis=1).astype(float)
    mean = np.mean([stats.spearmanr(plain[i], plain[j]).statistic for i in range(5) for j in range(i)])
    assert kendall_w(*long(plain), ones(5)).mean_correlation == pytest.approx(mean)


def test_what_is_not_defined() -> None:
    with pytest.raises(StatisticsError, match="two raters and two items; found 1, 3"):
        kendall_w([0, 0, 0], [0, 1, 2], [1, 2, 3], ones(1))
    with pytest.raises(StatisticsError, match="two raters and two items; found 2, 1"):
        kendall_w([0, 1], [0, 0], [1, 2], ones(2))
    with pytest.raises(StatisticsError, match="1 of 4 missing, the first of rater 1 on item 1"):
        kendall_w([0, 0, 1], [0, 1, 0], [1, 2, 3], ones(2))
    with pytest.raises(StatisticsError, match="only ties"):
        kendall_w([0, 0, 1, 1], [0, 1, 0, 1], [1, 1, 2, 2], ones(2))
