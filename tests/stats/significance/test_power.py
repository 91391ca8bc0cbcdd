import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.power import normal_power_het, zt_ind_solve_power

from beholder.errors import StatisticsError
from beholder.stats.significance.power import (
    design_effect,
    means_group,
    means_power,
    preference_power,
    preference_votes,
    proportions_group,
    proportions_power,
)


def test_by_hand() -> None:
    # z.975 = 1.959964, z.8 = .841621; preference of 60 %:
    # (1.959964 · .5 + .841621 · √.24)/.1 = (.979982 + .412308)/.1 = 13.9229, squared 193.85 → 194
    assert preference_votes(0.60) == 194
    # means, Δ .5, sd .9: 2 · .81 · (2.801585)²/.25 = 2 · .81 · 7.848879/.25 = 50.86 → 51
    assert means_group(0.5, 0.9) == 51
    assert design_effect(200, 0.05) == pytest.approx(10.95)


@pytest.mark.parametrize(("proportion", "votes"), [(0.52, 4904), (0.55, 783), (0.60, 194), (0.48, 4904)])
def test_published_preferences(proportion: float, votes: int) -> None:
    assert preference_votes(proportion) == votes


def test_published_proportions_and_means() -> None:
    assert proportions_group(0.50, 0.45) == 1565
    assert [means_group(d, 0.9) for d in (0.1, 0.2, 0.3, 0.5)] == [1272, 318, 142, 51]


def test_against_statsmodels() -> None:
    solved = zt_ind_solve_power(effect_size=0.2 / 0.9, alpha=0.05, power=0.8)
    assert means_group(0.2, 0.9) == int(solved) + 1
    # power of a one-sample z test with different spread under the null and the alternative
    expected = normal_power_het(0.05, 700, 0.05, std_null=0.5, std_alternative=(0.55 * 0.45) ** 0.5)
    assert preference_power(0.55, 700) == pytest.approx(expected, abs=1e-4)
    expected = normal_power_het(0.05, 900, 0.05, std_null=(2 * 0.475 * 0.525) ** 0.5, std_alternative=0.4975**0.5)
    assert proportions_power(0.50, 0.45, 900) == pytest.approx(expected, abs=1e-4)


@given(st.floats(0.51, 0.95), st.floats(0.5, 0.99))
def test_power_inverts_sample_size(proportion: float, power: float) -> None:
    votes = preference_votes(proportion, power=power)
    assert preference_power(proportion, votes) >= power - 1e-6
    if votes > 1:
        assert preference_power(proportion, votes - 1) <= power + 1e-6
    group = proportions_group(proportion, 0.4, power=power)
    assert proportions_power(proportion, 0.4, group) >= power - 1e-6
    ratings = means_group(proportion, 1.3, power=power)
    assert means_power(proportion, 1.3, ratings) >= power - 1e-6


@given(st.floats(0.51, 0.9), st.floats(0.0, 0.09))
def test_a_larger_difference_needs_no_more(proportion: float, more: float) -> None:
    assert preference_votes(proportion + more) <= preference_votes(proportion)
    assert preference_votes(proportion, alpha=0.01) >= preference_votes(proportion)
    assert proportions_group(proportion, 0.4) == proportions_group(0.4, proportion)


def test_nonsense_is_refused() -> None:
    with pytest.raises(StatisticsError, match=r"difference of 0\.0"):
        preference_votes(0.5)
    with pytest.raises(StatisticsError, match="between 0 and 1"):
        proportions_group(1.0, 0.5)
    with pytest.raises(StatisticsError, match="standard deviation"):
        means_group(1, 0)
    with pytest.raises(StatisticsError, match="power"):
        means_group(1, 1, power=1.0)
    with pytest.raises(StatisticsError, match="α"):
        means_group(1, 1, alpha=0.0)
    with pytest.raises(StatisticsError, match="correlation"):
        design_effect(10, 1.5)
    with pytest.raises(StatisticsError, match="at least 1"):
        preference_power(0.6, 0)
