"""Gaussian processes: against scikit-learn, with missing ratings, and what a state restores."""

import numpy as np
import pytest
import torch

from beholder.models.gaussian_process.likelihood import JITTER, fit_hyperparameters
from beholder.models.gaussian_process.process import GaussianProcess

GROUPS = (3, 2)


def example(count: int = 60) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Features, ratings of two metrics that depend on one group each, and 20 prompts."""
    features = torch.randn(count, sum(GROUPS), generator=torch.Generator().manual_seed(2))
    ratings = torch.stack([torch.sin(features[:, 0]), torch.tanh(features[:, 3] + features[:, 4])], 1)
    return features, ratings - ratings.mean(0), torch.arange(count) // 3


def fitted(steps: int = 40) -> GaussianProcess:
    features, ratings, prompt_of = example()
    process = GaussianProcess(GROUPS, 2)
    process.fit(features, ratings, prompt_of, steps=steps, rate=0.1)
    return process


def test_scores_are_those_of_scikit_learn_with_the_same_hyperparameters() -> None:
    gaussian_process = pytest.importorskip("sklearn.gaussian_process", reason="scikit-learn is not installed")
    kernels = pytest.importorskip("sklearn.gaussian_process.kernels")
    features, ratings, _ = example()
    process = GaussianProcess(GROUPS, 1)
    process.fit(features, ratings[:, :1], torch.arange(60), steps=30, rate=0.1)  # each image has its own prompt
    support = process.support.double()
    groups = torch.split(support, list(GROUPS), 1)
    distances = torch.stack([(g[:, None] - g[None]).square().mean(2) / 2 for g in groups]).float()
    parameters = fit_hyperparameters(distances, torch.eye(60), ratings[:, 0], steps=30, rate=0.1)
    lengths = np.repeat(np.sqrt(np.array(GROUPS) / parameters.weights.numpy().astype(np.float64)), GROUPS)
    kernel = kernels.ConstantKernel(parameters.variance) * kernels.RBF(lengths)
    oracle = gaussian_process.GaussianProcessRegressor(
        kernel, alpha=parameters.noise + parameters.prompt + JITTER, optimizer=None
    ).fit(support.numpy(), ratings[:, 0].numpy())
    other = torch.randn(7, sum(GROUPS), generator=torch.Generator().manual_seed(3))
    standardised = ((other - process.mean) / process.spread).clamp(-6, 6)
    np.testing.assert_allclose(process(other)[:, 0], oracle.predict(standardised.numpy()), atol=2e-4)


def test_it_explains_what_it_was_fitted_to_and_each_metric_has_its_own_weights() -> None:
    features, ratings, _ = example()
    process = fitted()
    correlation = torch.corrcoef(torch.stack([process(features)[:, 1], ratings[:, 1]]))[0, 1]
    assert correlation > 0.99
    assert process.weights[0, 0] > 3 * process.weights[0, 1]
    assert process.weights[1, 1] > 3 * process.weights[1, 0]


def test_an_image_without_a_rating_counts_for_the_other_metric_alone() -> None:
    features, ratings, prompt_of = example()
    ratings[5, 0] = float("nan")
    process = GaussianProcess(GROUPS, 2)
    process.fit(features, ratings, prompt_of, steps=5, rate=0.1)
    assert process.coefficients[0, 5] == 0
    assert process.coefficients[1, 5] != 0
    assert process(features).isfinite().all()


def test_a_metric_that_nobody_rated_has_the_score_0() -> None:
    features, ratings, prompt_of = example()
    process = GaussianProcess(GROUPS, 2)
    process.fit(features, ratings.index_fill(1, torch.tensor([0]), float("nan")), prompt_of, steps=3, rate=0.1)
    assert (process(features)[:, 0] == 0).all()


def test_a_state_restores_the_scores() -> None:
    process = fitted(5)
    restored = GaussianProcess(GROUPS, 2, support=60)
    assert not GaussianProcess(GROUPS, 2).is_fitted
    restored.load_state_dict(process.state_dict())
    features = example()[0]
    torch.testing.assert_close(restored(features), process(features), rtol=0, atol=0)
