"""Which pair is shown: propensities that add up, a floor on exposure, and votes where they tell most."""

import numpy as np
import pytest

from beholder.arena.pair_choice import DrawnPair, draw_pair, exposures, plan_arena
from beholder.errors import StatisticsError
from beholder.stats.comparisons.active_pairs import all_pairs


def rated(entries: int, each: int) -> tuple[list[int], list[int], list[float]]:
    """So many votes on each pair of all but the last entry, half won."""
    pairs = [tuple(pair) for pair in all_pairs(entries - 1)]
    rows = [(a, b, float(turn % 2)) for a, b in pairs for turn in range(each)]
    first, second, wins = zip(*rows, strict=True)
    return list(first), list(second), list(wins)


def test_a_new_entry_is_shown_most_and_no_entry_less_than_the_floor() -> None:
    plan = plan_arena(*rated(6, 40), entries=6)
    shown = exposures(plan, 6)
    assert shown.sum() == pytest.approx(2)
    assert shown.argmax() == 5
    assert shown[5] > 0.5 + 0.5 * 2 / 6 - 1e-9  # all informed draws, and its part of the even ones
    assert shown.min() >= 0.5 * 2 / 6 - 1e-12  # half of an even arena's exposure


def test_a_higher_floor_makes_more_draws_even() -> None:
    plan = plan_arena(*rated(6, 40), entries=6, even=0.2, floor=0.8)
    assert plan.exploration == 0.8
    assert exposures(plan, 6).min() >= 0.8 * 2 / 6 - 1e-12
    with pytest.raises(StatisticsError, match="proportion"):
        plan_arena([], [], [], entries=3, floor=1.2)


def test_pairs_are_drawn_with_the_propensity_that_is_logged() -> None:
    plan = plan_arena(*rated(4, 30), entries=4)
    rng = np.random.default_rng(3)
    draws = [draw_pair(plan, rng) for _ in range(6000)]
    index = {tuple(pair): place for place, pair in enumerate(plan.pairs)}
    places = np.array([index[min(d.first, d.second), max(d.first, d.second)] for d in draws])
    counts = np.bincount(places, minlength=len(plan.pairs)) / len(draws)
    # a proportion of 6,000 draws is off by less than 4 standard errors
    assert np.all(np.abs(counts - plan.propensity) < 4 * np.sqrt(plan.propensity * (1 - plan.propensity) / 6000))
    assert all(d.propensity == plan.propensity[place] for d, place in zip(draws, places, strict=True))
    even = np.array([d.even for d in draws])
    assert abs(even.mean() - 0.5) < 4 * 0.5 / np.sqrt(6000)
    among_even = np.bincount(places[even], minlength=6) / even.sum()
    assert np.all(np.abs(among_even - 1 / 6) < 4 * np.sqrt(5 / 36 / even.sum()))
    left = np.mean([d.first < d.second for d in draws])
    assert abs(left - 0.5) < 4 * 0.5 / np.sqrt(6000)


def test_the_same_seed_draws_the_same() -> None:
    plan = plan_arena([], [], [], entries=3)
    first, again = (draw_pair(plan, np.random.default_rng(1)) for _ in range(2))
    assert isinstance(first, DrawnPair)
    assert first == again
