import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from beholder.errors import StatisticsError
from beholder.stats.detection import detection


def test_by_hand() -> None:
    # H = 97.5/100, z = 1.959964; F = 49.5/100, z = −.012533
    # d′ = 1.959964 + .012533 = 1.972497; c = −(1.959964 − .012533)/2 = −.973715: leans to "generated"
    found = detection(97, 99, 49, 99)
    assert found.d_prime == pytest.approx(1.972497, abs=2e-6)
    assert found.criterion == pytest.approx(-0.973715, abs=2e-6)


def test_against_scipy() -> None:
    rng = np.random.default_rng(0)
    hits, alarms = rng.integers(0, 51, (2, 40))
    z_hit = stats.norm.ppf((hits + 0.5) / 51)
    z_alarm = stats.norm.ppf((alarms + 0.5) / 51)
    found = detection(hits, 50, alarms, 50)
    np.testing.assert_allclose(found.d_prime, z_hit - z_alarm)
    np.testing.assert_allclose(found.criterion, -0.5 * (z_hit + z_alarm))


@given(st.integers(0, 60), st.integers(0, 60))
def test_laws(hits: int, alarms: int) -> None:
    found = detection(hits, 60, alarms, 60)
    swapped = detection(alarms, 60, hits, 60)
    assert swapped.d_prime == pytest.approx(-found.d_prime)
    assert swapped.criterion == pytest.approx(found.criterion)
    opposite = detection(60 - hits, 60, 60 - alarms, 60)  # says the other thing each time
    assert opposite.d_prime == pytest.approx(-found.d_prime)
    assert opposite.criterion == pytest.approx(-found.criterion)
    assert np.isfinite(found.d_prime)
    assert detection(alarms, 60, alarms, 60).d_prime == 0


def test_nonsense_is_refused() -> None:
    with pytest.raises(StatisticsError, match="hits ≤ signals"):
        detection(11, 10, 0, 10)
    with pytest.raises(StatisticsError, match="false alarms ≤ noises"):
        detection(1, 10, [-1], 10)
