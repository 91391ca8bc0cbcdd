import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from beholder.errors import StatisticsError
from beholder.stats.agreement.leave_one_out import (
    leave_one_out_agreement,
    leave_one_out_correlation,
    leave_one_out_plurality,
)


def test_correlation_by_hand() -> None:
    # four items; rater 0: 1 2 3 4, rater 1: 2 4 6 8, rater 2: 4 2 3 1, and 9 on a fifth item of its own
    # rater 0 against the means of 1 and 2: 3 3 4.5 4.5 → centred −1.5 −.5 .5 1.5 and −.75 −.75 .75 .75:
    # products 1.125 + .375 + .375 + 1.125 = 3; r = 3/√(5 · 2.25) = .894427
    raters = np.repeat([0, 1, 2], 4)
    items = np.tile(range(4), 3)
    values = [1, 2, 3, 4, 2, 4, 6, 8, 4, 2, 3, 1]
    correlations = leave_one_out_correlation([*raters, 2], [*items, 4], [*values, 9])
    assert correlations.correlation[0] == pytest.approx(3 / np.sqrt(5 * 2.25))
    assert correlations.items.tolist() == [4, 4, 4]  # item 4, judged by rater 2 alone, does not count
    # Fisher: atanh .894427 = 1.443635, ± 1.959964/√1 → tanh(−.516329), tanh(3.403599)
    assert correlations.low[0] == pytest.approx(-0.474861, abs=2e-6)
    assert correlations.high[0] == pytest.approx(0.997791, abs=2e-6)


def test_correlation_against_scipy() -> None:
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=40) + rng.normal(size=(7, 40))
    matrix[rng.random((7, 40)) < 0.3] = np.nan
    who, what = np.nonzero(~np.isnan(matrix))
    correlations = leave_one_out_correlation(who, what, matrix[who, what])
    for rater in range(7):
        others = np.delete(matrix, rater, axis=0)
        shared = ~np.isnan(matrix[rater]) & (~np.isnan(others)).any(axis=0)
        theirs = stats.pearsonr(matrix[rater, shared], np.nanmean(others[:, shared], axis=0))
        assert correlations.correlation[rater] == pytest.approx(theirs.statistic)
        interval = theirs.confidence_interval(0.95)
        assert (correlations.low[rater], correlations.high[rater]) == pytest.approx((interval.low, interval.high))
        assert correlations.items[rater] == shared.sum()


def test_agreement_by_hand() -> None:
    # rater 0 on items a–d; others: a 1 1, b 1 0 (split), c 0 0, d 1; own 1 1 1 0
    # agrees on a, half on b, differs on c and d: share 1.5/4; of 3 undivided items 1 agrees: P(X ≥ 1) = 7/8
    raters = [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2]
    items = [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2]
    choices = [1, 1, 1, 0, 1, 1, 0, 1, 1, 0, 0]
    agreements = leave_one_out_agreement(raters, items, choices)
    assert agreements.rate[0] == pytest.approx(1.5 / 4)
    assert agreements.p_value[0] == pytest.approx(7 / 8)
    assert agreements.items.tolist() == [4, 4, 3]


def test_agreement_against_scipy() -> None:
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 60)
    matrix = np.where(rng.random((6, 60)) < 0.75, truth, 1 - truth)  # six raters: the other five are never split
    who, what = (index.ravel() for index in np.indices((6, 60)))
    agreements = leave_one_out_agreement(who, what, matrix.ravel())
    for rater in range(6):
        majority = np.delete(matrix, rater, axis=0).mean(axis=0) > 0.5
        agree = int((matrix[rater] == majority).sum())
        assert agreements.rate[rater] == pytest.approx(agree / 60)
        assert agreements.p_value[rater] == pytest.approx(stats.binomtest(agree, 60, alternative="greater").pvalue)
        interval = stats.binomtest(agree, 60).proportion_ci(method="wilson")
        assert (agreements.low[rater], agreements.high[rater]) == pytest.approx((interval.low, interval.high))


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_laws(seed: int) -> None:
    rng = np.random.default_rng(seed)
    who, what = np.nonzero(rng.random((6, 20)) < 0.7)
    values = rng.integers(0, 2, len(who)).astype(float)
    agreement = leave_one_out_agreement(who, what, values)
    shared = agreement.items > 0
    assert np.all((agreement.rate[shared] >= 0) & (agreement.rate[shared] <= 1))
    assert np.all(
        (agreement.low[shared] <= agreement.rate[shared]) & (agreement.rate[shared] <= agreement.high[shared])
    )
    relabelled, rows = rng.permutation(6), rng.permutation(len(who))
    if relabelled[who].max() == 5 == who.max():
        again = leave_one_out_agreement(relabelled[who][rows], what[rows], values[rows])
        np.testing.assert_allclose(again.rate[relabelled], agreement.rate)
    swapped = leave_one_out_agreement(who, what, 1 - values)  # the names of the two choices do not matter
    np.testing.assert_allclose(swapped.p_value, agreement.p_value)

    scores = values + rng.normal(size=len(who))
    correlation = leave_one_out_correlation(who, what, scores)
    moved = leave_one_out_correlation(who, what, 5 + 3 * scores)
    np.testing.assert_allclose(moved.correlation, correlation.correlation, atol=1e-9)
    assert np.all(np.abs(correlation.correlation[~np.isnan(correlation.correlation)]) <= 1)


def test_what_is_not_defined_is_nan() -> None:
    who, what = [0, 0, 0, 1, 1, 1, 2], [0, 1, 2, 0, 1, 2, 3]
    correlations = leave_one_out_correlation(who, what, [0.1, 0.1, 0.1, 1, 2, 3, 5])  # rater 0 constant, 2 alone
    assert np.isnan(correlations.correlation).all()
    assert correlations.items.tolist() == [3, 3, 0]
    alone = leave_one_out_agreement(who, what, [1, 1, 1, 1, 0, 0, 1])
    assert np.isnan([alone.rate[2], alone.p_value[2], alone.low[2]]).all()
    with pytest.raises(StatisticsError, match="0 or 1"):
        leave_one_out_agreement([0], [0], [2])


def test_plurality_by_hand() -> None:
    # three options, four raters: item 0: 0 0 1 2; item 1: 2 2 2 0
    who, what = np.tile(range(4), 2), np.repeat([0, 1], 4)
    agreements = leave_one_out_plurality(who, what, [0, 0, 1, 2, 2, 2, 2, 0], classes=3)
    # item 0: raters 0 and 1 see three options once each, no leader; rater 2 sees 0 0 2 and differs, so does 3
    # item 1: raters 0, 1, 2 see 2 2 0 and agree; rater 3 sees 2 2 2 and differs
    assert agreements.items.tolist() == [1, 1, 2, 2]
    assert agreements.rate.tolist() == [1.0, 1.0, 0.5, 0.0]
    # blind choices agree with chance 1/3: once in two, 1 − (2/3)² = 5/9
    assert agreements.p_value.tolist() == pytest.approx([1 / 3, 1 / 3, 5 / 9, 1.0])
    with pytest.raises(StatisticsError, match="from 0 to 2"):
        leave_one_out_plurality([0], [0], [3], classes=3)
