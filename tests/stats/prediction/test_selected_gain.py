"""The forecast of what a selection gains: an outside oracle, coverage, and what selection does to plain scores."""

import numpy as np
import pytest
import statsmodels.api as sm

from beholder.errors import StatisticsError
from beholder.stats.prediction.selected_gain import selected_gain, selected_gain_of_ratings


def world(seed: int, prompts: int = 80, shared: float = 0.7) -> tuple[np.ndarray, np.ndarray]:
    """Truth (2 · prompts, 6), and scores of two scorers that err alike to a part."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(0, 1, (2 * prompts, 6))
    alike = shared * rng.normal(0, 1, truth.shape)
    return truth, np.stack([truth + alike + rng.normal(0, 0.7, truth.shape) for _ in range(2)], axis=-1)


def test_the_value_is_that_of_least_squares() -> None:
    truth, scores = world(0)
    chosen = scores[:80, :, 0].argmax(axis=1)
    forecast = selected_gain(truth[80:, 0], scores[80:, 0], scores[:80], chosen)
    fitted = sm.OLS(truth[80:, 0], sm.add_constant(scores[80:, 0])).fit(cov_type="HC3")
    step = (scores[np.arange(80), chosen] - scores[:80].mean(axis=1)).mean(axis=0)
    assert forecast.gain.value == pytest.approx(float(step @ fitted.params[1:]))
    assert forecast.naive == pytest.approx(step)
    variance = step @ fitted.cov_params()[1:, 1:] @ step + fitted.mse_resid * (1 - 1 / 6) / 80
    assert forecast.gain.high - forecast.gain.value == pytest.approx(1.99125 * variance**0.5, rel=1e-4)  # t, 77


def test_coverage_and_the_bias_of_a_held_out_scorer() -> None:
    """Both scorers err alike, so even the held-out one overstates the gain; the forecast does not."""
    covered, errors = [], []
    for seed in range(300):
        truth, scores = world(seed)
        chosen = scores[:80, :, 0].argmax(axis=1)
        true = truth[np.arange(80), chosen].mean() - truth[:80].mean()
        forecast = selected_gain(truth[80:, 0], scores[80:, 0], scores[:80], chosen)
        covered.append(forecast.gain.low <= true <= forecast.gain.high)
        errors.append([forecast.gain.value - true, *(forecast.naive - true)])
    bias, own, held_out = np.mean(errors, axis=0)
    assert abs(bias) < 0.02
    assert own > held_out > 0.2
    assert 0.92 <= np.mean(covered) <= 0.98


def rated_world(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Qualities (120, 4), scores that predict them, and three ratings on five points of an image a prompt."""
    rng = np.random.default_rng(seed)
    own = rng.uniform(0.4, 0.95, (120, 4))
    quality = np.clip(own + rng.normal(0, 0.08, own.shape), 0, 1)
    scores = np.stack([own, quality + rng.normal(0, 0.3, own.shape)], axis=-1)
    felt = quality[60:, :1] + rng.normal(0, 0.2, (60, 3))
    return quality, scores, np.floor(4 * np.clip(felt, 0, 1) + 0.5) / 4


def test_ratings_at_the_end_of_a_scale_do_not_hide_a_gain() -> None:
    """Mean ratings of the best images are too low, and forecasts by them; intervals up to the end are not."""
    covered, errors = [], []
    for seed in range(120):
        quality, scores, ratings = rated_world(seed)
        chosen = scores[:60, :, 0].argmax(axis=1)
        true = quality[np.arange(60), chosen].mean() - quality[:60].mean()
        plain = selected_gain(ratings.mean(axis=1), scores[60:, 0], scores[:60], chosen)
        rows = np.repeat(np.arange(60), 3)
        forecast = selected_gain_of_ratings(ratings.ravel(), rows, 5, scores[60:, 0], scores[:60], chosen)
        covered.append(forecast.gain.low <= true <= forecast.gain.high)
        errors.append([forecast.gain.value - true, plain.gain.value - true])
    bias, compressed = np.mean(errors, axis=0)
    assert abs(bias) < 0.5 * abs(compressed)
    assert compressed < -0.01
    assert 0.9 <= np.mean(covered) <= 1


def test_with_many_points_ratings_are_labels() -> None:
    truth, scores = world(1)
    quality = (truth - truth.min()) / np.ptp(truth) * 0.98 + 0.01  # no rating at an end
    chosen = scores[:80, :, 0].argmax(axis=1)
    labels = np.round(quality[80:, 0] * 10_000) / 10_000
    by_labels = selected_gain(labels, scores[80:, 0], scores[:80], chosen)
    by_ratings = selected_gain_of_ratings(labels, np.arange(80), 10_001, scores[80:, 0], scores[:80], chosen)
    assert by_ratings.gain.value == pytest.approx(by_labels.gain.value, rel=1e-4)
    assert by_ratings.gain.high == pytest.approx(by_labels.gain.high, rel=0.05)  # HC1 there, HC3 here


def test_faults_of_ratings_are_named() -> None:
    _, scores, _ = rated_world(0)
    chosen = np.zeros(60, int)
    with pytest.raises(StatisticsError, match="1 of 60 images have no rating"):
        selected_gain_of_ratings(np.ones(59), np.arange(59), 5, scores[60:, 0], scores[:60], chosen)
    with pytest.raises(StatisticsError, match="ratings from 0 to 1"):
        selected_gain_of_ratings(np.full(60, 5.0), np.arange(60), 5, scores[60:, 0], scores[:60], chosen)


def test_faults_are_named() -> None:
    truth, scores = world(0)
    with pytest.raises(StatisticsError, match="needs at least 7"):
        selected_gain(truth[80:84, 0], scores[80:84, 0], scores[:80], np.zeros(80, int))
    with pytest.raises(StatisticsError, match="from 0 to 5"):
        selected_gain(truth[80:, 0], scores[80:, 0], scores[:80], np.full(80, 9))
