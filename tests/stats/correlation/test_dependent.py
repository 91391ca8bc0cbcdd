import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from beholder.errors import StatisticsError
from beholder.stats.correlation.coefficients import KINDS
from beholder.stats.correlation.dependent import (
    Test,
    bootstrap_difference,
    compare_coefficients,
    compare_correlations,
    zou_interval,
)
from beholder.stats.intervals.bootstrap import rater_weights

TESTS: tuple[Test, ...] = ("williams", "steiger", "meng")


def test_williams_by_hand() -> None:
    # r .3, .4, .5, n = 100: |R| = 1 − .09 − .16 − .25 + .12 = .62; 2 · .62 · 99/97 = 1.265567;
    # r̄² (1 − .5)³ = .1225 · .125 = .0153125; t = −.1 √(99 · 1.5/1.280880) = −.1 · 10.7674 = −1.0767
    comparison = compare_coefficients(0.3, 0.4, 0.5, 100)
    assert comparison.statistic == pytest.approx(-1.0767, abs=5e-5)
    assert comparison.degrees == 97


@pytest.mark.parametrize(
    ("test", "r", "n", "statistic", "p_value"),
    [
        # Silver, Hittner and May (2006), the program depcor
        ("williams", (0.3, 0.4, 0.5), 100, -1.0767, 0.2843),
        ("steiger", (0.3, 0.4, 0.5), 100, -1.0718, 0.2838),
        ("meng", (0.3, 0.4, 0.5), 100, -1.0707, 0.2843),
        # Steiger (1980), case A; the paper rounds on the way and prints −.8913
        ("steiger", (0.4, 0.5, 0.1), 103, -0.8887, None),
        # Meng, Rosenthal and Rubin (1992): Z = 1.68, one-sided p = .047
        ("meng", (0.63, -0.03, -0.19), 15, 1.68, 2 * 0.0465),
        # the table of May and Hittner, 1997
        ("meng", (0.5, 0.2, 0.3), 50, 1.91, None),
        ("meng", (0.7, 0.4, 0.8), 50, 4.05, None),
    ],
)
def test_published(
    test: Test, r: tuple[float, float, float], n: int, statistic: float, p_value: float | None
) -> None:
    comparison = compare_coefficients(*r, n, test=test)
    digits = 5e-5 if abs(statistic) < 1.2 else 5e-3
    assert comparison.statistic == pytest.approx(statistic, abs=digits)
    if p_value is not None:
        assert comparison.p_value == pytest.approx(p_value, abs=10 * digits if n == 15 else 5e-4)


def test_zou_published() -> None:
    # Zou (2007): r = .396 and .179, r between .088, n = 66: −.093 to .517
    assert zou_interval(0.396, 0.179, 0.088, 66) == pytest.approx((-0.093, 0.517), abs=5e-4)


def normal_columns(seed: int, n: int, r: float = 0.5) -> tuple[NDArray[np.float64], ...]:
    rng = np.random.default_rng(seed)
    ratings, noise, other = rng.normal(size=(3, n))
    return ratings, r * ratings + noise, r * ratings + other


@given(st.integers(0, 2**32 - 1), st.integers(6, 80))
@settings(max_examples=15)
def test_laws(seed: int, n: int) -> None:
    ratings, first, second = normal_columns(seed, n)
    for test in TESTS:
        comparison = compare_correlations(ratings, first, second, test=test)
        turned = compare_correlations(ratings, second, first, test=test)
        assert turned.statistic == pytest.approx(-comparison.statistic)
        assert (turned.low, turned.high) == pytest.approx((-comparison.high, -comparison.low))
        assert comparison.low <= comparison.difference <= comparison.high
        assert compare_correlations(2 * ratings, first, second, test=test).p_value == pytest.approx(
            comparison.p_value
        )


@pytest.mark.parametrize("test", TESTS)
def test_error_rate(test: Test) -> None:
    # equal true correlations: false alarms at 5 %; 400 studies know that to 1.1 %
    p = []
    for seed in range(400):
        r = np.asarray(np.corrcoef(normal_columns(seed, 30)))
        p.append(compare_coefficients(r[0, 1], r[0, 2], r[1, 2], 30, test=test).p_value)
    assert np.mean(np.array(p) < 0.05) == pytest.approx(0.05, abs=0.035)


@pytest.mark.parametrize("kind", KINDS)
def test_bootstrap_against_the_tests(kind: str) -> None:
    ratings, first, second = normal_columns(1, 200)
    weights = rater_weights(np.zeros(200, np.int64), 2000, np.random.default_rng(2))
    difference = bootstrap_difference(ratings, first, second, weights, kind=kind)  # type: ignore[arg-type]
    turned = bootstrap_difference(ratings, second, first, weights, kind=kind)  # type: ignore[arg-type]
    assert (turned.low, turned.high, turned.p_value) == pytest.approx(
        (-difference.high, -difference.low, difference.p_value)
    )
    if kind != "kendall":
        closed = compare_correlations(ratings, first, second, kind=kind)  # type: ignore[arg-type]
        assert difference.difference == pytest.approx(closed.difference)
        assert (difference.low, difference.high) == pytest.approx((closed.low, closed.high), abs=0.06)
        assert difference.p_value == pytest.approx(closed.p_value, abs=0.08)


def test_degenerate() -> None:
    ratings, first, _ = normal_columns(3, 20)
    same = compare_correlations(ratings, first, 2 * first + 1)
    assert (same.difference, same.statistic, same.p_value) == pytest.approx((0, 0, 1), abs=1e-6)
    for test in TESTS[1:]:
        perfect = compare_coefficients(1.0, 0.5, 0.5, 20, test=test)
        assert np.isnan([perfect.statistic, perfect.low]).all()
    constant = compare_correlations(ratings, first, np.zeros(20))
    assert np.isnan([constant.difference, constant.statistic, constant.p_value, constant.low]).all()
    weights = rater_weights(np.zeros(20, np.int64), 50, np.random.default_rng(0))
    drawn = bootstrap_difference(ratings, first, np.zeros(20), weights)
    assert np.isnan([drawn.difference, drawn.low, drawn.p_value]).all()


def test_nonsense_is_refused() -> None:
    with pytest.raises(StatisticsError, match="four points"):
        compare_coefficients(0.1, 0.2, 0.3, 3)
    with pytest.raises(StatisticsError, match="between −1 and 1"):
        compare_coefficients(0.1, 1.2, 0.3, 10)
    with pytest.raises(StatisticsError, match="'hotelling'"):
        compare_coefficients(0.1, 0.2, 0.3, 10, test="hotelling")  # type: ignore[arg-type]
