import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beholder.errors import StatisticsError
from beholder.stats.correlation.pair_accuracy import Ties, pair_accuracy, pairs_within
from beholder.stats.intervals.bootstrap import rater_weights

# prompt 0: right, wrong, raters tie; prompt 1: scores tie; prompt 2: right
FIRST, SECOND = [3, 1, 5, 2, 9], [1, 2, 4, 2, 8]
PREFERENCES, PROMPTS = [1, 1, 0, -1, 4], [0, 0, 0, 1, 2]


@pytest.mark.parametrize(
    ("ties", "micro", "macro"),
    [
        ("half", 2.5 / 4, (0.5 + 0.5 + 1) / 3),
        ("wrong", 2 / 4, (0.5 + 0 + 1) / 3),
        ("drop", 2 / 3, (0.5 + 1) / 2),
    ],
)
def test_by_hand(ties: Ties, micro: float, macro: float) -> None:
    accuracy = pair_accuracy(FIRST, SECOND, PREFERENCES, groups=PROMPTS, ties=ties)
    assert (accuracy.micro, accuracy.macro) == pytest.approx((micro, macro))
    assert (accuracy.rater_ties, accuracy.score_ties, accuracy.ties) == (1, 1, ties)


def test_without_groups_micro_is_macro() -> None:
    accuracy = pair_accuracy(FIRST, SECOND, PREFERENCES)
    assert accuracy.micro == pytest.approx(accuracy.macro) == pytest.approx(2.5 / 4)


@given(st.integers(0, 2**32 - 1))
def test_laws(seed: int) -> None:
    rng = np.random.default_rng(seed)
    first, second = rng.integers(0, 6, (2, 40))
    lead, prompts = rng.integers(-2, 3, 40), rng.integers(0, 5, 40)
    accuracy = pair_accuracy(first, second, lead, groups=prompts)
    turned = pair_accuracy(second, first, -lead, groups=prompts)  # the images exchanged
    assert (turned.micro, turned.macro) == pytest.approx((accuracy.micro, accuracy.macro))
    opposite = pair_accuracy(-first, -second, lead, groups=prompts)  # half right: the two add up to one
    assert accuracy.micro + opposite.micro == pytest.approx(1)
    assert pair_accuracy(np.exp(first), np.exp(second), lead).micro == pytest.approx(accuracy.micro)
    perfect = pair_accuracy(lead, np.zeros(40), lead)
    assert perfect.micro == 1
    strict = pair_accuracy(first, second, lead, groups=prompts, ties="wrong")
    assert strict.micro <= accuracy.micro


def test_intervals_resample_groups() -> None:
    rng = np.random.default_rng(0)
    prompts = np.repeat(np.arange(60), 5)
    chance = rng.beta(6, 3, 60)[prompts]
    right = rng.random(300) < chance
    accuracy = pair_accuracy(np.where(right, 1, -1), np.zeros(300), np.ones(300), groups=prompts)
    weights = rater_weights(np.zeros(60, np.int64), 2000, rng)
    micro, macro = accuracy.micro_estimate(weights), accuracy.macro_estimate(weights)
    assert micro.value == pytest.approx(accuracy.micro)
    assert macro.value == pytest.approx(accuracy.macro)
    by_prompt = right.reshape(60, 5).mean(axis=1)
    half = 2 * by_prompt.std(ddof=1) / np.sqrt(60)
    assert macro.high - macro.low == pytest.approx(2 * half, rel=0.1)
    assert micro.raters == 60


def test_no_pair_left() -> None:
    accuracy = pair_accuracy([1, 1], [1, 2], [1, 0], ties="drop")
    assert np.isnan([accuracy.micro, accuracy.macro]).all()
    assert accuracy.pairs.tolist() == [0, 0]


def test_nonsense_is_refused() -> None:
    with pytest.raises(StatisticsError, match="one length"):
        pair_accuracy([1], [1, 2], [1, 0])
    with pytest.raises(StatisticsError, match="finite"):
        pair_accuracy([1, np.nan], [1, 2], [1, 0])
    with pytest.raises(StatisticsError, match="'never'"):
        pair_accuracy([1], [2], [1], ties="never")  # type: ignore[arg-type]
    with pytest.raises(StatisticsError, match="integer index"):
        pair_accuracy([1], [2], [1], groups=[0.5])


def test_every_two_rows_of_one_group() -> None:
    first, second = pairs_within(np.array([1, 0, 1, 1, 2]))
    assert sorted(zip(first.tolist(), second.tolist(), strict=True)) == [(0, 2), (0, 3), (2, 3)]
    assert all(len(side) == 0 for side in pairs_within(np.arange(3)))
