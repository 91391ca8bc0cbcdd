"""Drift, prediction and gold: hand-worked values, the Markov chain against simulation, and simulated raters."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beholder.care.drift import alarm_rates, alarm_threshold, find_drift, steps
from beholder.care.early_quality import STRONGEST, PanelAccuracy, fit_panel, predict_accuracy
from beholder.care.gold_pace import CONSTANT, GoldPace
from beholder.care.gold_schedule import gold_schedule
from beholder.errors import StatisticsError
from beholder.simulate.panels.checked_raters import simulate_alarms, simulate_gold, simulate_prediction
from beholder.simulate.panels.served_gold import simulate_served_gold


class TestDrift:
    def test_by_hand(self) -> None:
        right, wrong = steps(0.9)
        assert [right, wrong] == pytest.approx([math.log(0.75 / 0.9), math.log(2.5)])
        drift = find_drift([1, 0, 0, 1, 1], baseline=0.9)
        # 0, then .916, 1.833, then down by .182 each
        assert drift.statistic == pytest.approx([0, wrong, 2 * wrong, 2 * wrong + right, 2 * wrong + 2 * right])
        assert (drift.alarm, drift.change) == (None, None)

    def test_an_alarm_says_since_when(self) -> None:
        drift = find_drift([1] * 30 + [0] * 8, baseline=0.9)
        assert drift.change == 30
        assert drift.alarm is not None
        assert drift.alarm > 30

    def test_the_chain_against_the_product_of_two_trials(self) -> None:
        # threshold 1.5 needs two wrong answers in a row (.916 each): .3² after two trials
        assert alarm_rates(1.5, [0.7], 0.9, 0.15, 2)[0] == pytest.approx(0.09)

    def test_a_baseline_from_few_trials_needs_a_higher_threshold(self) -> None:
        assert alarm_threshold(0.85, 50.0) > alarm_threshold(0.85, 200.0) > alarm_threshold(0.85)

    @given(st.lists(st.booleans(), max_size=40), st.integers(0, 39))
    def test_a_right_answer_never_raises_the_statistic(self, answers: list[bool], place: int) -> None:
        better = [*answers]
        if place < len(better):
            better[place] = True
        plain, improved = (find_drift(run, baseline=0.8).statistic for run in (answers, better))
        assert np.all(improved <= plain + 1e-12)

    def test_impossible_drop(self) -> None:
        with pytest.raises(StatisticsError):
            steps(0.1, 0.15)

    def test_false_alarms_and_detection(self) -> None:
        rates = simulate_alarms(np.full(2500, 0.85), np.random.default_rng(0))
        assert rates.false_alarms < 0.06  # nominal .045, standard error .004
        assert rates.detected > 0.9


class TestPrediction:
    def test_by_hand(self) -> None:
        # Beta(8, 2) and 4 of 5: (8 + 4)/(10 + 5) = .8
        prediction = predict_accuracy([4], [5], PanelAccuracy(8, 2, 50), next_trials=20)
        assert prediction.value.tolist() == pytest.approx([0.8])
        assert prediction.low[0] < 0.8 < prediction.high[0]

    def test_raters_who_are_alike_give_a_strong_prior(self) -> None:
        panel = fit_panel([80] * 20, [100] * 20)
        assert panel.a + panel.b == pytest.approx(STRONGEST)
        assert panel.mean == pytest.approx(0.8)

    def test_the_fit_finds_a_known_panel(self) -> None:
        rng = np.random.default_rng(0)
        panel = fit_panel(rng.binomial(50, rng.beta(12, 4, 4000)), np.full(4000, 50))
        assert panel.mean == pytest.approx(0.75, abs=0.01)
        assert panel.a + panel.b == pytest.approx(16, rel=0.1)

    def test_five_trials_predict(self) -> None:
        correlation, coverage = simulate_prediction(2000, 5, 200, np.random.default_rng(1))
        assert correlation > 0.35
        assert 0.92 < coverage < 0.98

    def test_impossible_counts(self) -> None:
        with pytest.raises(StatisticsError):
            fit_panel([3], [2])


class TestGold:
    def test_gold_comes_back_with_suspicion(self) -> None:
        schedule = gold_schedule(0.85)
        rates = schedule.rate(np.linspace(0, schedule.threshold, 30))
        assert np.all(np.diff(rates) >= 0)
        assert (rates[0], rates[-1]) == (schedule.calm, 1.0)

    def test_it_costs_less_and_finds_as_much(self) -> None:
        cost = simulate_gold(0.8, 1500, np.random.default_rng(0))
        assert cost.gold <= 0.42
        assert cost.detected > cost.constant_detected - 0.02
        assert cost.false_alarms < 0.06

    def test_as_a_server_does_it_on_the_same_raters(self) -> None:
        served = simulate_served_gold(0.9, 120, np.random.default_rng(1), drawn=0.5)
        assert served.gold <= 0.45
        assert served.detected > 0.9
        assert served.difference == pytest.approx(served.detected - served.constant_detected)
        assert served.difference_low <= served.difference <= served.difference_high

    def test_a_slot_without_gold_finds_nothing_and_costs_nothing(self) -> None:
        served = simulate_served_gold(0.9, 40, np.random.default_rng(1), drawn=0.0)
        assert (served.gold, served.detected, served.false_alarms) == (0, 0, 0)
        assert served.difference == -served.constant_detected

    def test_nobody_is_trusted_at_first(self) -> None:
        pace = GoldPace.constant()
        assert pace.rate == CONSTANT
        assert pace.after(right=True) == pace.after(right=False) == pace
