"""A Gaussian process per metric over the same features: fitted to all training images at once.

Features are standardised by the training images, and come in groups, such as the means of one stage of a network.
Every group has a weight of its own per metric, found by marginal likelihood. A score depends on the distances to
all training images, so their features are part of the weights, in half precision.
"""

from collections.abc import Sequence

import torch
from torch import nn

from beholder.models.gaussian_process.likelihood import fit_hyperparameters, solve

LARGEST = 6.0
"""Standard deviations from the mean beyond which a feature is cut off."""


class GaussianProcess(nn.Module):
    """From features (n, dims) to scores (n, metrics), once it is fitted."""

    mean: torch.Tensor
    spread: torch.Tensor
    support: torch.Tensor
    coefficients: torch.Tensor
    weights: torch.Tensor

    def __init__(self, groups: Sequence[int], metrics: int, support: int = 0) -> None:
        """An unfitted process.

        Args:
            groups: Numbers of features that belong together, in the order of the columns.
            metrics: Number of metrics.
            support: Number of training images of the state that will be loaded; 0: it will be fitted.
        """
        super().__init__()
        self.groups = tuple(groups)
        dims = sum(groups)
        self.register_buffer("mean", torch.zeros(dims))
        self.register_buffer("spread", torch.ones(dims))
        self.register_buffer("support", torch.zeros(support, dims, dtype=torch.float16))
        self.register_buffer("coefficients", torch.zeros(metrics, support))
        self.register_buffer("weights", torch.zeros(metrics, len(groups)))

    @property
    def is_fitted(self) -> bool:
        """Whether it can score."""
        return len(self.support) > 0

    def fit(
        self, features: torch.Tensor, ratings: torch.Tensor, prompt_of: torch.Tensor, *, steps: int, rate: float
    ) -> torch.Tensor:
        """Fit it to images, in place of those that it was fitted to before.

        Args:
            features: (n, dims).
            ratings: Of mean 0, (n, metrics); nan where an image was not rated.
            prompt_of: Number of the prompt of each image, (n,).
            steps: Steps of the search for hyperparameters.
            rate: Its learning rate.

        Returns:
            The scores of these images, each by those of other prompts alone, (n, metrics); nan where an image was
            not rated, and 0 for a metric of which there is no rating.
        """
        self.mean = features.mean(0)
        spread = features.std(0, correction=0)
        smallest = torch.cat([group.mean().expand(len(group)) for group in torch.split(spread, list(self.groups))])
        self.spread = spread + 0.01 * smallest + 1e-6
        self.support = self._standardise(features).half()
        support = self.support.float()
        distances = torch.stack(
            [_half_mean_squares(group) for group in torch.split(support, list(self.groups), 1)]
        )
        metrics = ratings.shape[1]
        self.coefficients = support.new_zeros(metrics, len(support))
        self.weights = support.new_zeros(metrics, len(self.groups))
        held_out = support.new_zeros(len(support), metrics)
        for metric in range(metrics):
            rated = (~ratings[:, metric].isnan()).nonzero()[:, 0]
            if len(rated) > 1:
                held_out[:, metric] = torch.nan
                held_out[rated, metric] = self._fit_metric(
                    metric, rated, distances, ratings[:, metric], prompt_of, steps=steps, rate=rate
                )
        return held_out

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """Scores (n, metrics), in single precision."""
        standardised = self._standardise(features.float())
        support = self.support.float()
        scores = [
            torch.exp(-_weighted_distances(standardised, support, self._column_weights(weights))) @ coefficients
            for weights, coefficients in zip(self.weights, self.coefficients, strict=True)
        ]
        return torch.stack(scores, 1)

    def _fit_metric(
        self,
        metric: int,
        rated: torch.Tensor,
        distances: torch.Tensor,
        ratings: torch.Tensor,
        prompt_of: torch.Tensor,
        *,
        steps: int,
        rate: float,
    ) -> torch.Tensor:
        """Fit one metric to the images that were rated for it; their held-out scores, (rated,)."""
        among = distances if len(rated) == len(ratings) else distances[:, rated][:, :, rated].contiguous()
        same_prompt = (prompt_of[rated][:, None] == prompt_of[rated][None]).float()
        parameters = fit_hyperparameters(among, same_prompt, ratings[rated], steps=steps, rate=rate)
        weighted = torch.einsum("g,gij->ij", parameters.weights, among)
        solution = solve(weighted, prompt_of[rated], ratings[rated], parameters)
        self.coefficients[metric, rated] = (parameters.variance * solution.coefficients).float()
        self.weights[metric] = parameters.weights
        return solution.held_out.float()

    def _standardise(self, features: torch.Tensor) -> torch.Tensor:
        return ((features - self.mean) / self.spread).clamp(-LARGEST, LARGEST)

    def _column_weights(self, weights: torch.Tensor) -> torch.Tensor:
        """Of each column, (dims,), so that half the weighted sum of squares is the weighted distance."""
        sizes = torch.tensor(self.groups, device=weights.device)
        return (weights / sizes).repeat_interleave(sizes) / 2


def _half_mean_squares(features: torch.Tensor) -> torch.Tensor:
    """Half the mean squared difference of each two rows, about 1 for standardised features, (n, n)."""
    return _weighted_distances(
        features, features, features.new_full((features.shape[1],), 0.5 / features.shape[1])
    )


def _weighted_distances(rows: torch.Tensor, others: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """Weighted sums of squared differences, (rows, others)."""
    weighted = rows * weights
    squares = (weighted * rows).sum(1)[:, None] + (others.square() @ weights)[None]
    return (squares - 2 * weighted @ others.T).clamp_min(0)
