"""QUEST+: hand-worked values, an outside oracle, and recovery of known thresholds."""

import warnings

import numpy as np
import pytest

from beholder.study.quest_plus import BEYOND, LAPSES, SLOPES, THRESHOLDS, quest_plus


def test_a_person_at_threshold_is_right_by_hand() -> None:
    # At t = threshold the exponent is 10^0 = 1: p = .5 + (.5 − λ)(1 − e^−1) = .5 + .5 · .63212 = .81606 for λ = 0.
    grid = quest_plus(100, 1000)
    # A rater whose threshold is the k-th of the grid, shown 100 ms: x = 10^(slope · (2 − log10 threshold)).
    k = 5 * len(SLOPES) * len(LAPSES)  # the sixth threshold, with the first slope (1) and lapse (0)
    steep = 100 / grid.thresholds[k]
    assert grid.right[0, k] == pytest.approx(0.5 + 0.5 * (1 - np.exp(-steep)), abs=1e-12)
    assert 0.5 + 0.5 * (1 - np.exp(-1)) == pytest.approx(0.81606, abs=1e-5)


def test_the_posterior_follows_bayes_rule_by_hand() -> None:
    grid = quest_plus(100, 1000)
    exposure = float(grid.exposures[10])
    by_hand = grid.right[10] * (1 - grid.right[10])  # one right and one wrong answer at the same exposure
    np.testing.assert_allclose(
        grid.posterior([exposure, exposure], [True, False]), by_hand / by_hand.sum(), rtol=1e-12
    )


def test_next_exposures_agree_with_the_questplus_package() -> None:
    questplus = pytest.importorskip("questplus")
    grid = quest_plus(100, 1000)
    low, high = np.log10(100), np.log10(1000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        oracle = questplus.QuestPlus(
            stim_domain={"intensity": np.log10(grid.exposures)},
            param_domain={
                "threshold": np.linspace(low - BEYOND, high + BEYOND, THRESHOLDS),
                "slope": list(SLOPES),
                "lower_asymptote": [0.5],
                "lapse_rate": list(LAPSES),
            },
            outcome_domain={"response": ["Yes", "No"]},
            func="weibull",
            stim_scale="log10",
            stim_selection_method="min_entropy",
        )
        rng = np.random.default_rng(3)
        past_exposures: list[float] = []
        right: list[bool] = []
        for _ in range(12):
            exposure = grid.next_exposure(past_exposures, right)
            theirs = 10 ** oracle.next_stim["intensity"]
            assert exposure == pytest.approx(theirs, rel=1e-6)
            answer = bool(rng.random() < 0.5 + 0.5 * (1 - np.exp(-((exposure / 300) ** 2))))
            oracle.update(stim={"intensity": np.log10(exposure)}, outcome={"response": "Yes" if answer else "No"})
            past_exposures.append(exposure)
            right.append(answer)


@pytest.mark.parametrize("threshold", [180.0, 300.0, 550.0])
def test_known_thresholds_are_recovered(threshold: float) -> None:
    grid = quest_plus(100, 1000)
    rng = np.random.default_rng(5)
    thresholds = []
    for _ in range(8):
        past_exposures: list[float] = []
        right: list[bool] = []
        for _ in range(100):
            exposure = grid.next_exposure(past_exposures, right)
            chance = 0.5 + 0.5 * (1 - np.exp(-((exposure / threshold) ** 2)))
            past_exposures.append(exposure)
            right.append(bool(rng.random() < chance))
        thresholds.append(grid.threshold(past_exposures, right))
    assert float(np.mean(thresholds)) == pytest.approx(threshold, rel=0.12)
