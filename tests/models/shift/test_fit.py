"""The logistic regression of the detector: a stationary point worked by hand, and scikit-learn's as an oracle."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from beholder.models.shift.fit import fit_regression


def test_two_points_by_hand() -> None:
    # Usual at −1, altered at 1: by symmetry b = 0, and w minimises 2 C ln(1 + e^−w) + w²/2, so w (1 + e^w) = 2 C.
    # w = ½ where C = (1 + e^½) / 4 = .66218.
    weights, intercept = fit_regression(np.array([[-1.0]]), np.array([[1.0]]), (1 + np.exp(0.5)) / 4)
    assert weights == pytest.approx([0.5], abs=1e-5)
    assert intercept == pytest.approx(0, abs=1e-5)


def test_it_is_the_balanced_ridge_regression_of_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    usual, altered = rng.normal(size=(300, 40)), 0.4 + 1.3 * rng.normal(size=(120, 40))
    weights, intercept = fit_regression(usual, altered, 0.01)
    oracle = LogisticRegression(C=0.01, class_weight="balanced", max_iter=400, tol=1e-6)
    oracle.fit(np.concatenate([usual, altered]), np.repeat([0, 1], [300, 120]))
    np.testing.assert_allclose(weights, oracle.coef_[0], atol=1e-4)
    assert intercept == pytest.approx(float(oracle.intercept_[0]), abs=1e-4)


def test_both_sides_weigh_the_same() -> None:
    rng = np.random.default_rng(1)
    usual, altered = rng.normal(size=(50, 3)), 1 + rng.normal(size=(20, 3))
    once, often = (
        fit_regression(usual, np.tile(altered, (times, 1)), 0.01 / (50 + 20 * times)) for times in (1, 9)
    )
    np.testing.assert_allclose(once[0], often[0], atol=1e-4)
