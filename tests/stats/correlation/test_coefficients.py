from collections.abc import Callable
from typing import Any

import numpy as np
import pingouin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from beholder.errors import StatisticsError
from beholder.stats.correlation.coefficients import KINDS, correlation, fisher_interval, standard_error

ORACLES: dict[str, Callable[..., Any]] = {
    "pearson": stats.pearsonr,
    "spearman": stats.spearmanr,
    "kendall": stats.kendalltau,
}


def test_by_hand() -> None:
    # x 1 2 3 4 5, y 1 3 2 5 4: centred Σ = 8, squares 10 and 10, r = .8; ranks are the values: ρ = .8;
    # of ten pairs two are turned, τ = (8 − 2)/10 = .6
    x, y = [1, 2, 3, 4, 5], [1, 3, 2, 5, 4]
    assert correlation(x, y).value == pytest.approx(0.8)
    assert correlation(x, y, kind="spearman").value == pytest.approx(0.8)
    assert correlation(x, y, kind="kendall").value == pytest.approx(0.6)


def test_intervals_by_hand() -> None:
    # r = .5, n = 28: atanh .5 = .549306. Pearson SE = 1/√25 = .2, reach .391993, ends .157313 and .941299.
    # Spearman SE² = 1.125/25, SE = .212132, reach .415771, ends .133535 and .965077.
    # Kendall SE² = .437/24, SE = .134938, reach .264473, ends .284833 and .813779
    for kind, low, high in (
        ("pearson", 0.157313, 0.941299),
        ("spearman", 0.133535, 0.965077),
        ("kendall", 0.284833, 0.813779),
    ):
        error = standard_error(0.5, 28, kind)  # type: ignore[arg-type]
        assert fisher_interval(0.5, error, 0.95) == pytest.approx(tuple(np.tanh([low, high])), abs=2e-6)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_against_scipy_and_pingouin(kind: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=30).round(1)
    y = (x + rng.normal(size=30)).round(1)
    ours = correlation(x, y, kind=kind)  # type: ignore[arg-type]
    theirs = ORACLES[kind](x, y)
    assert (ours.value, ours.p_value) == pytest.approx((theirs.statistic, theirs.pvalue), rel=1e-9)
    if kind == "pearson":
        assert (ours.low, ours.high) == pytest.approx(tuple(theirs.confidence_interval()), rel=1e-9)
        row = pingouin.corr(x, y, decimals=12).iloc[0]
        assert (ours.value, ours.p_value) == pytest.approx((row["r"], row["p_val"]), rel=1e-9)


@given(st.integers(0, 2**32 - 1), st.integers(5, 40))
@settings(max_examples=25)
def test_laws(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(2, n))
    for kind in KINDS:
        coefficient = correlation(x, y, kind=kind)
        assert -1 <= coefficient.low <= coefficient.value <= coefficient.high <= 1
        assert correlation(y, x, kind=kind).value == pytest.approx(coefficient.value)
        turned = correlation(x, -y, kind=kind)
        assert (turned.value, turned.low) == pytest.approx((-coefficient.value, -coefficient.high))
        assert correlation(3 + 2 * x, y, kind=kind).value == pytest.approx(coefficient.value)
        wide = correlation(x, y, kind=kind, level=0.99)
        assert wide.low <= coefficient.low <= coefficient.high <= wide.high
        if abs(coefficient.value) < 0.999:  # a perfect rank order has an interval of one point
            assert wide.low < coefficient.low < coefficient.high < wide.high
        if kind != "pearson":
            assert correlation(np.exp(x), y, kind=kind).value == pytest.approx(coefficient.value)


@pytest.mark.parametrize("kind", KINDS)
def test_degenerate_columns_are_defined(kind: str) -> None:
    constant = correlation([0.1] * 6, np.arange(6), kind=kind)  # type: ignore[arg-type]
    assert np.isnan([constant.value, constant.low, constant.high, constant.p_value]).all()
    two = correlation([1, 2], [5, 3], kind=kind)  # type: ignore[arg-type]
    assert (two.value, two.p_value) == (-1, 1)
    assert np.isnan(two.low)
    perfect = correlation(np.arange(9), np.arange(9), kind=kind)  # type: ignore[arg-type]
    assert (perfect.value, perfect.low, perfect.high) == pytest.approx((1, 1, 1))


def test_nonsense_is_refused() -> None:
    with pytest.raises(StatisticsError, match="1 points without"):
        correlation([1, 2, np.nan], [1, 2, 3])
    with pytest.raises(StatisticsError, match="one length"):
        correlation([1, 2], [1, 2, 3])
    with pytest.raises(StatisticsError, match="at least two points"):
        correlation([1], [1])
    with pytest.raises(StatisticsError, match="'cosine'"):
        correlation([1, 2, 3], [1, 2, 3], kind="cosine")  # type: ignore[arg-type]
    with pytest.raises(StatisticsError, match="level"):
        correlation([1, 2, 3, 4], [1, 2, 3, 5], level=2)
