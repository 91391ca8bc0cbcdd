"""The kernel of a Gaussian process over groups of features, and its hyperparameters by marginal likelihood.

Two images have the covariance ``variance · exp(− Σ weight · distance)`` over groups of features (automatic
relevance determination by group), plus ``prompt`` if they have the same prompt: an effect of the prompt that the
features do not explain, and that would otherwise be taken for evidence about them.
"""

from dataclasses import dataclass

import torch

from beholder.models.gaussian_process.held_out import leave_prompts_out

JITTER = 1e-4
"""Added to the noise, so that the matrix stays positive definite in single precision."""


@dataclass(frozen=True, slots=True)
class Hyperparameters:
    """Those of one metric."""

    weights: torch.Tensor
    """How much each group counts, (groups,)."""
    variance: float
    prompt: float
    """Variance of what images of the same prompt have in common."""
    noise: float


@dataclass(frozen=True, slots=True)
class Likelihood:
    """The negative logarithm of the marginal likelihood per image, and its gradient."""

    value: float
    weights_gradient: torch.Tensor
    """By the logarithm of each weight, (groups,)."""
    variances_gradient: torch.Tensor
    """By the logarithms of variance, prompt and noise, (3,)."""


def marginal_likelihood(
    distances: torch.Tensor, same_prompt: torch.Tensor, targets: torch.Tensor, parameters: Hyperparameters
) -> Likelihood:
    """How improbable the targets are, and which hyperparameters would make them less so.

    Args:
        distances: Of each two images, by group, (groups, n, n).
        same_prompt: 1 where two images have the same prompt, otherwise 0, (n, n).
        targets: Ratings of mean 0, (n,).
        parameters: The hyperparameters.

    Returns:
        The negative log likelihood without its constant, divided by n, with its gradient.
    """
    count = len(targets)
    by_group = distances.view(len(distances), -1)
    kernel = parameters.variance * torch.exp(-(parameters.weights[None] @ by_group).view(count, count))
    factor = torch.linalg.cholesky(_covariance(kernel, same_prompt, parameters))
    inverse = torch.cholesky_inverse(factor)
    solved = inverse @ targets
    value = (0.5 * targets @ solved + factor.diagonal().log().sum()) / count
    slope = (inverse - solved[:, None] * solved[None]) * (0.5 / count)  # by each element of the covariance
    by_kernel = slope * kernel
    variances_gradient = torch.stack(
        [
            by_kernel.sum(),
            parameters.prompt * (slope * same_prompt).sum(),
            parameters.noise * slope.diagonal().sum(),
        ]
    )
    return Likelihood(float(value), -parameters.weights * (by_group @ by_kernel.reshape(-1)), variances_gradient)


def fit_hyperparameters(
    distances: torch.Tensor, same_prompt: torch.Tensor, targets: torch.Tensor, *, steps: int, rate: float
) -> Hyperparameters:
    """The hyperparameters after ``steps`` steps of Adam, of learning rate ``rate``, on their logarithms."""
    groups = len(distances)
    log_weights = torch.full((groups,), 0.5 / groups, dtype=distances.dtype).log()
    log_variances = torch.tensor([1.0, 0.05, 0.1], dtype=distances.dtype).log()
    optimiser = torch.optim.Adam([log_weights, log_variances], lr=rate)
    for _ in range(steps):
        likelihood = marginal_likelihood(
            distances, same_prompt, targets, _hyperparameters(log_weights, log_variances)
        )
        log_weights.grad, log_variances.grad = likelihood.weights_gradient, likelihood.variances_gradient
        optimiser.step()
    return _hyperparameters(log_weights, log_variances)


@dataclass(frozen=True, slots=True)
class Solution:
    """What a process of known hyperparameters says."""

    coefficients: torch.Tensor
    """Of the training images, (n,): a score is their sum by the kernel."""
    held_out: torch.Tensor
    """Scores of the training images by images of other prompts, (n,)."""


def solve(
    weighted_distances: torch.Tensor, prompt_of: torch.Tensor, targets: torch.Tensor, parameters: Hyperparameters
) -> Solution:
    """The coefficients of the training images, and their held-out scores, in double precision."""
    kernel = parameters.variance * torch.exp(-weighted_distances.double())
    same_prompt = (prompt_of[:, None] == prompt_of[None]).double()
    factor = torch.linalg.cholesky(_covariance(kernel, same_prompt, parameters))
    coefficients = torch.cholesky_solve(targets.double()[:, None], factor)[:, 0]
    return Solution(coefficients, leave_prompts_out(torch.cholesky_inverse(factor), targets.double(), prompt_of))


def _covariance(kernel: torch.Tensor, same_prompt: torch.Tensor, parameters: Hyperparameters) -> torch.Tensor:
    covariance = kernel + parameters.prompt * same_prompt
    covariance.diagonal().add_(parameters.noise + JITTER)
    return covariance


def _hyperparameters(log_weights: torch.Tensor, log_variances: torch.Tensor) -> Hyperparameters:
    variance, prompt, noise = log_variances.exp().tolist()
    return Hyperparameters(log_weights.exp(), variance, prompt, noise)
