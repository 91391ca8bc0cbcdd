import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beholder.errors import StatisticsError
from beholder.stats.intervals.confidence_sequence import (
    asymptotic_sequence,
    betting_sequence,
    difference_sequence,
    log_capital,
    paired_differences,
)


def test_capital_by_hand() -> None:
    # one rater at 1, m = ½: σ̂² = ¼, λ = √(2 ln 40/(¼ · 1 · ln 2)) = 6.525, cut to c/m = 1.5 both ways:
    # ½ (1 + ¾) + ½ (1 − ¾) = 1. A second at 1: μ̂₁ = (½ + 1)/2 = ¾, σ̂²₁ = (¼ + 1/16)/2 = .15625, λ is still cut:
    # ½ · 1.75² + ½ · .25² = 1.5625
    capital = np.exp(log_capital(np.array([1.0, 1.0]), np.array([0.5])))[:, 0]
    assert capital == pytest.approx([1, 1.5625])


def test_betting_by_hand() -> None:
    # raters at 1, m = .2: each multiplies the capital of the bet upwards by 1 + .75/.2 · .8 = 4: ½ · 4² = 8
    # after two, and ½ · 4³ = 32 ≥ 20 after three, so that .2 is bet away by the third
    bounds = betting_sequence(np.ones(6))
    assert bounds.low[1] < 0.2 < bounds.low[2]
    assert np.all(bounds.high == 1)


def test_asymptotic_by_hand() -> None:
    # ± 1 in turns, 50 raters: mean 0, σ̂ = 1; the reach is least over ρ at the number of raters it is tuned for
    bounds = asymptotic_sequence(np.tile([1.0, -1.0], 25), tightest_at=50)
    square = np.exp(np.linspace(-12, 6, 200_001))  # tρ²
    reach = np.sqrt(2 * (square + 1) / (50 * square) * np.log(np.sqrt(square + 1) / 0.05)).min()
    assert bounds.high[-1] == pytest.approx(reach, rel=1e-6)
    assert np.isinf(bounds.high[48])  # too few raters to say anything
    assert np.isfinite(bounds.high[49])


@given(st.integers(0, 2**32 - 1), st.integers(1, 90))
@settings(max_examples=25)
def test_laws(seed: int, n: int) -> None:
    scores = np.random.default_rng(seed).beta(2, 3, n)
    for sequence in (betting_sequence, asymptotic_sequence):
        bounds = sequence(scores)
        assert np.all(np.diff(bounds.low[np.isfinite(bounds.low)]) >= 0)  # it only shrinks
        assert np.all(np.diff(bounds.high[np.isfinite(bounds.high)]) <= 0)
        turned = sequence(1 - scores)
        np.testing.assert_allclose(turned.low, 1 - bounds.high, atol=1e-9)
        again = sequence(scores[: max(1, n // 2)])  # what comes later does not change what was said
        np.testing.assert_array_equal(again.low, bounds.low[: len(again.low)])
        wide = sequence(scores, level=0.99)
        assert wide.high[-1] - wide.low[-1] >= bounds.high[-1] - bounds.low[-1] - 1e-9 or np.isinf(wide.high[-1])
    inside = betting_sequence(scores)
    scaled = betting_sequence(1 + 4 * scores, bounds=(1, 5))
    np.testing.assert_allclose(scaled.low, 1 + 4 * inside.low, atol=0.0041)
    assert np.all((inside.low >= 0) & (inside.high <= 1))


def test_it_holds_at_every_look_and_a_plain_interval_does_not() -> None:
    rng = np.random.default_rng(1)
    studies, raters = 400, 150
    scores = rng.beta(4, 6, (studies, raters))
    # the truth has left the sequence once the bet against it has won twentyfold
    capital = [log_capital(row, np.array([0.4])).max() for row in scores]
    assert np.mean(np.array(capital) >= np.log(20)) <= 0.05
    t = np.arange(1, raters + 1)
    mean = np.cumsum(scores, axis=1) / t
    spread = np.sqrt(np.maximum(np.cumsum(scores**2, axis=1) / t - mean**2, 1e-12) / t)
    plain = np.any(np.abs(mean - 0.4)[:, 10:] > 1.96 * spread[:, 10:], axis=1).mean()
    assert plain > 0.15
    for row, most in zip(scores[:5], capital[:5], strict=True):
        bounds = betting_sequence(row)
        assert np.all((bounds.low <= 0.4) & (bounds.high >= 0.4)) or most >= np.log(20)
        assert bounds.high[-1] - bounds.low[-1] < 0.2


def test_differences() -> None:
    assert paired_differences([1, np.nan, 0.5], [0, 1, 0.5], within=True).tolist() == [1, 0]
    assert paired_differences([1, np.nan, 0.5], [0, 1, 0.5], within=False).tolist() == [1, -0.5]
    rng = np.random.default_rng(2)
    habit = rng.uniform(0, 0.5, 120)
    bounds = difference_sequence(habit + 0.4, habit, within=True)
    assert bounds.low[-1] > 0.3
    assert bounds.low[-1] <= 0.4 <= bounds.high[-1]
    between = difference_sequence(rng.beta(6, 4, 200), rng.beta(4, 6, 180), within=False)
    assert len(between.low) == 180
    assert between.low[-1] <= 0.2 <= between.high[-1]
    assert between.low[-1] > 0


def test_degenerate() -> None:
    single = betting_sequence([0.5])
    assert (single.low[0], single.high[0]) == (0, 1)  # one rater tells nothing
    constant = betting_sequence(np.full(200, 0.5))
    assert 0.4 < constant.low[-1] <= 0.5 <= constant.high[-1] < 0.6
    assert np.all(np.isinf(asymptotic_sequence(np.full(70, 0.1)).high))
    with pytest.raises(StatisticsError, match=r"within 0\.0 … 1\.0; found 0\.5 … 2\.0"):
        betting_sequence([0.5, 2.0])
    with pytest.raises(StatisticsError, match="finite"):
        betting_sequence([0.5, np.nan])
    with pytest.raises(StatisticsError, match="found none"):
        asymptotic_sequence([])
    with pytest.raises(StatisticsError, match="rising"):
        betting_sequence([0.5], bounds=(1, 0))
    with pytest.raises(StatisticsError, match="as many of both"):
        paired_differences([1, 2], [1], within=True)
    with pytest.raises(StatisticsError, match="level"):
        asymptotic_sequence([0.5], level=0)
