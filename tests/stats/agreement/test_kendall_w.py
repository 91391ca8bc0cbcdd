import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from beholder.errors import StatisticsError
from beholder.stats.agreement.kendall_w import concordance_of_sets, kendall_w


def long(matrix: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    who, what = (index.ravel() for index in np.indices(matrix.shape))
    return who, what, matrix.ravel()


def test_by_hand() -> None:
    # orders 1 2 3 | 1 2 3 | 2 1 3: rank sums 4 5 9, mean 6, S = 4 + 1 + 9 = 14; W = 12 · 14/(9 · 24) = 7/9
    concordance = kendall_w(*long(np.array([[1, 2, 3], [1, 2, 3], [2, 1, 3.0]])))
    assert concordance.w.value == pytest.approx(7 / 9)
    assert concordance.mean_correlation == pytest.approx((1 + 0.5 + 0.5) / 3)  # Spearman's of the three pairs
    assert concordance.chi_square == pytest.approx(3 * 2 * 7 / 9)
    assert concordance.degrees == 2
    assert concordance.p_value == pytest.approx(np.exp(-7 / 3))  # χ² with two degrees of freedom
    # ties: 1.5 1.5 3 | 1 2 3: sums 2.5 3.5 6, S = 2.25 + .25 + 4 = 6.5; T = 6; W = 78/(96 − 12) = 13/14
    tied = kendall_w(*long(np.array([[5, 5, 9], [1, 2, 3.0]])))
    assert tied.w.value == pytest.approx(13 / 14)


def test_published_example() -> None:
    # Siegel (1956), three executives who rank six applicants: W = .16
    ranks = np.array([[1, 6, 3, 2, 5, 4], [1, 5, 6, 4, 2, 3], [6, 3, 2, 5, 4, 1.0]])
    assert kendall_w(*long(ranks)).w.value == pytest.approx(0.16, abs=5e-3)


def test_against_friedman() -> None:
    for seed in range(5):
        rng = np.random.default_rng(seed)
        matrix = np.rint(rng.normal(size=9) + rng.normal(size=(7, 9)))  # with ties
        theirs = stats.friedmanchisquare(*matrix.T)
        concordance = kendall_w(*long(matrix))
        assert concordance.chi_square == pytest.approx(theirs.statistic, abs=1e-9)
        assert concordance.p_value == pytest.approx(theirs.pvalue, abs=1e-9)


def test_interval_by_hand() -> None:
    # orders 1 2 3 | 1 2 3 | 2 1 3: r = 2/3; centred ranks have squares of 2 each, 6 in all, and products of 3, 3
    # and 2 with the others': l = 2 · 3/12 − 2/3 (1/3 + 1/3) = 1/18, 1/18, −1/9; SE² = 9/4 · 1/54 = 1/24;
    # t is 4.302653
    concordance = kendall_w(*long(np.array([[1, 2, 3], [1, 2, 3], [2, 1, 3.0]]))).w
    reach = 4.302653 * np.sqrt(1 / 24) / (1 - 4 / 9)
    r = np.tanh(np.arctanh(2 / 3) + np.array([-reach, reach]))
    assert (concordance.low, concordance.high) == pytest.approx(
        (max((1 + 2 * r[0]) / 3, 0), (1 + 2 * r[1]) / 3), abs=1e-6
    )
    assert (concordance.raters, concordance.items, concordance.answers, concordance.replicates) == (3, 3, 9, None)


def weighted_r(matrix: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
    """The mean correlation of weighted raters, copies never paired."""
    ranks = stats.rankdata(matrix, axis=1)
    ranks -= ranks.mean(axis=1, keepdims=True)
    products = ranks @ ranks.T
    own, size = np.diag(products), weights.sum()
    pairs = weights @ products @ weights - weights**2 @ own
    return float(pairs / (size**2 - weights @ weights) / (weights @ own / size))


def slopes(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of the mean correlation in the weight of each rater, by differences."""
    step, rater_count = 1e-5, len(matrix)
    ends = [
        [weighted_r(matrix, np.ones(rater_count) + s * step * np.eye(rater_count)[i]) for s in (1, -1)]
        for i in range(rater_count)
    ]
    return np.array([(up - down) / (2 * step) for up, down in ends])


def test_interval_against_slopes() -> None:
    rng = np.random.default_rng(1)
    matrix = np.rint(2 * (rng.normal(size=8) + rng.normal(size=(9, 8))))  # with ties
    complete = kendall_w(*long(matrix))
    error = 9 / 8 * np.sqrt(np.sum(slopes(matrix) ** 2)) / (1 - complete.mean_correlation**2)
    ends = np.tanh(np.arctanh(complete.mean_correlation) + stats.t.ppf([0.025, 0.975], 8) * error)
    assert (complete.w.low, complete.w.high) == pytest.approx(((1 + 8 * ends) / 9).tolist(), abs=1e-8)


def test_no_interval() -> None:
    same = kendall_w(*long(np.tile([1, 2, 3.0], (4, 1)))).w
    assert (same.low, same.high) == (1, 1)
    two = kendall_w(*long(np.array([[1, 2, 3], [2, 1, 3.0]]))).w
    assert np.isnan([two.low, two.high]).all()
    circle = kendall_w(*long(np.array([[1, 2, 3], [2, 3, 1], [3, 1, 2.0]]))).w  # all are alike
    assert circle.value == pytest.approx(0)
    assert np.isnan([circle.low, circle.high]).all()


def test_several_sets() -> None:
    rng = np.random.default_rng(2)
    first, second = (rng.normal(size=5) + rng.normal(size=(6, 5)) for _ in range(2))
    # the same six raters order both: W is the mean of the two
    who, what, values = (np.concatenate(parts) for parts in zip(long(first), long(second), strict=True))
    sets = np.repeat([7, 3], 30)
    concordance = concordance_of_sets(who, sets, what, values)
    alone = [kendall_w(*long(matrix)) for matrix in (first, second)]
    assert concordance.w.value == pytest.approx(np.mean([each.w.value for each in alone]))
    assert concordance.mean_correlation.value == pytest.approx(np.mean([each.mean_correlation for each in alone]))
    assert (concordance.w.items, concordance.w.raters, concordance.w.answers) == (2, 6, 60)
    pull = (slopes(first) + slopes(second)) / 2
    error = 6 / 5 * np.sqrt(np.sum(pull**2)) / (1 - concordance.mean_correlation.value**2)
    ends = np.tanh(np.arctanh(concordance.mean_correlation.value) + stats.t.ppf([0.025, 0.975], 5) * error)
    assert (concordance.w.low, concordance.w.high) == pytest.approx(((1 + 5 * ends) / 6).tolist(), abs=1e-8)
    # one set alone is W; a set that one rater ordered does not count
    single = concordance_of_sets(who[:30], sets[:30], what[:30], values[:30])
    assert (single.w.value, single.w.low) == pytest.approx((alone[0].w.value, alone[0].w.low))
    lone = concordance_of_sets([*who[:30], 9, 9], [*sets[:30], 4, 4], [*what[:30], 0, 1], [*values[:30], 1, 2])
    assert (lone.w.value, lone.w.items, lone.w.raters) == pytest.approx((alone[0].w.value, 1, 6))
    # sets of other sizes: (1 + (m − 1) r)/m of each, with 6 and 3 raters
    fewer = np.flatnonzero((sets == 7) | (who < 3))
    mixed = concordance_of_sets(who[fewer], sets[fewer], what[fewer], values[fewer])
    assert mixed.w.value == pytest.approx((alone[0].w.value + kendall_w(*long(second[:3])).w.value) / 2)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=25, deadline=None)
def test_laws(seed: int) -> None:
    rng = np.random.default_rng(seed)
    matrix = rng.integers(0, 6, (5, 8)).astype(float)
    matrix[0] = np.arange(8)
    concordance = kendall_w(*long(matrix))
    assert 0 <= concordance.w.value <= 1 + 1e-12
    assert kendall_w(*long(np.exp(matrix))).w.value == pytest.approx(concordance.w.value)
    assert kendall_w(*long(-matrix[:, rng.permutation(8)])).w.value == pytest.approx(concordance.w.value)
    assert kendall_w(*long(np.tile(matrix[:1], (5, 1)))).w.value == pytest.approx(1)
    plain = np.argsort(rng.random((5, 8)), axis=1).astype(float)
    mean = np.mean([stats.spearmanr(plain[i], plain[j]).statistic for i in range(5) for j in range(i)])
    assert kendall_w(*long(plain)).mean_correlation == pytest.approx(mean)


def test_what_is_not_defined() -> None:
    with pytest.raises(StatisticsError, match="two raters and two items; found 1, 3"):
        kendall_w([0, 0, 0], [0, 1, 2], [1, 2, 3])
    with pytest.raises(StatisticsError, match="two raters and two items; found 2, 1"):
        kendall_w([0, 1], [0, 0], [1, 2])
    with pytest.raises(StatisticsError, match="1 of 4 missing, the first of rater 1 on item 1"):
        kendall_w([0, 0, 1], [0, 1, 0], [1, 2, 3])
    with pytest.raises(StatisticsError, match="only ties"):
        kendall_w([0, 0, 1, 1], [0, 1, 0, 1], [1, 1, 2, 2])
    with pytest.raises(StatisticsError, match="all of a set; 1 did not, the first rater 1 with 1 of 2 items"):
        concordance_of_sets([0, 0, 1, 2, 2], [0, 0, 0, 1, 1], [0, 1, 0, 0, 1], [1, 2, 1, 1, 2])
    with pytest.raises(StatisticsError, match="one rater per set"):
        concordance_of_sets([0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 0, 1], [1, 2, 1, 2])
    with pytest.raises(StatisticsError, match="one integer per answer"):
        concordance_of_sets([0, 0], [0.5, 1], [0, 1], [1, 2])
