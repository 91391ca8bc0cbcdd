"""Boomerang by hand, its laws, and a market in which it must help."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beholder.care.boomerang import (
    CASCADE,
    UNRATED,
    OpenStudy,
    access_threshold,
    decayed_mean,
    fair_progress,
    reputation,
)
from beholder.errors import StatisticsError
from beholder.simulate.panels.market import Market, simulate_market

RATINGS = st.lists(st.sampled_from([1, 2, 3]), min_size=1, max_size=8)


def test_decayed_mean_by_hand() -> None:
    # (3 + .3·1 + .09·2) / (1 + .3 + .09) = 3.48/1.39
    assert decayed_mean([3, 1, 2]) == pytest.approx(3.48 / 1.39)
    with pytest.raises(StatisticsError):
        decayed_mean([])


@given(RATINGS, st.floats(0, 1))
def test_a_decayed_mean_lies_between_its_ratings(ratings: list[int], decay: float) -> None:
    assert min(ratings) - 1e-9 <= decayed_mean(ratings, decay) <= max(ratings) + 1e-9


def test_reputation_by_hand() -> None:
    assert reputation([2], [3, 1]) == pytest.approx(2 + 0.1 * 2)
    assert reputation([], [3, 2]) == 2.5
    assert reputation([], []) == UNRATED


def test_the_cascade_comes_down_to_everybody() -> None:
    steps = [access_threshold(seconds) for seconds in range(0, 3600, 60)]
    assert sorted(set(steps), reverse=True) == list(CASCADE)
    assert steps == sorted(steps, reverse=True)


def test_fair_progress_by_hand() -> None:
    # pending .75 and .25, recent .5 and .5: the first is behind by .25
    thresholds = fair_progress([2.0, 2.0], [OpenStudy("a", 30, 5), OpenStudy("b", 10, 5)])
    assert thresholds == [1.5, 2.0]
    assert fair_progress([3.0], [OpenStudy("a", 5, 0)]) == [3.0]


def test_well_rated_raters_first_gives_more_accurate_answers() -> None:
    runs = [simulate_market(Market(hour=900.0), np.random.default_rng(seed)) for seed in range(20)]
    gain = np.array([run.boomerang - run.first_come for run in runs])
    assert gain.mean() - 3 * gain.std(ddof=1) / np.sqrt(20) > 0
    assert np.mean([run.newcomers for run in runs]) > 0.1  # it does not shut out who was never rated
