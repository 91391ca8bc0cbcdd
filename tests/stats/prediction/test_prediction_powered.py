from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from ppi_py import ppi_mean_ci, ppi_mean_pointestimate
from statsmodels.regression.linear_model import OLS
from statsmodels.tools import add_constant

from beholder.errors import StatisticsError
from beholder.stats.prediction.prediction_powered import (
    best_tuning,
    powered,
    powered_difference,
    powered_mean,
    powered_proportion,
)


def some_scores(seed: int, n: int = 60, more: int = 600, noise: float = 0.5) -> tuple[NDArray[np.float64], ...]:
    rng = np.random.default_rng(seed)
    truth = rng.normal(3, 1, n + more)
    score = truth + rng.normal(0.4, noise, n + more)  # biased, and still of use
    return truth[:n], score[:n], score[n:]


def test_by_hand() -> None:
    # labels 1 2 3, predictions 1 1 4, further 2 4 (mean 3): PPI mean 3 + (2 − 2) = 3; residuals 0 1 −1, variance
    # 1; V = 2/2 + 1/3 = 4/3. λ = ½: labels less ½ predictions .5 1.5 1, mean 1, variance .25; θ = 1 + 1.5 = 2.5
    data = powered([1, 2, 3], [1, 1, 4], [2, 4])
    powered_estimate = powered_mean(data, tuning=1)
    assert (powered_estimate.value, powered_estimate.standard_error) == pytest.approx((3, np.sqrt(4 / 3)))
    half = powered_mean(data, tuning=0.5)
    assert (half.value, half.standard_error) == pytest.approx((2.5, np.sqrt(0.25 * 1 + 0.25 / 3)))
    # t with two degrees of freedom: 4.302653
    assert powered_estimate.high - powered_estimate.value == pytest.approx(4.302653 * np.sqrt(4 / 3), abs=1e-5)
    # best λ: C = ((−1)(−1) + 0 + 1 · 2)/2/3 = .5, V_f = 3/3, V_f̃ = 2/2: .5/2
    assert best_tuning(data) == pytest.approx([0.25])
    # labels less ¼ predictions .75 1.75 2, mean 1.5, variance .4375; a λ fitted to three raters leaves one degree:
    # V = .4375/3 · 2/1 · (1 + 1²/1 / 2) + .0625 · 1 = .5; t with one degree of freedom is 12.70620
    best = powered_mean(data)
    assert (best.value, best.standard_error) == pytest.approx((2.25, np.sqrt(0.5)))
    assert best.high - best.value == pytest.approx(12.70620 * np.sqrt(0.5), abs=1e-4)


def test_clusters_by_hand() -> None:
    # labels 1 3 | 5 7 of two raters, mean 4, residuals −3 −1 1 3, sums −4 and 4: V = 2 · 32/16 = 4, SE 2
    powered_estimate = powered_mean(powered([1, 3, 5, 7], np.zeros(4), [0, 0], clusters=[8, 8, 9, 9]))
    assert powered_estimate.standard_error == pytest.approx(2)
    assert (powered_estimate.clusters, powered_estimate.tuning) == (2, 0)


@pytest.mark.parametrize("seed", range(3))
def test_against_ppi_py(seed: int) -> None:
    label, score, more = some_scores(seed)
    n, extra = len(label), len(more)
    for tuning in (0.0, 0.37, 1.0):
        # theirs divides by n, ours by n − 1: feed ours to theirs through the standard errors
        ours = powered_mean(powered(label, score, more), tuning=tuning, reference="normal")
        assert ours.value == pytest.approx(ppi_mean_pointestimate(label, score, more, lam=tuning)[0], rel=1e-9)
        low, high = (float(end[0]) for end in ppi_mean_ci(label, score, more, alpha=0.05, lam=tuning))
        z = 1.959963984540054
        rest, tail = (label - tuning * score).var() / n, (tuning * more).var() / extra
        assert (high - low) / (2 * z) == pytest.approx(np.sqrt(rest + tail), rel=1e-9)
        unbiased = np.sqrt(rest * n / (n - 1) + tail * extra / (extra - 1))
        assert ours.standard_error == pytest.approx(unbiased, rel=1e-9)
        assert (ours.low, ours.high) == pytest.approx((ours.value - z * unbiased, ours.value + z * unbiased))
    # their λ pools the variances of labelled and further predictions, so the intervals are alike, not the same
    low, high = (float(end[0]) for end in ppi_mean_ci(label, score, more, alpha=0.05))
    tuned = powered_mean(powered(label, score, more), reference="normal")
    assert (tuned.low, tuned.high) == pytest.approx((low, high), abs=0.12 * (high - low))


def test_clustered_classical_against_statsmodels() -> None:
    rng = np.random.default_rng(1)
    raters = np.repeat(np.arange(12), 6)
    label = rng.normal(0, 1, 12)[raters] + rng.normal(size=72)
    powered_estimate = powered_mean(
        powered(label, rng.normal(size=72), rng.normal(size=50), clusters=raters), tuning=0
    )
    fit = OLS(label, np.ones((72, 1))).fit(cov_type="cluster", cov_kwds={"groups": raters})
    # theirs multiplies by G/(G−1) · (n−1)/(n−1)
    assert powered_estimate.standard_error == pytest.approx(fit.bse[0], rel=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_fitted_against_a_regression(seed: int) -> None:
    # further predictions that are all alike have a known mean, and λ is the slope of a regression line
    label, score, _ = some_scores(seed, 12)
    score = 2 * score  # the slope stays below 1
    powered_estimate = powered_mean(powered(label, score, [5.5, 5.5]))
    line = OLS(label, add_constant(score)).fit()
    there = line.get_prediction([[1, 5.5]])
    assert 0 < powered_estimate.tuning < 1
    assert (powered_estimate.tuning, powered_estimate.value) == pytest.approx(
        (line.params[1], there.predicted[0]), rel=1e-9
    )
    assert powered_estimate.standard_error == pytest.approx(there.se[0], rel=1e-9)
    assert (powered_estimate.low, powered_estimate.high) == pytest.approx(there.conf_int()[0].tolist(), rel=1e-9)


@given(st.integers(0, 2**32 - 1), st.integers(3, 40))
@settings(max_examples=25)
def test_laws(seed: int, n: int) -> None:
    label, score, more = some_scores(seed, n, 80)
    rng = np.random.default_rng(seed)
    raters = np.arange(n) % max(2, n // 3)
    items = rng.integers(0, 2, n)
    items[:2] = 0, 1
    for clusters in (None, raters, np.stack([raters, items], axis=1)):
        data = powered(label, score, more, clusters=clusters)
        zero = powered_mean(data, tuning=0)
        classical = (zero.classical, zero.classical_low, zero.classical_high)
        assert (zero.value, zero.low, zero.high) == pytest.approx(classical, rel=1e-12)
        best = powered_mean(data)
        assert 0 <= best.tuning <= 1
        assert (best.classical_low, best.classical_high) == pytest.approx((zero.low, zero.high), rel=1e-12)
        if best.tuning == 0:
            assert (best.value, best.low, best.high) == pytest.approx((zero.value, zero.low, zero.high), rel=1e-12)
        constant = powered_mean(powered(label, np.full(n, 7), np.full(80, 7), clusters=clusters))
        assert (constant.low, constant.high, constant.tuning) == pytest.approx((zero.low, zero.high, 0), rel=1e-12)
        shifted = powered_mean(powered(label + 5, score + 2, more + 2, clusters=clusters))
        assert shifted.value == pytest.approx(best.value + 5)  # an offset of the scores does not matter
        assert shifted.standard_error == pytest.approx(best.standard_error)


def test_differences() -> None:
    rng = np.random.default_rng(3)
    habit = rng.normal(0, 1, 20)
    raters = np.repeat(np.arange(20), 4)
    parts = []
    for quality in (0.5, 0.0):
        truth = quality + rng.normal(size=480)
        label = truth[:80] + habit[raters]
        parts.append(powered(label, truth[:80], truth[80:], clusters=raters))
    shared = powered_difference(*parts)
    others = replace(parts[1], clusters=parts[1].clusters + 100)
    apart = powered_difference(parts[0], others)
    half = [powered_difference(parts[0], part, tuning=0.5).value for part in (parts[1], others)]
    assert half[0] == pytest.approx(half[1])  # who the labels come from changes the interval alone
    assert shared.standard_error < 0.7 * apart.standard_error  # raters' habits drop out
    first, second = (powered_mean(part) for part in parts)
    # different raters: the larger groups' factor G/(G−1) is of 40, not of 20 clusters
    expected = np.hypot(first.standard_error, second.standard_error)
    assert apart.standard_error == pytest.approx(expected, rel=0.03)
    alone = [best_tuning(part)[0] for part in parts]
    assert best_tuning(parts[0], others) == pytest.approx(alone, abs=0.02)
    for tuning in (0.0, 0.5, 1.0):
        assert shared.standard_error <= powered_difference(*parts, tuning=tuning).standard_error
    turned = powered_difference(parts[1], parts[0])
    assert (turned.low, turned.high) == pytest.approx((-shared.high, -shared.low))


def test_coverage_and_width() -> None:
    rng = np.random.default_rng(4)
    held, ratio = 0, []
    for _ in range(400):
        habit = rng.normal(0, 0.3, 15)
        raters = np.repeat(np.arange(15), 4)
        truth = rng.normal(size=1060)
        score = truth + rng.normal(0, 0.5, 1060)
        powered_estimate = powered_mean(
            powered(truth[:60] + habit[raters], score[:60], score[60:], clusters=raters)
        )
        held += powered_estimate.low <= 0 <= powered_estimate.high
        ratio.append(
            (powered_estimate.high - powered_estimate.low)
            / (powered_estimate.classical_high - powered_estimate.classical_low)
        )
    assert 0.91 <= held / 400 <= 0.98
    assert np.mean(ratio) < 0.85


def test_proportion() -> None:
    rng = np.random.default_rng(5)
    truth = rng.random(300) < 0.05
    score = np.clip(truth + rng.normal(0, 0.2, 300), 0, 1)
    powered_estimate = powered_proportion(powered(truth[:30].astype(float), score[:30], score[30:]))
    assert 0 <= powered_estimate.low <= powered_estimate.value <= powered_estimate.high <= 1
    with pytest.raises(StatisticsError, match="0 or 1"):
        powered_proportion(powered([0, 0.5], [0, 1], [0, 1]))


def test_degenerate() -> None:
    constant = powered_mean(powered([2, 2, 2], [1, 1, 1], [1, 1]))
    assert (constant.value, constant.low, constant.high, constant.tuning) == (2, 2, 2, 0)
    with pytest.raises(StatisticsError, match="one rater"):
        powered([1, 2, 3], [1, 2, 3], [1, 2], clusters=[4, 4, 4])
    with pytest.raises(StatisticsError, match="at least two of each"):
        powered([1], [1], [1, 2])
    with pytest.raises(StatisticsError, match="finite"):
        powered([1, np.nan], [1, 2], [1, 2])
    with pytest.raises(StatisticsError, match="clusters need one integer"):
        powered([1, 2], [1, 2], [1, 2], clusters=[0.5, 1.5])
    with pytest.raises(StatisticsError, match="level"):
        powered_mean(powered([1, 2], [1, 2], [1, 2]), level=1)
    with pytest.raises(StatisticsError, match="same kinds"):
        powered_difference(
            powered([1, 2], [1, 2], [1, 2]), powered([1, 2], [1, 2], [1, 2], clusters=[[0, 0], [1, 1]])
        )
