"""The forecast of what a selection gains: an outside oracle, coverage, and what selection does to plain scores."""

import numpy as np
import pytest
import statsmodels.api as sm

from beholder.errors import StatisticsError
from beholder.stats.prediction.selected_gain import selected_gain


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


def test_faults_are_named() -> None:
    truth, scores = world(0)
    with pytest.raises(StatisticsError, match="needs at least 7"):
        selected_gain(truth[80:84, 0], scores[80:84, 0], scores[:80], np.zeros(80, int))
    with pytest.raises(StatisticsError, match="from 0 to 5"):
        selected_gain(truth[80:, 0], scores[80:, 0], scores[:80], np.full(80, 9))
