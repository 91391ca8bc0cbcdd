"""The losses of heatmaps, scores, the written prompt and named words; missing labels do not count.

The counts of labels are those that the losses are means over.
"""

import torch
from torch.nn import functional

from beholder.models.rich_feedback.keywords import IGNORED
from beholder.models.rich_feedback.trainable import RichBatch


def heatmap_loss(logits: torch.Tensor, marked: torch.Tensor, floor: float) -> torch.Tensor:
    """Squared error of maps (n, side, side), pixels weighted by the proportion of raters who marked them + floor.

    With equal weights most maps are best fitted by an empty map; with these a marked pixel counts (1 + floor) /
    floor times as much as an empty one. The weights of each map add up to 1, so all maps count equally, and an
    empty map has the plain squared error.
    """
    labelled = ~marked.isnan().flatten(1).any(1)
    if not labelled.any():
        return logits.sum() * 0
    predicted, observed = logits[labelled].sigmoid().flatten(1), marked[labelled].flatten(1)
    weights = observed + floor
    weights = weights / weights.sum(1, keepdim=True)
    return (weights * (predicted - observed).square()).sum(1).mean()


def score_loss(logits: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
    """Mean squared error of scores (n,)."""
    labelled = ~scores.isnan()
    if not labelled.any():
        return logits.sum() * 0
    return functional.mse_loss(logits[labelled].sigmoid(), scores[labelled])


def writing_loss(logits: torch.Tensor, target_ids: torch.Tensor) -> torch.Tensor:
    """Cross-entropy of the next token, averaged over all tokens; (n, length, vocabulary size) and (n, length)."""
    return functional.cross_entropy(logits.flatten(0, 1), target_ids.flatten(), ignore_index=IGNORED)


def choice_loss(margins: torch.Tensor, marked: torch.Tensor) -> torch.Tensor:
    """Cross-entropy of the choices that constrained decoding leaves open, averaged over all words; (words,) both.

    ``margins`` are the logits of the mark minus those of the token that follows without one.
    """
    return functional.binary_cross_entropy_with_logits(margins, marked)


def naming_loss(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Cross-entropy of whether images show words, both (n, words); nan where it is unknown."""
    labelled = ~labels.isnan()
    if not labelled.any():
        return logits.sum() * 0
    return functional.binary_cross_entropy_with_logits(logits[labelled], labels[labelled])


def count_scores(batch: RichBatch, column: int) -> float:
    """Return how many images have the score of a column."""
    return float((~batch.scores[:, column].isnan()).sum())


def count_heatmaps(batch: RichBatch, column: int) -> float:
    """Return how many images have the heatmap of a column."""
    return float((~batch.heatmaps[:, column].isnan().flatten(1).any(1)).sum())


def count_image_heatmaps(batch: RichBatch, column: int) -> float:
    """Return how many images have the heatmap of a column, whatever words of their prompts were exchanged."""
    return count_heatmaps(batch.for_image_alone, column)


def count_image_scores(batch: RichBatch, column: int) -> float:
    """Return how many images have the score of a column, whatever words of their prompts were exchanged."""
    return count_scores(batch.for_image_alone, column)
