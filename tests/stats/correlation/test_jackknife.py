from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from beholder.errors import StatisticsError
from beholder.stats.correlation.coefficients import KINDS, Kind, correlation
from beholder.stats.correlation.jackknife import jackknife_correlation, jackknife_interval


def test_by_hand() -> None:
    # r = .5; without each of three .25, .5, .75: l = .25, 0, −.25, Σl² = .125, SE² = 2/3 · .125 = 1/12;
    # κ = 3 · 2 · .25⁴/.125² = 1.5, ν = 6/.5 = 12, at most 2; t with two degrees of freedom is 4.302653
    reach = 4.302653 * np.sqrt(1 / 12) / 0.75
    expected = np.tanh(np.arctanh(0.5) + np.array([-reach, reach]))
    assert jackknife_interval(0.5, np.array([0.25, 0.5, 0.75]), level=0.95) == pytest.approx(expected, abs=1e-6)
    # one of five decides: l = .4 −.1 −.1 −.1 −.1, Σl² = .2, Σl⁴ = .026, κ = 5 · .026/.04 = 3.25, ν = 4.4,
    # at most 4
    reach = stats.t.ppf(0.975, 4) * np.sqrt(0.8 * 0.2)
    ends = jackknife_interval(0.0, np.array([-0.4, 0.1, 0.1, 0.1, 0.1]), level=0.95)
    assert ends == pytest.approx((-np.tanh(reach), np.tanh(reach)))


def test_degrees_fall_where_one_point_decides() -> None:
    # one of twenty: l = 19/20 and −1/20: Σl² = .95, Σl⁴ = .8146, κ = 18.05, ν = 40/17.05 = 2.346
    left = np.full(20, 0.3)
    left[0] = -0.7
    reach = stats.t.ppf(0.975, 40 / 17.05) * np.sqrt(0.95 * 0.95) / (1 - 0.09)
    low, high = jackknife_interval(0.3, left, level=0.95)
    assert (np.arctanh(high) - np.arctanh(low)) / 2 == pytest.approx(reach, rel=1e-3)


@pytest.mark.parametrize("kind", KINDS)
def test_against_a_loop(kind: Kind) -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=14)
    y = x + rng.normal(size=14)
    measures: dict[str, Callable[..., Any]] = {
        "pearson": stats.pearsonr,
        "spearman": stats.spearmanr,
        "kendall": stats.kendalltau,
    }
    measure = measures[kind]
    left = np.array([measure(np.delete(x, i), np.delete(y, i)).statistic for i in range(14)])
    jackknifed = jackknife_correlation(x, y, kind=kind)
    assert jackknifed.value == pytest.approx(measure(x, y).statistic, abs=1e-12)
    assert (jackknifed.low, jackknifed.high) == pytest.approx(
        jackknife_interval(jackknifed.value, left, level=0.95), abs=1e-9
    )


def test_clusters_are_left_out_together() -> None:
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(2, 30))
    group = np.repeat(np.arange(10), 3)
    left = np.array([stats.pearsonr(x[group != g], y[group != g]).statistic for g in range(10)])
    jackknifed = jackknife_correlation(x, y, clusters=group)
    assert (jackknifed.low, jackknifed.high) == pytest.approx(
        jackknife_interval(jackknifed.value, left, level=0.95), abs=1e-9
    )
    assert jackknifed.method == "jackknife over clusters of points, Fisher z"
    # thrice the same points are no more than once: grouped, the interval is that of the points alone
    thrice = jackknife_correlation(np.repeat(x[:10], 3), np.repeat(y[:10], 3), clusters=group)
    alone = jackknife_correlation(x[:10], y[:10])
    assert (thrice.low, thrice.high) == pytest.approx((alone.low, alone.high))


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=25, deadline=None)
def test_laws(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(2, 12))
    for kind in KINDS:
        jackknifed = jackknife_correlation(x, y, kind=kind)
        assert -1 <= jackknifed.low <= jackknifed.value <= jackknifed.high <= 1
        turned = jackknife_correlation(x, -y, kind=kind)
        assert (turned.low, turned.high) == pytest.approx((-jackknifed.high, -jackknifed.low))
        moved = jackknife_correlation(3 * x + 1, y - 2, kind=kind)
        assert (moved.low, moved.high) == pytest.approx((jackknifed.low, jackknifed.high))


def test_near_the_closed_form_for_many_normal_points() -> None:
    rng = np.random.default_rng(5)
    x = rng.normal(size=800)
    y = 0.6 * x + 0.8 * rng.normal(size=800)
    jackknifed, closed = jackknife_correlation(x, y), correlation(x, y)
    assert jackknifed.high - jackknifed.low == pytest.approx(closed.high - closed.low, rel=0.1)


def test_what_is_not_defined() -> None:
    assert np.isnan(jackknife_interval(0.5, np.array([0.4, 0.6]), level=0.95)).all()
    assert np.isnan(jackknife_interval(0.5, np.array([0.4, np.nan, 0.6]), level=0.95)).all()
    assert np.isnan(jackknife_correlation([1, 1, 1, 1], [1, 2, 3, 4]).value)
    perfect = jackknife_correlation([1, 2, 3, 4], [2, 4, 6, 8])
    assert (perfect.low, perfect.high) == pytest.approx((1, 1))
    with pytest.raises(StatisticsError, match="level"):
        jackknife_interval(0.5, np.array([0.4, 0.5, 0.6]), level=1)
