"""Regression of ranks: hand-worked weights, the curve, and what has no logistic curve."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from beholder.models.alignment.regression import FEWEST, RankRegression, fit_rank_regression


def test_scores_follow_the_weighted_sum_and_its_scale() -> None:
    regression = RankRegression(
        np.zeros(2), np.ones(2), np.array([1.0, 0.0]), np.array([0.0, 1.0]), np.array([1.0, 3.0])
    )
    assert regression.scores(np.array([[-5.0, 9.0], [0.5, 9.0], [5.0, 9.0]])).tolist() == [1.0, 2.0, 3.0]


def test_weights_are_those_of_ridge_regression_on_ranks() -> None:
    features = np.array([[1.0], [-1.0], [1.0], [-1.0]])
    regression = fit_rank_regression(features, np.array([10.0, 1.0, 99.0, 0.0]), ridge=4.0)
    # ranks 3, 2, 4, 1 of 4, less ½: .25, 0, .5, −.25. Products .25 + .5 + .25 = 1, squares 4, ridge 4: 1/8
    assert regression.weights == pytest.approx([1 / 8])


def test_the_curve_is_the_logistic_one_that_made_the_labels() -> None:
    features = np.random.default_rng(0).normal(size=(400, 1))
    labels = 1 + 3 / (1 + np.exp(-2 * features[:, 0]))
    regression = fit_rank_regression(features, labels, ridge=1e-6)
    np.testing.assert_allclose(regression.scores(features), labels, atol=2e-3)


def test_one_label_far_out_does_not_change_the_weights() -> None:
    rng = np.random.default_rng(1)
    features = rng.normal(size=(50, 3))
    labels = features @ np.array([1.0, 0.5, 0.0])
    far = labels.copy()
    far[labels.argmax()] = 1000.0
    weights = [fit_rank_regression(features, each, ridge=1.0).weights for each in (labels, far)]
    np.testing.assert_allclose(weights[0], weights[1])


@pytest.mark.parametrize("count", [2, FEWEST - 1])
def test_few_labels_have_a_rising_line(count: int) -> None:
    labels = 2 * np.arange(count, dtype=np.float64)
    features = labels[:, None] / 2
    regression = fit_rank_regression(features, labels, ridge=1e-9)
    np.testing.assert_allclose(regression.scores(features), labels, atol=1e-6)


def test_labels_that_never_vary_are_what_every_image_scores() -> None:
    features = np.random.default_rng(2).normal(size=(20, 2))
    regression = fit_rank_regression(features, np.full(20, 3.5), ridge=1.0)
    np.testing.assert_allclose(regression.scores(features), 3.5)


def test_a_feature_that_never_varies_has_no_weight() -> None:
    rng = np.random.default_rng(3)
    features = np.column_stack([rng.normal(size=30), np.full(30, 7.0)])
    labels = np.exp(features[:, 0])
    regression = fit_rank_regression(features, labels, ridge=1.0)
    assert regression.weights[1] == 0
    assert spearmanr(regression.scores(features), labels).statistic == pytest.approx(1)
