"""Habits of voters: ratios by hand, proportions of habits, few false flags, and probes that are clear."""

import numpy as np
import pytest
from scipy import special

from beholder.arena.suspicion import FALSE_FLAGS, LAPSE, LEAST_PROBABILITY, Suspicion, probe_pairs, suspect_voters
from beholder.errors import StatisticsError


def test_ratios_by_hand() -> None:
    # Without taste or doubt an honest voter prefers the first with .01 + .98/2 = .5 at odds 0. Two wins of entry 0
    # over entry 1: a ring of 0 has (.85/.5)² = 2.89, a ring of 1 (.15/.5)² = .09, a coin 1. A failed identical
    # pair makes the coin .5/.15 as likely, a passed one .5/.85.
    votes = ([0, 0], [0, 0], [1, 1], [1.0, 1.0], [0.0, 0.0], [0.0, 0.0])
    weighed = suspect_voters(*votes, voters=1, entries=2, taste=0.0, identical=([0, 0], [True, False]))
    assert np.exp(weighed.ring[0]) == pytest.approx([2.89, 0.09])
    assert np.exp(weighed.coin[0]) == pytest.approx(0.5 / 0.15 * 0.5 / 0.85)
    # at odds log 4 for the first, that it loses has a chance of .01 + .98 · .2 = .206
    clear = suspect_voters([0], [0], [1], [0.0], [np.log(4)], [0.0], voters=1, entries=2, taste=0.0)
    assert np.exp(clear.ring[0, 1]) == pytest.approx(0.85 / 0.206)
    assert np.exp(clear.coin[0]) == pytest.approx(0.5 / 0.206)
    assert LAPSE == 0.02


def test_ties_count_for_nothing_and_columns_must_fit() -> None:
    tie = suspect_voters([0], [0], [1], [0.5], [2.0], [0.0], voters=1, entries=2, taste=0.3)
    assert tie.ring == pytest.approx(np.zeros((1, 2)), abs=1e-12)
    assert tie.coin.tolist() == [0.0]
    with pytest.raises(StatisticsError, match="one length"):
        suspect_voters([0], [0], [1], [1.0], [2.0, 1.0], [0.0, 0.0], voters=1, entries=2, taste=0.3)


def test_habits_are_as_common_as_they_are_and_few_honest_voters_are_flagged() -> None:
    # 100 voters: ten speak clearly for a ring of entry 1, five for the coin, the others clearly against all
    ring, coin = np.full((100, 3), -8.0), np.full(100, -8.0)
    ring[:10, 1], coin[10:15] = 9.0, 9.0
    suspicion = Suspicion(ring, coin)
    assert suspicion.shares == pytest.approx([0, 0.1, 0, 0.05], abs=0.002)
    assert np.flatnonzero(suspicion.flagged).tolist() == list(range(15))
    assert suspicion.habits()[:16].tolist() == [1] * 10 + [-1] * 5 + [-2]
    # of voters who are all a little suspect, few are flagged: 1.5 honest ones in a hundred are expected
    weak = Suspicion(np.full((100, 3), -8.0), np.log(np.full(100, 1.2)))
    expected = float((1 - weak.probability[weak.flagged]).sum())
    assert expected <= 100 * FALSE_FLAGS
    assert not weak.flagged[weak.probability < LEAST_PROBABILITY].any()


def test_probes_are_clear_against_the_habit() -> None:
    first, second = np.array([0, 0, 1, 2]), np.array([1, 2, 2, 0])
    gap, sure = np.array([-3.0, 3.0, 0.0, 3.0]), np.zeros(4)
    assert set(probe_pairs(0, first, second, gap, sure).tolist()) == {0, 3}  # 0 loses to 1 and to 2
    assert probe_pairs(1, first, second, gap, sure).tolist() == []
    assert set(probe_pairs(-1, first, second, gap, sure).tolist()) == {0, 1, 3}  # honest voters are clear


def test_a_planted_ring_and_bots_are_told_from_honest_voters() -> None:
    rng = np.random.default_rng(4)
    quality = rng.normal(0, 1.5, 60)  # 3 entries of 20 images
    who = np.repeat(np.arange(120), 40)
    first, second = (rng.integers(0, 3, len(who)) for _ in range(2))
    second = np.where(first == second, (first + 1) % 3, second)
    prompt = rng.integers(0, 20, len(who))
    gap = quality[20 * first + prompt] - quality[20 * second + prompt]
    chance = np.where(who < 6, np.where(first == 2, 0.85, np.where(second == 2, 0.15, special.expit(gap))), 0.5)
    chance = np.where(who < 12, chance, special.expit(gap))
    wins = (rng.random(len(who)) < chance).astype(float)
    weighed = suspect_voters(who, first, second, wins, gap, np.zeros(len(who)), voters=120, entries=3, taste=0.1)
    assert weighed.flagged[:12].mean() >= 0.9
    assert weighed.flagged[12:].mean() <= 0.02
