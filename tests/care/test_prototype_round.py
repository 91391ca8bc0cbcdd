"""Prototype rounds: the size, the rule, and its exact error rates against plain binomials."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as distributions

from beholder.care.prototype_round import (
    PrototypeRule,
    prototype_rule,
    prototype_size,
    rule_properties,
)
from beholder.errors import StatisticsError


def test_size() -> None:
    assert prototype_size(50, 30) == (7, 5)
    assert prototype_size(1, 1) == (1, 1)
    with pytest.raises(StatisticsError):
        prototype_size(0, 5)


def test_a_round_of_fixed_size_is_a_binomial_test() -> None:
    # 14 raters at once: evidence > 0 from log(8)·k + (14 − k)·log(.6/.95) > 0, that is k ≥ 3
    rule = PrototypeRule(14, 14)
    assert [rule.decide(14 - k, k) for k in (2, 3)] == ["publish", "revise"]
    for chance in (0.05, 0.4):
        assert rule_properties(rule, chance).stopped == pytest.approx(distributions.binom.sf(2, 14, chance))
        assert rule_properties(rule, chance).mean_raters == pytest.approx(14)


@pytest.mark.parametrize("raters", [4, 16, 25, 64, 100, 400, 2500])
def test_error_rates_hold_for_studies_of_any_size(raters: int) -> None:
    rule = prototype_rule(raters)
    assert rule.first_raters == int(np.sqrt(raters))
    assert rule_properties(rule, 0.4).stopped >= 0.95
    assert rule_properties(rule, 0.05).stopped <= 0.05


def test_the_exact_rate_against_simulated_rounds() -> None:
    rule, rng = prototype_rule(25), np.random.default_rng(0)
    stopped = 0
    for _ in range(2000):
        publish = revise = 0
        while (decision := rule.decide(publish, revise)) == "ask more":
            is_revise = rng.random() < 0.2
            publish, revise = publish + (not is_revise), revise + is_revise
        stopped += decision == "revise"
    assert stopped / 2000 == pytest.approx(rule_properties(rule, 0.2).stopped, abs=0.035)


def test_few_votes_to_publish_always_stop() -> None:
    rule = PrototypeRule(3, 3, notice=0.9, false_report=0.6)
    assert rule.evidence(1, 2) < 0  # the evidence alone would publish; a third of the votes is below .66
    assert rule.decide(1, 2) == "revise"


@given(st.floats(0.0, 0.95), st.floats(0.0, 0.05))
def test_more_who_vote_to_revise_stop_more_often(chance: float, more: float) -> None:
    rule = prototype_rule(25)
    assert rule_properties(rule, chance + more).stopped >= rule_properties(rule, chance).stopped - 1e-12


def test_impossible_rules() -> None:
    with pytest.raises(StatisticsError, match="notice"):
        prototype_rule(25, notice=0.05, false_report=0.1)
    with pytest.raises(StatisticsError, match="no round"):
        prototype_rule(25, notice=0.06, false_report=0.05)
