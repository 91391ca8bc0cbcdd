import numpy as np
import torch
from scipy.ndimage import gaussian_filter
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from beholder.models.rich_feedback.calibration import (
    Calibration,
    OutputScales,
    divergence,
    fit_scale,
    rescale,
    smooth,
)


def test_scale_and_shift_are_those_of_logistic_regression() -> None:
    rng = np.random.default_rng(0)
    logits = rng.normal(size=4000) * 2
    flags = rng.random(4000) < expit(0.6 * logits - 1)
    oracle = LogisticRegression(C=np.inf).fit(logits[:, None], flags)
    fitted = fit_scale(torch.from_numpy(flags.astype(float)), torch.from_numpy(logits))
    np.testing.assert_allclose(fitted, [oracle.coef_[0, 0], oracle.intercept_[0]], atol=0.02)  # the ridge


def test_where_all_labels_are_alike_the_ridge_keeps_the_fit_finite() -> None:
    fitted = fit_scale(torch.zeros(10), torch.full((10,), 2.0))
    assert fitted.isfinite().all()
    assert float(rescale(fitted, torch.tensor(2.0)).sigmoid()) < 0.1
    np.testing.assert_array_equal(fit_scale(torch.empty(0), torch.empty(0)), [1, 0])


def test_experts_are_weighed_as_by_logistic_regression_and_none_against_the_others() -> None:
    rng = np.random.default_rng(2)
    first, second = rng.normal(size=(2, 4000)) * 2
    flags = rng.random(4000) < expit(0.6 * first + 0.3 * second - 1)
    oracle = LogisticRegression(C=np.inf).fit(np.stack([first, second], 1), flags)
    labels, *logits = (torch.from_numpy(each) for each in (flags.astype(float), first, second))
    fitted = fit_scale(labels, *logits)
    np.testing.assert_allclose(fitted, [*oracle.coef_[0], oracle.intercept_[0]], atol=0.02)
    alone = fit_scale(labels, logits[0])
    turned = fit_scale(labels, -logits[1], logits[0])
    np.testing.assert_allclose(turned, [0.0, *alone], atol=1e-6)


def test_each_output_has_a_fit_of_its_own_and_missing_labels_do_not_count() -> None:
    scales = OutputScales(scores=2, heatmaps=1)
    logits = torch.linspace(-3, 3, 301)
    maps = logits[:289].reshape(1, 17, 17)
    calibration = Calibration(scales)
    calibration.add_scores(0, (0.5 * logits + 1).sigmoid(), logits)
    calibration.add_scores(0, torch.full((9,), torch.nan), torch.full((9,), 50.0))
    calibration.add_heatmaps(0, torch.cat([(2 * maps - 1).sigmoid(), maps * torch.nan]), torch.cat([maps, maps]))
    calibration.fit()
    np.testing.assert_allclose(scales.scores, [[0.5, 1.0], [1.0, 0.0]], atol=0.02)
    np.testing.assert_allclose(scales.heatmaps, [[2.0, -1.0]], atol=0.05)
    np.testing.assert_array_equal(scales.words, [[1.0, 0.0]])
    Calibration(scales)  # a second calibration starts from uncalibrated outputs
    np.testing.assert_array_equal(scales.scores, [[1.0, 0.0], [1.0, 0.0]])


def test_smoothing_is_a_gaussian_blur_of_the_probabilities() -> None:
    rng = np.random.default_rng(0)
    probabilities = rng.uniform(0.01, 0.9, (2, 12, 12))
    logits = torch.from_numpy(np.log(probabilities / (1 - probabilities)))
    blurred = smooth(logits, torch.tensor(1.3)).sigmoid()
    expected = gaussian_filter(probabilities, (0, 1.3, 1.3), mode="nearest", radius=(0, 6, 6))
    np.testing.assert_allclose(blurred, expected, atol=1e-9)
    np.testing.assert_allclose(smooth(logits, torch.tensor(0.0)), logits, atol=1e-6)


def test_the_divergence_by_hand() -> None:
    # raters' map (0, ½, ½, 0) after division by its sum; predicted (⅛, ⅜, ¼, ¼): ½ ln(½ / ⅜) + ½ ln(½ / ¼)
    measured = divergence(torch.tensor([[0.1, 0.3, 0.2, 0.2]]), torch.tensor([[0.0, 2 / 3, 2 / 3, 0.0]]))
    np.testing.assert_allclose(measured, 0.5 * np.log(4 / 3) + 0.5 * np.log(2), rtol=1e-5)


def test_maps_are_smoothed_as_much_as_raters_disks_need() -> None:
    rng = np.random.default_rng(1)
    sharp = rng.uniform(size=(20, 24, 24)) < 0.02
    sharp[0] = False  # raters marked nothing: it says nothing about the shape of marks
    marked = torch.from_numpy(
        gaussian_filter(sharp.astype(float), (0, 1.2, 1.2), mode="nearest", radius=(0, 6, 6))
    )
    logits = torch.from_numpy(np.where(sharp, 4.0, -9.0))
    scales = OutputScales(scores=0, heatmaps=2)
    calibration = Calibration(scales)
    calibration.add_heatmaps(1, marked, logits)
    calibration.fit()
    assert 0.9 <= float(scales.smoothing[1]) <= 1.5
    assert float(scales.smoothing[0]) == 0.0
    fitted = scales.heatmap(1, logits).sigmoid()
    raw = (logits * scales.heatmaps[1, 0] + scales.heatmaps[1, 1]).sigmoid()
    closer, further = (divergence(maps[1:].flatten(1), marked[1:].flatten(1)) for maps in (fitted, raw))
    assert closer < 0.5 * further
