import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from beholder.errors import StatisticsError
from beholder.stats.intervals.clustered_t import (
    RaterInfluence,
    clustered_t,
    pair_errors,
    ratio_influence,
    standard_errors,
)
from beholder.stats.intervals.proportions import wilson

ONE, OTHER = np.array([0]), np.array([1])


def test_ratio_by_hand() -> None:
    # three raters with 2, 4 and 2 answers, sums 2, 2 and 1: R = 5/8, off = 2 − 1.25, 2 − 2.5, 1 − 1.25;
    # l = .75/8, −.5/8, −.25/8; w = ¼, ½, ¼; Σ l²/(1 − w) = (.5625/.75 + .25/.5 + .0625/.75)/64 = 1.33333/64
    cells = ratio_influence([[2.0], [2.0], [1.0]], [[2.0], [4.0], [2.0]])
    np.testing.assert_allclose(cells.influence[:, 0], [0.09375, -0.0625, -0.03125])
    assert standard_errors(cells)[0] == pytest.approx(np.sqrt(4 / 3) / 8)


def test_degrees_by_hand() -> None:
    # all three judged both: 2; three and two other raters judged one each, w = ⅓ and ½: each group's variance has
    # mean ⅓ and ½ and n − 1 degrees, so ν = (⅓ + ½)²/(⅓²/2 + ½²/1) = 25/11
    even = ratio_influence(np.eye(3)[:, :2], np.ones((3, 2)))
    assert pair_errors(even, ONE, OTHER)[1][0] == pytest.approx(2)
    judged = np.array([[1, 0], [1, 0], [1, 0], [0, 1], [0, 1]], float)
    scores = judged * [[0.1], [0.5], [0.3], [0.9], [0.4]]
    assert pair_errors(ratio_influence(scores, judged), ONE, OTHER)[1][0] == pytest.approx(25 / 11)


def test_degrees_by_brute_force() -> None:
    rng = np.random.default_rng(2)
    answers = rng.integers(0, 9, (8, 2)).astype(float)
    cells = ratio_influence(answers * rng.random((8, 2)), answers)
    total = np.zeros((8, 8))
    for cell in (0, 1):
        w = cells.shares[:, cell]
        spread = np.sqrt(1 / np.maximum(answers[:, cell], 1))  # of raters' mean scores
        change = (w / np.sqrt(1 - w))[:, None] * (np.eye(8) - w) * spread  # from standard scores to l̃
        total += change @ change.T
    assert pair_errors(cells, ONE, OTHER)[1][0] == pytest.approx(np.trace(total) ** 2 / np.trace(total @ total))


def test_same_raters_are_scipys_paired_t() -> None:
    rng = np.random.default_rng(1)
    scores = rng.normal(0, 1, (12, 1)) + rng.normal(0, 0.3, (12, 2))
    theirs = stats.ttest_rel(scores[:, 0], scores[:, 1])
    error, degrees = pair_errors(ratio_influence(scores, np.ones((12, 2))), ONE, OTHER)
    assert (scores[:, 0] - scores[:, 1]).mean() / error[0] == pytest.approx(theirs.statistic)
    assert degrees[0] == pytest.approx(theirs.df)


def test_other_raters_are_scipys_t_of_two_groups() -> None:
    rng = np.random.default_rng(3)
    one, other = rng.normal(0, 1, 9), rng.normal(0.5, 2, 9)
    judged = np.repeat(np.eye(2), 9, axis=0)
    cells = ratio_influence(judged * np.concatenate([one, other])[:, None], judged)
    error, degrees = pair_errors(cells, ONE, OTHER)
    welch = stats.ttest_ind(one, other, equal_var=False)
    assert (one.mean() - other.mean()) / error[0] == pytest.approx(welch.statistic)
    assert degrees[0] == pytest.approx(16)


def test_variance_is_close_to_statsmodels_sandwich_for_many_raters() -> None:
    rng = np.random.default_rng(4)
    rater = np.repeat(np.arange(400), rng.integers(2, 20, 400))
    values = rng.normal(0, 1, 400)[rater] + rng.normal(size=len(rater))
    model = sm.OLS(values, np.ones(len(values))).fit(cov_type="cluster", cov_kwds={"groups": rater})
    sums = np.bincount(rater, values)[:, None], np.bincount(rater).astype(float)[:, None]
    assert standard_errors(ratio_influence(*sums))[0] == pytest.approx(float(model.bse[0]), rel=0.01)


def test_a_mean_has_students_interval() -> None:
    scores = np.random.default_rng(5).normal(3, 1, (7, 1))
    theirs = stats.ttest_1samp(scores[:, 0], 0).confidence_interval()
    ours = clustered_t(ratio_influence(scores, np.ones((7, 1))))[0]
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high))
    assert ours.raters == 7


def test_proportions_stay_between_0_and_1_and_have_wilsons_interval_at_the_ends() -> None:
    scores = np.array([[0.0, 0.0, 1.0], [0.1, 0.0, 1.0], [0.0, 0.0, 1.0], [0.0, 0.0, 1.0], [0.2, 0.0, 1.0]])
    rated = clustered_t(ratio_influence(scores, np.ones((5, 3)), proportions=True))
    assert rated.low[0] >= 0
    assert rated.high[0] > 0.06
    low, high = wilson(np.array([0.0, 5.0]), np.array([5.0, 5.0]))
    np.testing.assert_allclose(rated.low[1:], low)
    np.testing.assert_allclose(rated.high[1:], high)
    # arcsin √.06 = .24747; s² = .008, SE = .04; 2.7764 · .04/(2 √(.06 · .94)) = .23381
    assert rated.high[0] == pytest.approx(np.sin(0.24747 + 0.23381) ** 2, abs=1e-4)


def test_raters_that_do_not_differ_still_leave_doubt_about_proportions() -> None:
    cells = ratio_influence(np.tile([0.0, 1.0], (5, 1)), np.ones((5, 2)), proportions=True)
    low, high = wilson(np.array([0.0]), np.array([5.0]))
    error = float((high - low)[0]) / 2 / stats.norm.ppf(0.975)
    assert pair_errors(cells, ONE, OTHER)[0][0] == pytest.approx(np.sqrt(2) * error)


def test_too_few_raters_have_no_interval() -> None:
    four = clustered_t(ratio_influence(np.random.default_rng(0).random((4, 2)), np.ones((4, 2))))
    assert np.isnan(four.low).all()
    assert np.isfinite(four.value).all()
    assert np.isnan(standard_errors(ratio_influence([[0.5]], [[1.0]]))).all()


@given(st.integers(2, 40), st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None)
def test_laws(raters: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    answers = rng.integers(1, 30, (raters, 3)).astype(float)
    sums = answers * rng.random((raters, 3))
    cells = ratio_influence(sums, answers)
    first, second = np.triu_indices(3, k=1)
    error, degrees = pair_errors(cells, first, second)
    np.testing.assert_allclose(cells.influence.sum(axis=0), 0, atol=1e-12)
    assert np.all((degrees >= 1) & (degrees <= 2 * raters))
    order = rng.permutation(raters)
    again = pair_errors(ratio_influence(sums[order], answers[order]), first, second)
    np.testing.assert_allclose(again, (error, degrees))
    scaled = pair_errors(ratio_influence(10 * sums, answers), first, second)
    np.testing.assert_allclose(scaled[0], 10 * error)
    even = pair_errors(ratio_influence(sums / answers, np.ones_like(answers)), first, second)
    np.testing.assert_allclose(even[1], raters - 1)


def test_nonsense_is_refused() -> None:
    with pytest.raises(StatisticsError, match="of one shape"):
        ratio_influence(np.ones((3, 2)), np.ones((3, 1)))
    with pytest.raises(StatisticsError, match="of one shape"):
        RaterInfluence(np.zeros(2), np.zeros((3, 2)), np.zeros((3, 3)))
    with pytest.raises(StatisticsError, match="level between"):
        clustered_t(ratio_influence(np.ones((5, 1)), np.ones((5, 1))), level=95)
