import numpy as np
import pytest
from numpy.typing import NDArray

from beholder.errors import StatisticsError
from beholder.stats.psychophysics.staircase_analysis import (
    balanced_proportion,
    equilibrium,
    modal_level,
    reversals,
    summarise_staircase,
)
from beholder.study.kinds.timed_realism import TimedRealismQuestion
from beholder.study.staircase import implied_target

EXPOSURES = np.arange(100.0, 1001.0, 10.0)


def chance_right(levels: NDArray[np.float64], threshold: float, guess: float) -> NDArray[np.float64]:
    return np.asarray(guess + (1 - guess) * (1 - np.exp(-np.log(2) * (levels / threshold) ** 2.5)))


def test_reversals_by_hand() -> None:
    # 5 4 3 | 4 5 5 | 4 | 5: it turned at 3 (trial 2), at the second 5 (trial 5), and at 4 (trial 6)
    assert reversals([5, 4, 3, 4, 5, 5, 4, 5]).tolist() == [2, 5, 6]
    assert reversals([5, 5, 5]).tolist() == []
    assert modal_level([3, 5, 5, 3, 4]) == 3


def test_summary_by_hand() -> None:
    levels = [5, 4, 3, 4, 5, 5, 4, 5]
    run = summarise_staircase(levels, [1, 1, 0, 0, 1, 1, 0, 1], floor=3, ceiling=5, skip_reversals=1)
    assert (run.mode, run.reversal_mean, run.reversals) == (5, 4.5, 3)
    assert (run.floor_rate, run.ceiling_rate, run.proportion_correct) == (1 / 8, 4 / 8, 5 / 8)
    assert not run.converged
    assert np.isnan(summarise_staircase(levels, np.ones(8), floor=3, ceiling=5).reversal_mean)


@pytest.mark.parametrize(
    ("down", "up", "row", "proportion"), [(30, 10, 1, 0.25), (10, 30, 1, 0.75), (30, 10, 3, 0.25 ** (1 / 3))]
)
def test_published_rules_balance_at(down: int, up: int, row: int, proportion: float) -> None:
    # HYPE as printed 25 %, as meant 75 %, three in a row 63 %
    assert balanced_proportion(down=down, up=up, right_in_a_row=row) == pytest.approx(proportion, abs=1e-10)
    assert implied_target(step_down=down, step_up=up, right_in_a_row=row) == pytest.approx(proportion)
    # a long staircase over an observer who may be right by any share settles there
    levels = np.arange(0.0, 2001.0, 10.0)
    slow = np.clip(levels / 2000, 0.01, 0.99)
    balance = equilibrium(slow, levels, down=down // 10, up=up // 10, right_in_a_row=row)
    assert balance.proportion_correct == pytest.approx(proportion, abs=0.01)
    assert balance.mean_level / 2000 == pytest.approx(proportion, abs=0.01)


def test_two_levels_by_hand() -> None:
    # right with .6 on the low and .9 on the high level, one step each way: from low up with .4, from high down
    # with .9; π_low · .4 = π_high · .9, so 9/13 and 4/13; share right (9 · .6 + 4 · .9)/13 = 9/13
    balance = equilibrium([0.6, 0.9], [1.0, 2.0], down=1, up=1)
    np.testing.assert_allclose(balance.distribution, [9 / 13, 4 / 13])
    assert balance.proportion_correct == pytest.approx(9 / 13)


def test_the_printed_steps_drive_everyone_to_the_floor() -> None:
    chance = chance_right(EXPOSURES, 350, 0.5)
    printed = equilibrium(chance, EXPOSURES, down=3, up=1)
    assert printed.distribution[:2].sum() > 0.6
    assert printed.mean_level < 115
    meant = equilibrium(chance, EXPOSURES, down=1, up=3)
    assert meant.proportion_correct == pytest.approx(0.75, abs=0.005)
    assert meant.mean_level == pytest.approx(350, rel=0.04)


@pytest.mark.parametrize(("down", "up", "row"), [(10, 30, 1), (30, 10, 3)])
def test_against_simulated_staircases(down: int, up: int, row: int) -> None:
    question = TimedRealismQuestion(name="q", step_down_ms=down, step_up_ms=up, right_in_a_row=row)
    expected = equilibrium(
        chance_right(EXPOSURES, 350, 0.5), EXPOSURES, down=down // 10, up=up // 10, right_in_a_row=row
    )
    rng = np.random.default_rng(1)
    levels, answers, exposure, so_far = [], [], 500.0, 0
    luck = rng.random(20_000)
    chance = dict(zip(EXPOSURES.tolist(), chance_right(EXPOSURES, 350, 0.5).tolist(), strict=True))
    for draw in luck:
        levels.append(exposure)
        answers.append(bool(draw < chance[exposure]))
        exposure, so_far = question.next_exposure(exposure, so_far, right=answers[-1])
    assert np.mean(answers[100:]) == pytest.approx(expected.proportion_correct, abs=0.006)
    assert np.mean(levels[100:]) == pytest.approx(expected.mean_level, rel=0.02)
    run = summarise_staircase(levels, answers, floor=100, ceiling=1000)
    assert run.converged
    assert run.reversal_mean == pytest.approx(expected.mean_level, rel=0.05)


def test_degenerate_and_nonsense() -> None:
    stuck = summarise_staircase([100.0] * 10, [1] * 10, floor=100, ceiling=1000)
    assert (stuck.mode, stuck.floor_rate, stuck.reversals, stuck.converged) == (100, 1, 0, False)
    certain = equilibrium([0.0, 1.0], [1.0, 2.0], down=1, up=1)  # wrong below, right above: half the time each
    np.testing.assert_allclose(certain.distribution, [0.5, 0.5], atol=1e-6)
    with pytest.raises(StatisticsError, match="one length"):
        summarise_staircase([1.0], [1, 0], floor=0, ceiling=2)
    with pytest.raises(StatisticsError, match="0 or 1"):
        summarise_staircase([1.0], [0.5], floor=0, ceiling=2)
    with pytest.raises(StatisticsError, match="above 0"):
        balanced_proportion(down=0, up=1)
    with pytest.raises(StatisticsError, match="chance in"):
        equilibrium([0.5, 1.5], [1, 2], down=1, up=1)
