import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from beholder.errors import StatisticsError
from beholder.stats.truth.correlation_screening import correlation_screening


def long(matrix: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    who, what = np.nonzero(~np.isnan(matrix))
    return who, what, matrix[who, what]


def test_by_hand() -> None:
    # raters 1 2 3 4 | 1 2 3 4 | 2 1 4 3 | 4 3 2 1. With all four, the last against the mean 4/3 5/3 10/3 11/3 has
    # centred 1.5 .5 −.5 −1.5 and −7/6 −5/6 5/6 7/6: r = −(1.75 + 5/12 + 5/12 + 1.75)/√(5 · 37/9) = −.955779
    # and goes first. Then the third against 1 2 3 4: r = 3/5, below .75, and goes; the two left agree.
    scores = np.array([[1, 2, 3, 4], [1, 2, 3, 4], [2, 1, 4, 3], [4, 3, 2, 1.0]])
    screening = correlation_screening(*long(scores))
    assert screening.order.tolist() == [3, 2]
    assert screening.rejected.tolist() == [False, False, True, True]
    assert screening.correlation == pytest.approx([1, 1, 0.6, -(13 / 3) / np.sqrt(185 / 9)])
    lenient = correlation_screening(*long(scores), threshold=0.5)
    assert lenient.order.tolist() == [3]


def test_against_a_plain_loop_with_scipy() -> None:
    for seed in range(4):
        rng = np.random.default_rng(seed)
        noise = rng.uniform(0.3, 2.5, (9, 1)) * rng.normal(size=(9, 30))
        matrix = rng.normal(size=30) + noise
        matrix[rng.random((9, 30)) < 0.2] = np.nan
        left, order, last = list(range(9)), [], {}
        while True:
            for rater in left:
                others = matrix[[r for r in left if r != rater]]
                shared = ~np.isnan(matrix[rater]) & (~np.isnan(others)).any(axis=0)
                mean = np.nanmean(others[:, shared], axis=0)
                last[rater] = stats.pearsonr(matrix[rater, shared], mean).statistic
            worst = min(left, key=lambda rater: last[rater])
            if last[worst] >= 0.75 or len(left) <= 2:
                break
            left.remove(worst)
            order.append(worst)
        screening = correlation_screening(*long(matrix))
        assert screening.order.tolist() == order
        assert screening.correlation == pytest.approx([last[rater] for rater in range(9)])


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=15, deadline=None)
def test_laws(seed: int) -> None:
    rng = np.random.default_rng(seed)
    matrix = rng.normal(size=25) + rng.uniform(0.2, 2, (7, 1)) * rng.normal(size=(7, 25))
    screening = correlation_screening(*long(matrix))
    assert (~screening.rejected).sum() >= 2
    left = screening.correlation[~screening.rejected]
    assert len(left) == 2 or np.all(left >= 0.75)
    factors = rng.uniform(0.5, 2)
    moved = correlation_screening(*long(5 + factors * matrix))  # one change of units for all
    assert moved.order.tolist() == screening.order.tolist()
    nobody = correlation_screening(*long(matrix), threshold=-1)
    assert not nobody.rejected.any()


def test_degenerate_scores() -> None:
    constant = correlation_screening(*long(np.array([[3, 3, 3, 3], [1, 2, 3, 4], [1, 2, 4, 3.0]])))
    assert np.isnan(constant.correlation[0])  # no correlation: left to the rule against equal answers
    assert not constant.rejected.any()
    alone = correlation_screening([0, 0, 0], [0, 1, 2], [1, 2, 3])
    assert np.isnan(alone.correlation).all()
    assert not alone.rejected.any()
    two = correlation_screening([0, 0, 0, 1, 1, 1], [0, 1, 2] * 2, [1, 2, 3, 3, 2, 1])
    assert two.correlation == pytest.approx([-1, -1])
    assert not two.rejected.any()
    with pytest.raises(StatisticsError, match="from −1 to 1; found 75"):
        correlation_screening([0], [0], [1], threshold=75)
    with pytest.raises(StatisticsError, match="finite"):
        correlation_screening([0], [0], [np.nan])
