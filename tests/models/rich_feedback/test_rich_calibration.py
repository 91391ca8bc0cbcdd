import numpy as np
import torch
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from beholder.models.rich_feedback.calibration import Calibration, OutputScales, fit_scale, rescale


def test_scale_and_shift_are_those_of_logistic_regression() -> None:
    rng = np.random.default_rng(0)
    logits = rng.normal(size=4000) * 2
    flags = rng.random(4000) < expit(0.6 * logits - 1)
    oracle = LogisticRegression(C=np.inf).fit(logits[:, None], flags)
    fitted = fit_scale(torch.from_numpy(logits), torch.from_numpy(flags.astype(float)))
    np.testing.assert_allclose(fitted, [oracle.coef_[0, 0], oracle.intercept_[0]], atol=0.02)  # the ridge


def test_where_all_labels_are_alike_the_ridge_keeps_the_fit_finite() -> None:
    fitted = fit_scale(torch.full((10,), 2.0), torch.zeros(10))
    assert fitted.isfinite().all()
    assert float(rescale(torch.tensor(2.0), fitted).sigmoid()) < 0.1
    np.testing.assert_array_equal(fit_scale(torch.empty(0), torch.empty(0)), [1, 0])


def test_each_output_has_a_fit_of_its_own_and_missing_labels_do_not_count() -> None:
    scales = OutputScales(scores=2, heatmaps=1)
    logits = torch.linspace(-3, 3, 301)
    maps = logits[:289].reshape(1, 17, 17)
    calibration = Calibration(scales)
    calibration.add_scores(0, logits, (0.5 * logits + 1).sigmoid())
    calibration.add_scores(0, torch.full((9,), 50.0), torch.full((9,), torch.nan))
    calibration.add_heatmaps(0, torch.cat([maps, maps]), torch.cat([(2 * maps - 1).sigmoid(), maps * torch.nan]))
    calibration.fit()
    np.testing.assert_allclose(scales.scores, [[0.5, 1.0], [1.0, 0.0]], atol=0.02)
    np.testing.assert_allclose(scales.heatmaps, [[2.0, -1.0]], atol=0.05)
    np.testing.assert_array_equal(scales.words, [[1.0, 0.0]])
    Calibration(scales)  # a second calibration starts from uncalibrated outputs
    np.testing.assert_array_equal(scales.scores, [[1.0, 0.0], [1.0, 0.0]])
