"""Calibration of rich feedback after training: a scale and a shift of the logits of each output, smoother maps.

They are fitted to images held out of training, by maximum likelihood (Platt's method, with the proportions of
raters as soft labels). Heatmaps need it most: their loss weighs marked pixels more than others, so that a pixel
that few raters mark is predicted far too high. And raters mark disks about what they mean, where the edges of a
predicted map are sharp: its probabilities are smoothed by as much as brings them closest to the raters' maps, in
Kullback–Leibler divergence.
"""

from collections.abc import Sequence

import torch
from torch import nn
from torch.nn import functional

Collected = tuple[torch.Tensor, ...]
"""Labels, then the logits of each expert, all in one shape."""
STEPS = 50
"""Newton steps; ten are mostly enough."""
RIDGE = 1e-3
"""Pull towards scale 1 and shift 0, per label: it decides where labels are few or all alike."""
WIDTHS = tuple(tenths / 10 for tenths in range(21))
"""Widths of smoothing that are tried, in pixels of a heatmap."""
REACH = 6
"""Pixels on either side that a smoothed pixel depends on: three times the largest width."""
SHARP = 1e-2
"""Least width of a Gaussian, at which nothing is smoothed."""
FAINT = 1e-6
"""Least probability of a smoothed pixel, so that its logit stays finite."""
SMOOTHED_PIXELS = 4_000_000
"""Pixels of marked heatmaps after which no more are kept to fit the smoothing."""
PIXELS = 4_000
"""Pixels of each heatmap that are used at most: enough of 100 images for a scale and a shift."""


class OutputScales(nn.Module):
    """Scale and shift of each score, of each heatmap and of words; 1 and 0 until they are fitted.

    Where several experts predict scores and heatmaps there is a scale for each expert, then the shift; until they
    are fitted, the logits are the mean over the experts. ``smoothing`` is the width by which each heatmap is
    smoothed, in pixels of the map; 0 until it is fitted.
    """

    scores: torch.Tensor
    heatmaps: torch.Tensor
    words: torch.Tensor
    smoothing: torch.Tensor

    def __init__(self, scores: int, heatmaps: int, experts: int = 1) -> None:
        super().__init__()
        self.register_buffer("scores", torch.empty(scores, experts + 1))
        self.register_buffer("heatmaps", torch.empty(heatmaps, experts + 1))
        self.register_buffer("words", torch.empty(1, 2))
        self.register_buffer("smoothing", torch.empty(heatmaps))
        self.reset()

    def reset(self) -> None:
        """Set every scale to 1 (1 / experts) and every shift to 0, as in training."""
        for scales in (self.scores, self.heatmaps, self.words):
            scales.copy_(mean_of_experts(scales.shape[1] - 1).expand_as(scales))
        self.smoothing.zero_()

    @property
    def experts(self) -> int:
        """How many predict each score and heatmap."""
        return self.scores.shape[1] - 1

    def score(self, row: int, *logits: torch.Tensor) -> torch.Tensor:
        """The calibrated logits of a score (n,) from those of each expert."""
        return rescale(self.scores[row], *logits)

    def heatmap(self, row: int, *logits: torch.Tensor) -> torch.Tensor:
        """The calibrated logits of a heatmap (n, side, side) from those of each expert."""
        return smooth(rescale(self.heatmaps[row], *logits), self.smoothing[row])


def identity_scales(module: nn.Module) -> dict[str, torch.Tensor]:
    """The calibration that changes nothing, by its names in the state of a module that is calibrated.

    Checkpoints from before models were calibrated lack it; those of other modules need none.
    """
    scales = {name: part for name, part in module.named_modules() if isinstance(part, OutputScales)}
    return {
        f"{name}.{output}": tensor
        for name, part in scales.items()
        for output, tensor in OutputScales(len(part.scores), len(part.heatmaps), part.experts).state_dict().items()
    }


def mean_of_experts(experts: int) -> torch.Tensor:
    """The scales and the shift (experts + 1,) that give the mean of the experts' logits."""
    return torch.tensor([1 / experts] * experts + [0.0])


def rescale(scale: torch.Tensor, *logits: torch.Tensor) -> torch.Tensor:
    """The sum of each expert's logits by its scale, and a shift; ``scale`` is (experts + 1,)."""
    return torch.stack([factor * each for factor, each in zip(scale[:-1], logits, strict=True)]).sum(0) + scale[-1]


def smooth(logits: torch.Tensor, width: torch.Tensor) -> torch.Tensor:
    """Logits of the probabilities of maps (n, side, side), blurred by a Gaussian of this width in pixels."""
    places = torch.arange(-REACH, REACH + 1, device=logits.device, dtype=logits.dtype)
    kernel = torch.exp(-0.5 * (places / width.to(logits.dtype).clamp(min=SHARP)).square())
    kernel = kernel / kernel.sum()
    maps = functional.pad(logits.sigmoid()[:, None], (REACH,) * 4, mode="replicate")
    maps = functional.conv2d(functional.conv2d(maps, kernel[None, None, :, None]), kernel[None, None, None])
    return maps[:, 0].logit(FAINT)


def divergence(predicted: torch.Tensor, marked: torch.Tensor) -> float:
    """Mean Kullback–Leibler divergence of predicted maps (n, pixels) from raters', each divided by its sum."""
    expected, density = (maps / maps.sum(1, keepdim=True) for maps in (marked, predicted))
    return float((expected * (expected.clamp(min=FAINT) / density.clamp(min=FAINT**2)).log()).sum(1).mean())


class Calibration:
    """Logits and labels of held-out images, collected batch by batch, and the fit to them."""

    def __init__(self, scales: OutputScales) -> None:
        self._scales = scales
        self._scores: list[list[Collected]] = [[] for _ in scales.scores]
        self._heatmaps: list[list[Collected]] = [[] for _ in scales.heatmaps]
        self._words: list[Collected] = []
        self._marked: list[list[Collected]] = [[] for _ in scales.heatmaps]
        scales.reset()

    def add_scores(self, column: int, scores: torch.Tensor, *logits: torch.Tensor) -> None:
        """Add the scores (n,) of one aspect with the logits of each expert; nan are left out."""
        labelled = ~scores.isnan()
        self._scores[column].append(tuple(each[labelled] for each in (scores, *logits)))

    def add_heatmaps(self, column: int, marked: torch.Tensor, *logits: torch.Tensor) -> None:
        """Add the heatmaps (n, side, side) of one aspect, thinned to a regular sample; nan are left out."""
        labelled = ~marked.isnan().flatten(1).any(1)
        step = -(-marked[0].numel() // PIXELS) | 1  # odd, so that no column of a map is sampled alone
        pixels = [maps[labelled].flatten(1)[:, ::step].flatten() for maps in (marked, *logits)]
        self._heatmaps[column].append(tuple(pixels))
        nonempty = marked.nan_to_num().flatten(1).any(1)
        if sum(maps.numel() for maps, *_ in self._marked[column]) < SMOOTHED_PIXELS:
            self._marked[column].append(tuple(maps[nonempty].float() for maps in (marked, *logits)))

    def add_words(self, flags: torch.Tensor, logits: torch.Tensor) -> None:
        """Add words (words,), each misaligned (1) or not (0)."""
        self._words.append((flags, logits))

    def fit(self) -> None:
        """Fit every scale and shift, then how far each heatmap is smoothed."""
        for fitted, collected in (
            (self._scales.scores, self._scores),
            (self._scales.heatmaps, self._heatmaps),
            (self._scales.words, [self._words]),
        ):
            for row, batches in enumerate(collected):
                if batches:
                    fitted[row] = fit_scale(*_joined(batches))
        for row, batches in enumerate(self._marked):
            if sum(len(maps) for maps, *_ in batches):
                marked, *logits = _joined(batches)
                self._scales.smoothing[row] = fit_smoothing(rescale(self._scales.heatmaps[row], *logits), marked)


def _joined(batches: Sequence[Collected]) -> list[torch.Tensor]:
    """The labels of all batches, then the logits of each expert."""
    return [torch.cat(column) for column in zip(*batches, strict=True)]


def fit_smoothing(logits: torch.Tensor, marked: torch.Tensor) -> torch.Tensor:
    """The width of smoothing that brings maps (n, side, side) closest to those of raters, none of them empty."""
    divergences = [
        divergence(smooth(logits, width).sigmoid().flatten(1), marked.flatten(1)) for width in torch.tensor(WIDTHS)
    ]
    return torch.tensor(WIDTHS)[int(torch.tensor(divergences).argmin())]


def fit_scale(labels: torch.Tensor, *logits: torch.Tensor) -> torch.Tensor:
    """Scales of the experts and shift (experts + 1,) that maximise the likelihood of labels from 0 to 1.

    An expert whose scale would be negative among others is left out: it gets 0.
    """
    start = mean_of_experts(len(logits)).double()
    used = list(range(len(start)))
    fitted = _maximise_likelihood(labels, logits, start)
    while len(used) > 2 and float(fitted[:-1].min()) < 0:
        del used[int(fitted[:-1].argmin())]
        others = [logits[index] for index in used[:-1]]
        fitted = _maximise_likelihood(labels, others, mean_of_experts(len(others)))
    return torch.zeros_like(start).index_copy(0, torch.tensor(used), fitted.double()).float()


def _maximise_likelihood(
    labels: torch.Tensor, logits: Sequence[torch.Tensor], start: torch.Tensor
) -> torch.Tensor:
    """Scales and shift by Newton's method, with a ridge towards the start."""
    start = start.double()
    if not len(labels):
        return start
    predictors = [each.detach().double().cpu() for each in logits]
    design = torch.stack([*predictors, torch.ones_like(predictors[0])], 1)
    observed, fitted, ridge = labels.double().cpu(), start.clone(), RIDGE * len(labels)
    for _ in range(STEPS):
        predicted = (design @ fitted).sigmoid()
        slope = design.T @ (observed - predicted) - ridge * (fitted - start)
        curvature = design.T @ (design * (predicted * (1 - predicted))[:, None])
        step = torch.linalg.solve(curvature + ridge * torch.eye(len(start)).double(), slope)
        fitted = fitted + step
        if float(step.abs().max()) < 1e-9:
            break
    return fitted
