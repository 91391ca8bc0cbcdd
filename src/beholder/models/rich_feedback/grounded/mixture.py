"""Heatmaps as a mixture: mostly what image and words say together, a little of what the image says alone.

Where the words give no reason to mark anything, a map of both is nearly 0 everywhere, and the order of its pixels
is noise. Raters who mark something nevertheless mark what the image alone would suggest. So the probability of a
pixel is

    (1 − w) · p(image, words) + w · p(image),

with both parts calibrated. The weight w of each heatmap is fitted to images held out of training: it minimises the
Kullback–Leibler divergence from the raters' maps, each divided by its sum, over the images that raters marked.
"""

import torch
from torch import nn
from torch.nn import functional

from beholder.models.rich_feedback.calibration import fit_scale, rescale

STEPS = 40
"""Weights from 0 up to ``LARGEST`` that are tried."""
LARGEST = 0.8
TINY = 1e-12
"""Least density of a pixel, so that logarithms stay finite."""


class MapMixtures(nn.Module):
    """Scale and shift of the image's part of each heatmap, and its weight; 0 until it is fitted."""

    scales: torch.Tensor
    weights: torch.Tensor

    def __init__(self, heatmaps: int) -> None:
        super().__init__()
        self.register_buffer("scales", torch.tensor([1.0, 0.0]).repeat(heatmaps, 1))
        self.register_buffer("weights", torch.zeros(heatmaps))

    def forward(self, row: int, joint: torch.Tensor, by_image: torch.Tensor) -> torch.Tensor:
        """Logits of the mixture, of calibrated logits by image and words and of those by the image alone."""
        return mix(joint, rescale(by_image, self.scales[row]), self.weights[row])

    def fit(self, row: int, joint: torch.Tensor, by_image: torch.Tensor, marked: torch.Tensor) -> None:
        """Fit a heatmap to raters' maps; all are (n, side, side), and maps with nan are left out."""
        labelled = ~marked.isnan().flatten(1).any(1)
        joint, by_image, marked = (maps[labelled] for maps in (joint, by_image, marked))
        self.scales[row] = fit_scale(by_image.flatten(), marked.flatten())
        rescaled = rescale(by_image, self.scales[row])
        weights = torch.linspace(0, LARGEST, STEPS + 1)
        divergences = [divergence(mix(joint, rescaled, weight).sigmoid(), marked) for weight in weights]
        self.weights[row] = weights[int(torch.tensor(divergences).argmin())]


def mix(joint: torch.Tensor, by_image: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """Logits of (1 − weight) · sigmoid(joint) + weight · sigmoid(by_image)."""
    parts = torch.log1p(-weight), torch.log(weight)
    marked, unmarked = (
        torch.logaddexp(
            parts[0] + functional.logsigmoid(sign * joint), parts[1] + functional.logsigmoid(sign * by_image)
        )
        for sign in (1, -1)
    )
    return marked - unmarked


def divergence(predicted: torch.Tensor, marked: torch.Tensor) -> float:
    """Mean divergence of predicted maps from raters', over those that are not empty; 0 where all are."""
    observed = marked.flatten(1)
    nonempty = observed.sum(1) > 0
    if not nonempty.any():
        return 0.0
    expected, density = (_as_density(maps[nonempty]) for maps in (observed, predicted.flatten(1)))
    return float((expected * (expected.clamp(min=TINY) / density.clamp(min=TINY)).log()).sum(1).mean())


def _as_density(maps: torch.Tensor) -> torch.Tensor:
    return maps / maps.sum(1, keepdim=True)
