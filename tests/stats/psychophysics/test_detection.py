import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from beholder.errors import StatisticsError
from beholder.stats.psychophysics.detection import detection


def test_by_hand() -> None:
    # H = 97.5/100, z = 1.959964; F = 49.5/100, z = −.012533
    # d′ = 1.959964 + .012533 = 1.972497; c = −(1.959964 − .012533)/2 = −.973715: leans to "generated"
    detected = detection(97, 99, 49, 99)
    assert detected.d_prime == pytest.approx(1.972497, abs=2e-6)
    assert detected.criterion == pytest.approx(-0.973715, abs=2e-6)


def test_against_scipy() -> None:
    rng = np.random.default_rng(0)
    hits, alarms = rng.integers(0, 51, (2, 40))
    z_hit = stats.norm.ppf((hits + 0.5) / 51)
    z_alarm = stats.norm.ppf((alarms + 0.5) / 51)
    detected = detection(hits, 50, alarms, 50)
    np.testing.assert_allclose(detected.d_prime, z_hit - z_alarm)
    np.testing.assert_allclose(detected.criterion, -0.5 * (z_hit + z_alarm))


@given(st.integers(0, 60), st.integers(0, 60))
def test_laws(hits: int, alarms: int) -> None:
    detected = detection(hits, 60, alarms, 60)
    swapped = detection(alarms, 60, hits, 60)
    assert swapped.d_prime == pytest.approx(-detected.d_prime)
    assert swapped.criterion == pytest.approx(detected.criterion)
    opposite = detection(60 - hits, 60, 60 - alarms, 60)  # says the other thing each time
    assert opposite.d_prime == pytest.approx(-detected.d_prime)
    assert opposite.criterion == pytest.approx(-detected.criterion)
    assert np.isfinite(detected.d_prime)
    assert detection(alarms, 60, alarms, 60).d_prime == 0


def test_nonsense_is_refused() -> None:
    with pytest.raises(StatisticsError, match="hits ≤ signals"):
        detection(11, 10, 0, 10)
    with pytest.raises(StatisticsError, match="false alarms ≤ noises"):
        detection(1, 10, [-1], 10)


def test_a_prime_by_hand() -> None:
    # 7 of 9 and 2 of 9: H = 7.5/10, F = 2.5/10; A′ = ½ + .5 · 1.5/(4 · .75 · .75) = .833333; exchanged, 1 − that
    assert detection(7, 9, 2, 9).a_prime == pytest.approx(5 / 6)
    assert detection(2, 9, 7, 9).a_prime == pytest.approx(1 / 6)
    assert detection(4, 9, 4, 9).a_prime == pytest.approx(0.5)


def test_standard_error_by_hand() -> None:
    # H = F = ½ on 100 trials each: var z = ¼/(100 · (1/2π)) = π/200 each; SE d′ = √(π/100) = .177245, criterion
    # half
    detected = detection(50, 100, 50, 100)
    assert detected.d_prime_error == pytest.approx(0.177245, abs=1e-6)
    assert detected.criterion_error == pytest.approx(0.177245 / 2, abs=1e-6)
    low, high = detected.d_prime_interval()
    np.testing.assert_allclose([low, high], [-0.347394, 0.347394], atol=1e-5)
    assert np.isnan(detection(0, 0, 3, 9).d_prime_error)
    with pytest.raises(StatisticsError, match="level"):
        detected.d_prime_interval(1.0)


def test_interval_holds_the_truth() -> None:
    rng = np.random.default_rng(1)
    truth = 1.2
    hits, alarms = (rng.binomial(100, stats.norm.cdf(shift), 4000) for shift in (truth / 2, -truth / 2))
    low, high = detection(hits, 100, alarms, 100).d_prime_interval()
    assert np.mean((low <= truth) & (truth <= high)) == pytest.approx(0.95, abs=0.012)


@given(st.integers(0, 60), st.integers(0, 60))
def test_a_prime_laws(hits: int, alarms: int) -> None:
    detected, swapped = detection(hits, 60, alarms, 60), detection(alarms, 60, hits, 60)
    assert 0 <= detected.a_prime <= 1
    assert swapped.a_prime == pytest.approx(1 - detected.a_prime)
    assert (detected.a_prime >= 0.5) == (hits >= alarms)
