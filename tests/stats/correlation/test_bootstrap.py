from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from beholder.errors import StatisticsError
from beholder.stats.correlation import bootstrap as correlation_bootstrap
from beholder.stats.correlation.bootstrap import bootstrap_correlation, correlation_replicates
from beholder.stats.correlation.coefficients import KINDS, Kind, correlation
from beholder.stats.intervals.bootstrap import rater_weights
from beholder.stats.intervals.bootstrap_intervals import Rule

ORACLES: dict[str, Callable[..., Any]] = {
    "pearson": stats.pearsonr,
    "spearman": stats.spearmanr,
    "kendall": stats.kendalltau,
}
RULES: tuple[Rule, ...] = ("bca", "percentile")


def some_points(seed: int, n: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n).round(1)
    return x, (x + rng.normal(size=n)).round(1)


def weights_of(units: int, replicates: int, seed: int = 0) -> NDArray[np.int32]:
    return rater_weights(np.zeros(units, np.int64), replicates, np.random.default_rng(seed))


def test_a_draw_by_hand() -> None:
    # points (1,1) (2,3) (3,2), the last one drawn twice and the second not: (1,1) (3,2) (3,2), a perfect line.
    # All three: Σ(x−2)(y−2) = 1, squares 2 and 2, r = .5; τ = (2 − 1)/3
    x, y = [1, 2, 3], [1, 3, 2]
    weights = np.array([[1, 0, 2], [1, 1, 1], [3, 0, 0]])
    np.testing.assert_allclose(correlation_replicates(x, y, weights), [1, 0.5, np.nan])
    np.testing.assert_allclose(correlation_replicates(x, y, weights, kind="spearman"), [1, 0.5, np.nan])
    np.testing.assert_allclose(correlation_replicates(x, y, weights, kind="kendall"), [1, 1 / 3, np.nan])


@pytest.mark.parametrize("kind", KINDS)
def test_replicates_against_scipy_on_points_written_out(kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = some_points(1, 25)
    weights = weights_of(25, 40)
    theirs = ORACLES[kind]
    expected = [theirs(np.repeat(x, row), np.repeat(y, row)).statistic for row in weights]
    np.testing.assert_allclose(correlation_replicates(x, y, weights, kind=kind), expected, atol=1e-9)
    monkeypatch.setattr(correlation_bootstrap, "_DENSE", 10)  # the way for many points
    monkeypatch.setattr(correlation_bootstrap, "_BLOCK", 60)  # in several blocks
    np.testing.assert_allclose(correlation_replicates(x, y, weights, kind=kind), expected, atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_interval_is_near_the_closed_form_for_normal_data(kind: Kind) -> None:
    rng = np.random.default_rng(2)
    x = rng.normal(size=300)
    y = x + rng.normal(size=300)
    closed = correlation(x, y, kind=kind)
    for rule in RULES:
        drawn = bootstrap_correlation(x, y, weights_of(300, 2000), kind=kind, rule=rule)
        assert drawn.value == pytest.approx(closed.value, abs=1e-9)
        assert drawn.low == pytest.approx(closed.low, abs=0.03)
        assert drawn.high == pytest.approx(closed.high, abs=0.03)
        assert (drawn.points, drawn.replicates) == (300, 2000)


def test_points_of_one_cluster_are_drawn_together() -> None:
    # every point four times over: as clusters the copies add nothing, as points they look like more data
    x, y = some_points(3, 40)
    four, clusters = np.repeat(x, 4), np.repeat(np.arange(40), 4)
    alone = bootstrap_correlation(x, y, weights_of(40, 2000))
    together = bootstrap_correlation(four, np.repeat(y, 4), weights_of(40, 2000), clusters=clusters)
    assert (together.low, together.high) == pytest.approx((alone.low, alone.high), abs=1e-9)
    apart = bootstrap_correlation(four, np.repeat(y, 4), weights_of(160, 2000))
    assert apart.high - apart.low < 0.6 * (alone.high - alone.low)
    assert "clusters" in together.method


@pytest.mark.parametrize("kind", KINDS)
def test_laws(kind: Kind) -> None:
    x, y = some_points(4, 30)
    weights = weights_of(30, 1000)
    resampled = bootstrap_correlation(x, y, weights, kind=kind)
    assert -1 <= resampled.low < resampled.value < resampled.high <= 1
    turned = bootstrap_correlation(x, 1 - 2 * y, weights, kind=kind)
    assert (turned.value, turned.low) == pytest.approx((-resampled.value, -resampled.high), abs=1e-9)
    order = np.random.default_rng(5).permutation(30)
    again = bootstrap_correlation(x[order], y[order], weights[:, order], kind=kind)
    assert (again.low, again.high) == pytest.approx((resampled.low, resampled.high), abs=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_degenerate_columns_are_defined(kind: Kind) -> None:
    constant = bootstrap_correlation([0.1] * 6, np.arange(6), weights_of(6, 100), kind=kind)
    assert np.isnan([constant.value, constant.low, constant.high]).all()
    two = bootstrap_correlation([1, 2], [5, 3], weights_of(2, 100), kind=kind)
    assert two.value == -1
    assert np.isnan(two.low)  # half of the replicates are one point twice
    perfect = bootstrap_correlation(np.arange(9), np.arange(9), weights_of(9, 200), kind=kind)
    assert (perfect.low, perfect.high) == pytest.approx((1, 1))


def test_nonsense_is_refused() -> None:
    with pytest.raises(StatisticsError, match="weights must be"):
        bootstrap_correlation([1, 2, 3], [1, 2, 3], weights_of(4, 10))
    with pytest.raises(StatisticsError, match="gaps"):
        bootstrap_correlation([1, 2, 3], [1, 2, 3], weights_of(3, 10), clusters=[0, 2, 2])
    with pytest.raises(StatisticsError, match="one integer index"):
        bootstrap_correlation([1, 2, 3], [1, 2, 3], weights_of(3, 10), clusters=[0, 1])


def test_a_replicate_far_from_the_mean_of_all_points_is_as_exact_as_any() -> None:
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=12), rng.normal(size=12)
    x[:6] += 1e7  # a replicate of the first cluster alone varies by 10⁻⁷ of its distance from the mean
    clusters = np.repeat([0, 1], 6)
    replicates = correlation_replicates(x, y, np.array([[3, 0], [0, 1], [1, 1]]), clusters=clusters)
    expected = [np.corrcoef(x[part], y[part])[0, 1] for part in (slice(6), slice(6, 12), slice(12))]
    np.testing.assert_allclose(replicates, expected, rtol=1e-7)
