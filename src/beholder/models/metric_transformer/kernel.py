"""Kernel regression on frozen features: a member of the ensemble that errs otherwise than the networks do.

Images are compared by exp(−d), where d is a weighted sum over blocks of columns (the statistics of one stage of
one encoder) of the mean squared difference of standardised signed roots, which tame the long tails of activations.
The weights of the blocks and the noise of the ratings maximise the marginal likelihood of a Gaussian process, all
metrics together; there are so few of them that nothing has to be held out. The regression itself is then solved
exactly, on the leading principal components.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn

from beholder.models.encoders.encoder import ColumnBlock

SUBSET = 1024
"""Images at the most to which the weights of the blocks are fitted."""
STEPS, RATE = 60, 0.15
"""Of Adam."""
FIRST_NOISE, LEAST_NOISE = 0.15, 1e-3
SHRINKAGE = 0.1
"""Of the sum of the weights: a block without information goes to 0."""
COMPONENTS = 512
"""Principal components at the most."""


@dataclass(frozen=True, slots=True)
class KernelShape:
    """Sizes of the tensors: columns of the features, principal components, training images, metrics."""

    dims: int
    components: int
    images: int
    metrics: int


class KernelRegression(nn.Module):
    """From features of images (n, dims) to scores (n, metrics)."""

    powers: torch.Tensor
    mean: torch.Tensor
    components: torch.Tensor
    centres: torch.Tensor
    coefficients: torch.Tensor
    intercepts: torch.Tensor

    def __init__(self, shape: KernelShape) -> None:
        super().__init__()
        self.register_buffer("powers", torch.ones(shape.dims))
        self.register_buffer("mean", torch.zeros(shape.dims))
        self.register_buffer("components", torch.zeros(shape.dims, shape.components))
        self.register_buffer("centres", torch.zeros(shape.images, shape.components))
        self.register_buffer("coefficients", torch.zeros(shape.images, shape.metrics))
        self.register_buffer("intercepts", torch.zeros(shape.metrics))

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """The scores."""
        points = (signed_powers(images, self.powers) - self.mean) @ self.components
        return torch.exp(-squared_distances(points, self.centres)) @ self.coefficients + self.intercepts


def fit_kernel(
    features: torch.Tensor, ratings: torch.Tensor, blocks: Sequence[ColumnBlock], rng: np.random.Generator
) -> KernelRegression:
    """Fit to features (n, dims) and ratings (n, metrics), nan where there is none."""
    widths = torch.tensor([block.width for block in blocks])
    powers = torch.tensor([1.0 if block.rooted else 0.5 for block in blocks]).repeat_interleave(widths)
    rooted = signed_powers(features, powers)
    mean, deviation = rooted.mean(0), rooted.std(0, correction=0)
    scale = 1 / (deviation + 1e-6)
    points = (rooted - mean) * scale
    weights, noise = fit_weights(points, ratings, widths.tolist(), rng)
    factors = (weights / widths).sqrt().repeat_interleave(widths)
    points *= factors
    values, vectors = torch.linalg.eigh(points @ points.T)
    count = min(COMPONENTS, int((values > 1e-6 * values[-1]).sum()))
    directions = points.T @ (vectors[:, -count:] / values[-count:].sqrt())  # (dims, components), orthonormal
    shape = KernelShape(features.shape[1], count, len(features), ratings.shape[1])
    fitted = KernelRegression(shape)
    fitted.powers, fitted.mean, fitted.components = powers, mean, (scale * factors)[:, None] * directions
    fitted.centres = points @ directions
    kernel = torch.exp(-squared_distances(fitted.centres, fitted.centres)).double()
    for metric in range(ratings.shape[1]):
        rated = torch.nonzero(~ratings[:, metric].isnan())[:, 0]
        labels = ratings[rated, metric].double()
        matrix = kernel[rated][:, rated] + noise * torch.eye(len(rated), dtype=torch.float64)
        solved = torch.cholesky_solve((labels - labels.mean())[:, None], torch.linalg.cholesky(matrix))
        fitted.coefficients[rated, metric] = solved[:, 0].float()
        fitted.intercepts[metric] = labels.mean()
    return fitted


@torch.enable_grad()
def fit_weights(
    points: torch.Tensor, ratings: torch.Tensor, widths: Sequence[int], rng: np.random.Generator
) -> tuple[torch.Tensor, float]:
    """The weights of the blocks, and the variance of the noise as a proportion of that of the scores."""
    rows = np.sort(rng.permutation(len(points))[:SUBSET])
    distances = torch.stack(
        [squared_distances(block, block) / block.shape[1] for block in torch.split(points[rows], list(widths), 1)]
    )
    labels = [_standardised(column) for column in ratings[rows].T]
    log_weights = torch.full((len(widths),), -math.log(len(widths))).requires_grad_()
    log_noise = torch.tensor(math.log(FIRST_NOISE)).requires_grad_()
    log_variance = torch.zeros(()).requires_grad_()
    optimiser = torch.optim.Adam([log_weights, log_noise, log_variance], lr=RATE)
    for _ in range(STEPS):
        weights = log_weights.exp()
        kernel = log_variance.exp() * torch.exp(-torch.tensordot(weights, distances, 1))
        kernel = kernel + (log_noise.exp() + LEAST_NOISE) * torch.eye(len(rows))
        loss = weights.sum() * SHRINKAGE
        for rated, column in labels:
            loss = loss + _negative_log_likelihood(kernel, rated, column)
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    with torch.no_grad():
        noise = (log_noise.exp() + LEAST_NOISE) / log_variance.exp()
        return log_weights.exp(), float(noise)


def _standardised(column: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Indices of the images that are rated, and their ratings with mean 0 and standard deviation 1."""
    rated = torch.nonzero(~column.isnan())[:, 0]
    labels = column[rated]
    return rated, (labels - labels.mean()) / labels.std(correction=0).clamp_min(1e-6)


def _negative_log_likelihood(kernel: torch.Tensor, rated: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    factor = torch.linalg.cholesky(kernel[rated][:, rated])
    solved = torch.cholesky_solve(labels[:, None], factor)[:, 0]
    negative: torch.Tensor = 0.5 * labels @ solved + factor.diagonal().log().sum()
    return negative


def squared_distances(first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
    """Of each row to each row: (n, dims), (m, dims) → (n, m)."""
    squares = first.square().sum(1)[:, None] + second.square().sum(1)
    return (squares - 2 * first @ second.T).clamp_min(0.0)


def signed_powers(features: torch.Tensor, powers: torch.Tensor) -> torch.Tensor:
    """sign(x)·|x|^power, with a power for each column."""
    return features.sign() * features.abs() ** powers
