import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats
from scipy.spatial.distance import cdist

from beholder.distances.realism import realism, realism_scores
from beholder.errors import StatisticsError

Floats = NDArray[np.float64]


def by_definition(real: Floats, generated: Floats, k: int) -> Floats:
    radius = np.sort(cdist(real, real), axis=1)[:, k]
    narrow = radius <= np.median(radius)
    return np.asarray((radius[narrow, None] / cdist(real[narrow], generated)).max(axis=0))


def test_by_hand() -> None:
    # k = 1, real 0, 1, 3, 7: radii 1, 1, 2, 4, median 1.5, so 0 and 1 count: 0.5 → 1/0.5; 2 → 1/1; 11 → 1/10
    real, generated = [[0.0], [1.0], [3.0], [7.0]], [[0.5], [2.0], [11.0]]
    assert realism_scores(real, generated, k=1) == pytest.approx([2.0, 1.0, 0.1])
    assert realism(real, generated, k=1).value == pytest.approx(1)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=15)
def test_definition_and_laws(seed: int) -> None:
    rng = np.random.default_rng(seed)
    real, generated = rng.normal(size=(80, 5)), rng.normal(0.3, 1, (60, 5))
    scores = realism_scores(real, generated)
    assert scores == pytest.approx(by_definition(real, generated, 5), rel=1e-9)
    distance = realism(real, generated)
    assert distance.value == pytest.approx(np.median(scores))
    assert distance.low <= distance.value <= distance.high
    rotation = stats.ortho_group.rvs(5, random_state=rng)
    assert realism_scores(2 * real @ rotation + 1, 2 * generated @ rotation + 1) == pytest.approx(scores, rel=1e-6)
    away = [realism(real, real + shift).value for shift in (0.5, 2, 8)]
    assert away == sorted(away, reverse=True)


def test_interval_holds_the_median() -> None:
    # of 10 values, the 2nd and 9th hold the median with probability 1 − 2 · 11/1024 = .979, 3rd and 8th with .891
    real = np.arange(12.0)[:, None]
    generated = 20 + np.arange(10.0)[:, None]
    distance = realism(real, generated)
    ordered = np.sort(realism_scores(real, generated))
    assert (distance.low, distance.high) == (ordered[1], ordered[8])


def test_copies() -> None:
    rng = np.random.default_rng(0)
    real = rng.normal(size=(40, 3))
    assert realism(real, real).high == np.inf  # an image that equals a real one
    assert realism(np.ones((9, 2)), np.ones((9, 2)) + 1).value == 0  # no ball has an inside
    with pytest.raises(StatisticsError, match="needed are at least 6 for k = 5 neighbours"):
        realism(np.ones((5, 2)), np.ones((9, 2)))
