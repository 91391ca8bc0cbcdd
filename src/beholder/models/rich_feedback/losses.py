"""The losses: pixels of a heatmap, scores, the written prompt, named words; what nobody was asked is left out."""

import torch
from torch.nn import functional

from beholder.models.rich_feedback.keywords import IGNORED


def heatmap_loss(logits: torch.Tensor, marked: torch.Tensor, floor: float) -> torch.Tensor:
    """Squared error of maps (n, side, side), each pixel weighted by what people marked there plus ``floor``.

    With even weights most maps are best fitted by nothing at all; with these a marked pixel counts (1 + floor) /
    floor times as much as an empty one. The weights of each map add up to 1, so all maps count alike, and an empty
    map has the plain squared error.
    """
    known = ~marked.isnan().flatten(1).any(1)
    if not known.any():
        return logits.sum() * 0
    given, truth = logits[known].sigmoid().flatten(1), marked[known].flatten(1)
    weights = truth + floor
    weights = weights / weights.sum(1, keepdim=True)
    return (weights * (given - truth).square()).sum(1).mean()


def score_loss(logits: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
    """Mean squared error of scores (n,)."""
    known = ~scores.isnan()
    if not known.any():
        return logits.sum() * 0
    return functional.mse_loss(logits[known].sigmoid(), scores[known])


def writing_loss(logits: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
    """Cross-entropy of what should be written next, a mean over all numbers; (n, length, size) and (n, length)."""
    return functional.cross_entropy(logits.flatten(0, 1), wanted.flatten(), ignore_index=IGNORED)


def choice_loss(leads: torch.Tensor, marked: torch.Tensor) -> torch.Tensor:
    """Cross-entropy of the choices that constrained decoding leaves open, a mean over all words; (words,) both.

    ``leads`` is how far the logit of the mark leads over that of what follows without one.
    """
    return functional.binary_cross_entropy_with_logits(leads, marked)


def naming_loss(logits: torch.Tensor, shown: torch.Tensor) -> torch.Tensor:
    """Cross-entropy of whether images show words, both (n, words); nan where nobody knows."""
    known = ~shown.isnan()
    if not known.any():
        return logits.sum() * 0
    return functional.binary_cross_entropy_with_logits(logits[known], shown[known])
