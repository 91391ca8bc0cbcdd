"""The marginal likelihood against the formula by hand and its gradient against automatic differentiation."""

import math

import pytest
import torch

from beholder.models.gaussian_process.likelihood import (
    JITTER,
    Hyperparameters,
    fit_hyperparameters,
    marginal_likelihood,
)


def example(count: int = 12, groups: int = 3) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Distances by group, which images share a prompt, and targets, in double precision."""
    generator = torch.Generator().manual_seed(0)
    points = torch.randn(groups, count, 4, generator=generator, dtype=torch.float64)
    distances = (points[:, :, None] - points[:, None]).square().mean(3)
    prompts = torch.arange(count) // 3
    return (
        distances,
        (prompts[:, None] == prompts[None]).double(),
        torch.randn(count, generator=generator, dtype=torch.float64),
    )


def test_of_two_images_it_is_the_density_of_a_normal_by_hand() -> None:
    distances = torch.tensor([[[0.0, 2.0], [2.0, 0.0]]], dtype=torch.float64)
    parameters = Hyperparameters(torch.tensor([0.5], dtype=torch.float64), 2.0, 0.25, 0.1)
    targets = torch.tensor([1.0, -0.5], dtype=torch.float64)
    likelihood = marginal_likelihood(distances, torch.eye(2, dtype=torch.float64), targets, parameters)
    own, shared = 2.0 + 0.25 + 0.1 + JITTER, 2.0 * math.exp(-1.0)
    determinant = own**2 - shared**2
    quadratic = (own * 1.0 - 2 * shared * 1.0 * -0.5 + own * 0.25) / determinant
    assert likelihood.value == pytest.approx((0.5 * quadratic + 0.5 * math.log(determinant)) / 2)


def test_its_gradient_is_that_of_automatic_differentiation() -> None:
    distances, same_prompt, targets = example()
    logs = torch.tensor([0.3, -1.0, 0.1, 0.2, -2.0, -1.5], dtype=torch.float64, requires_grad=True)
    weights, (variance, prompt, noise) = logs[:3].exp(), logs[3:].exp()
    covariance = variance * torch.exp(-(weights[:, None, None] * distances).sum(0)) + prompt * same_prompt
    covariance = covariance + (noise + JITTER) * torch.eye(len(targets))
    value = 0.5 * (targets @ torch.linalg.solve(covariance, targets) + torch.logdet(covariance)) / len(targets)
    value.backward()
    parameters = Hyperparameters(weights.detach(), variance.item(), prompt.item(), noise.item())
    likelihood = marginal_likelihood(distances, same_prompt, targets, parameters)
    assert likelihood.value == pytest.approx(value.item())
    assert logs.grad is not None
    gradient = torch.cat([likelihood.weights_gradient, likelihood.variances_gradient])
    torch.testing.assert_close(gradient, logs.grad)


def test_the_search_finds_the_group_that_the_targets_depend_on() -> None:
    generator = torch.Generator().manual_seed(1)
    points = torch.randn(2, 120, 1, generator=generator)
    distances = (points[:, :, None] - points[:, None]).square().mean(3)
    targets = torch.sin(2 * points[1, :, 0])
    apart = torch.eye(120)
    parameters = fit_hyperparameters(distances, apart, targets - targets.mean(), steps=80, rate=0.1)
    assert parameters.weights[1] > 20 * parameters.weights[0]
    assert parameters.noise < 0.05
