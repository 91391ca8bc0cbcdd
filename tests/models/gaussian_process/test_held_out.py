"""Held-out predictions in closed form: against fitting again without each prompt."""

import torch

from beholder.models.gaussian_process.held_out import leave_prompts_out
from beholder.models.gaussian_process.likelihood import JITTER, Hyperparameters, solve

COUNT = 15
PROMPT_OF = torch.arange(COUNT) % 4  # the images of a prompt are not side by side


def example() -> tuple[torch.Tensor, torch.Tensor]:
    """Distances and targets of two metrics."""
    generator = torch.Generator().manual_seed(0)
    points = torch.randn(COUNT, 3, generator=generator, dtype=torch.float64)
    distances = (points[:, None] - points[None]).square().mean(2)
    return distances, torch.randn(COUNT, 2, generator=generator, dtype=torch.float64)


def test_they_are_those_of_a_regression_on_the_other_prompts() -> None:
    distances, targets = example()
    kernel = torch.exp(-distances)
    covariance = kernel + 0.3 * (PROMPT_OF[:, None] == PROMPT_OF) + 0.1 * torch.eye(COUNT)
    predicted = leave_prompts_out(torch.linalg.inv(covariance), targets, PROMPT_OF)
    for prompt in range(4):
        own = prompt == PROMPT_OF
        fitted = torch.linalg.solve(covariance[~own][:, ~own], targets[~own])
        torch.testing.assert_close(predicted[own], kernel[own][:, ~own] @ fitted)


def test_a_process_holds_its_own_scores_out() -> None:
    distances, targets = example()
    parameters = Hyperparameters(torch.ones(1, dtype=torch.float64), 1.5, 0.2, 0.05)
    solution = solve(distances, PROMPT_OF, targets[:, 0], parameters)
    kernel = 1.5 * torch.exp(-distances)
    own = PROMPT_OF == 2
    others = kernel[~own][:, ~own] + 0.2 * (PROMPT_OF[~own][:, None] == PROMPT_OF[~own])
    fitted = torch.linalg.solve(others + (0.05 + JITTER) * torch.eye(int((~own).sum())), targets[~own, 0])
    torch.testing.assert_close(solution.held_out[own], kernel[own][:, ~own] @ fitted)
