"""Error–time curves: a known curve is found again, with its price."""

from decimal import Decimal

import numpy as np
import pytest

from beholder.care.effort import measure_effort
from beholder.errors import StatisticsError

LIMITS = np.array([0.5, 1, 2, 4, 8])


def test_a_known_curve() -> None:
    # floor .1, chance .5, τ = 2 s: area (.5 − .1)·2 = .8; 5 % left after 2·log 20 = 5.99 s
    rates = 0.1 + 0.4 * np.exp(-LIMITS / 2)
    effort = measure_effort(LIMITS, np.round(rates * 100_000), np.full(5, 100_000), np.random.default_rng(0))
    assert effort.area.value == pytest.approx(0.8, rel=0.02)
    assert effort.seconds.value == pytest.approx(2 * np.log(20), rel=0.02)
    assert effort.floor == pytest.approx(0.1, abs=0.01)
    assert effort.price_cents(Decimal(12)) == 2  # 6 s at a third of a cent per second, rounded up


def test_a_harder_task_takes_longer() -> None:
    rng = np.random.default_rng(1)
    easy, hard = (
        measure_effort(LIMITS, rng.binomial(200, 0.05 + 0.45 * np.exp(-LIMITS / tau)), [200] * 5, rng)
        for tau in (0.5, 3.0)
    )
    assert easy.seconds.high < hard.seconds.low


def test_too_few_limits() -> None:
    with pytest.raises(StatisticsError, match="at least 3"):
        measure_effort([1, 2], [1, 1], [5, 5], np.random.default_rng(0))
