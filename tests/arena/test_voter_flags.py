"""Flags of voters and of rings: single rules by hand, and a ring that is planted."""

import numpy as np
import pytest
from scipy import special

from beholder.arena.voter_flags import find_rings, flag_voters, image_gaps
from beholder.errors import StatisticsError


def test_each_rule_by_itself() -> None:
    # voter 0 alternates in 4 s; 1 votes left 20 times: 2 · 2⁻²⁰ < 10⁻⁴; 2 is fast; 3 fails 5 checks: .15⁵ < 10⁻³
    who = np.repeat(np.arange(4), 20)
    left = np.concatenate([np.tile([0.0, 1.0], 10), np.ones(20), np.tile([0.0, 1.0], 10), np.tile([0.0, 1.0], 10)])
    seconds = np.repeat([4.0, 4.0, 0.3, 4.0], 20)
    flags = flag_voters(who, left, seconds, [0, 0, 3, 3, 3, 3, 3], [1, 0, 1, 1, 1, 1, 1], voters=5)
    assert flags.sided.tolist() == [False, True, False, False, False]
    assert flags.fast.tolist() == [False, False, True, False, False]
    assert flags.careless.tolist() == [False, False, False, True, False]
    assert flags.any.tolist() == [False, True, True, True, False]


def test_few_votes_to_one_side_are_no_flag() -> None:
    # 2 · 2⁻¹³ = 2.4e-4 is not below 1e-4, 2 · 2⁻¹⁵ = 6e-5 is
    for count, flagged in ((13, False), (15, True)):
        flags = flag_voters(np.zeros(count, int), np.ones(count), np.full(count, 4.0), [], [], voters=1)
        assert bool(flags.sided[0]) is flagged


def test_columns_of_two_lengths_are_refused() -> None:
    with pytest.raises(StatisticsError, match="one length"):
        flag_voters([0, 0], [1.0], [1.0], [], [], voters=1)


def ring(planted: bool) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(9)
    who = np.repeat(np.arange(60), 40)
    first = rng.integers(0, 4, len(who))
    second = (first + rng.integers(1, 4, len(who))) % 4
    taste = rng.normal(0, 0.3, (60, 4))
    chance = special.expit(taste[who, first] - taste[who, second])
    if planted:
        chance = np.where((who < 8) & (first == 2), 0.95, np.where((who < 8) & (second == 2), 0.05, chance))
    return who, first, second, (rng.random(len(who)) < chance).astype(float)


@pytest.mark.parametrize("planted", [True, False])
def test_a_ring_is_found_where_there_is_one(planted: bool) -> None:
    who, first, second, wins = ring(planted)
    rng = np.random.default_rng(1)
    found = find_rings(who, first, second, wins, np.zeros(len(wins)), voters=60, entries=4, rng=rng, worlds=120)
    assert found.detected.tolist() == [False, False, planted, False]
    if planted:
        assert found.member[:8].mean() >= 0.75
    assert found.member[8:].mean() < 0.05


def test_gaps_of_images_by_hand() -> None:
    # two images, three votes to one: the peak of 3 log p + log (1 − p) − θ₀²/2 − θ₁²/2 with θ₁ = −θ₀ and
    # p = expit(2 θ₀) has 3 − 4p = θ₀
    gap = image_gaps([0, 0, 0, 1], [1, 1, 1, 0], [1, 1, 1, 1], images=2)
    theta = gap[0] / 2
    assert 3 - 4 * special.expit(2 * theta) == pytest.approx(theta, abs=1e-6)
    assert gap[3] == pytest.approx(-gap[0])
