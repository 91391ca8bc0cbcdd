import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from beholder.errors import StatisticsError
from beholder.stats.significance.chance_best import chance_best
from beholder.stats.significance.claims import check_claims
from beholder.stats.significance.fragility import fragility
from beholder.stats.significance.overfitting import prompt_gap


def test_a_claim_by_hand() -> None:
    # .5 ± .2 with 10 degrees above .1: t = 2, p = P(t > 2) = .0367; the bound is .5 − 1.8125 · .2 = .1375
    (claim,) = check_claims([0.5], [0.2], [10], [0.1])
    assert claim.p_value == pytest.approx(0.036694, abs=1e-6)
    assert claim.bound == pytest.approx(0.137508, abs=1e-6)
    assert claim.verdict == "holds"


@given(st.floats(-3, 3), st.floats(0.05, 2), st.integers(3, 100), st.floats(-2, 2))
def test_a_single_claim_holds_exactly_where_its_bound_is_above_the_threshold(
    estimate: float, error: float, degrees: int, threshold: float
) -> None:
    (claim,) = check_claims([estimate], [error], [degrees], [threshold])
    if abs(claim.bound - threshold) > 1e-9:
        assert (claim.verdict == "holds") == (claim.bound > threshold)
    (opposite,) = check_claims([-estimate], [error], [degrees], [-threshold])
    assert (opposite.verdict == "holds") == (claim.verdict == "refuted")


def test_several_claims_are_adjusted_together() -> None:
    claims = check_claims([0.36, 0.0, np.nan], [0.2, 0.2, np.nan], [1000, 1000, 5], [0.0, 0.0, 0.0])
    assert [claim.verdict for claim in claims] == ["undecided", "undecided", "undecided"]
    assert claims[0].p_value < 0.05 < claims[0].p_adjusted
    with pytest.raises(StatisticsError, match="of one length"):
        check_claims([1.0], [1.0, 2.0], [3.0], [0.0])


def test_chance_to_be_best_of_two_is_a_t_probability() -> None:
    covariance = np.array([[0.04, 0.01], [0.01, 0.09]])  # the difference has the variance .11
    chances = chance_best([0.3, 0.0], covariance, 12, np.random.default_rng(0))
    assert chances[0] == pytest.approx(stats.t.cdf(0.3 / np.sqrt(0.11), 12), abs=0.01)
    assert chances.sum() == pytest.approx(1)
    lower = chance_best([0.3, 0.0], covariance, 12, np.random.default_rng(0), higher_is_better=False)
    assert lower[1] == pytest.approx(chances[0], abs=0.02)


def test_entries_without_a_rating_have_no_chance() -> None:
    chances = chance_best([1.0, np.nan, 1.0], np.diag([1.0, np.nan, 1.0]), 9, np.random.default_rng(0))
    assert chances[1] == 0
    assert chances.sum() == pytest.approx(1)


def test_fragility_counts_the_prompts_behind_a_lead() -> None:
    lead = np.array([9.0, 8.0, *[-0.5] * 20])
    frail = fragility(lead, lambda keep: float(lead[keep].mean()) > 0)
    assert frail.removed is not None
    assert frail.removed.tolist() == [0]
    assert frail.share == pytest.approx(1 / 22)
    firm = fragility(np.ones(20), lambda keep: bool(np.ones(20)[keep].mean() > 0))
    assert firm.removed is None
    assert firm.share == 1
    with pytest.raises(StatisticsError, match="does not hold with all units"):
        fragility(-np.ones(5), lambda _: False)


def test_a_gap_by_hand_is_welchs_test() -> None:
    rng = np.random.default_rng(1)
    old, fresh = rng.normal(size=(30, 2)), rng.normal(size=(20, 2))
    gaps = prompt_gap(old, fresh)
    welch = stats.ttest_ind(
        old[:, 0] - old[:, 1], fresh[:, 0] - fresh[:, 1], equal_var=False, alternative="greater"
    )
    assert gaps.p_value[0] == pytest.approx(welch.pvalue)
    assert gaps.p_value[1] == pytest.approx(1 - welch.pvalue)


def test_sets_of_one_source_are_compared_by_the_analysis_of_covariance() -> None:
    # deviations from the means of the sets, own −1, 1, −2, 2 and others −1, 1, −1, 1: slope 6/4; the means
    # differ by 3 and by 1, so the gap is 3 − 1.5 · 1
    old, fresh = np.array([[5.0, 3.0], [7.0, 5.0]]), np.array([[1.0, 2.0], [5.0, 4.0]])
    gaps = prompt_gap(old, fresh, same_source=True)
    assert gaps.slope[0] == pytest.approx(1.5)
    assert gaps.gap[0] == pytest.approx(1.5)
    assert prompt_gap(old, fresh).gap[0] == pytest.approx(2.0)


def test_entries_that_share_nothing_add_no_noise_to_sets_of_one_source() -> None:
    rng = np.random.default_rng(3)
    old, fresh = rng.normal(size=(400, 2)), rng.normal(size=(400, 2))
    gaps = prompt_gap(old, fresh, same_source=True)
    alone = stats.ttest_ind(old[:, 0], fresh[:, 0], equal_var=False, alternative="greater")
    assert abs(gaps.slope[0]) < 0.1
    assert gaps.p_value[0] == pytest.approx(alone.pvalue, abs=0.03)


def test_harder_prompts_raise_no_flag_even_where_one_source_was_assumed() -> None:
    rng = np.random.default_rng(4)
    old, fresh = rng.normal(size=(100, 3)), rng.normal(size=(100, 3)) - 1
    old[:, 1] += 1
    gaps = prompt_gap(old, fresh, same_source=True)
    assert gaps.slope.tolist() == [1, 1, 1]
    assert gaps.flagged.tolist() == [False, True, False]


def test_harder_prompts_alone_raise_no_flag() -> None:
    rng = np.random.default_rng(2)
    flagged = [
        prompt_gap(rng.normal(size=(100, 5)), rng.normal(size=(100, 5)) - 2).flagged.any() for _ in range(400)
    ]
    assert np.mean(flagged) <= 0.05 + 1.96 * np.sqrt(0.05 * 0.95 / 400)
