"""The feedback of several models on one image, combined.

Scores, heatmaps and probabilities are means over the models that predict them. The prediction interval of a score
reaches from the lowest to the highest end of the models' own intervals, value ± half width. It contains the
raters' mean score whenever that of any one model does, so its coverage is at least that of each model by itself;
where models differ it is wider. Models without half widths have no intervals of their own: the range of their
values is returned, which says how far they differ from each other and not how far they are from the raters.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beholder.feedback.image_feedback import AspectScore, ImageFeedback
from beholder.images.resize import resize_floats
from beholder.models.rich_feedback.trainable import RichFeedback


@dataclass(frozen=True, eq=False)
class ModelFeedback:
    """The feedback of one model on one image."""

    scores: Mapping[str, float]
    heatmaps: Mapping[str, NDArray[np.float32]]
    missed: NDArray[np.float64] | None
    half_widths: Mapping[str, float]
    """Half width of the prediction interval of each score, where it is known."""


def feedback_of_image(feedback: RichFeedback, index: int, half_widths: Mapping[str, float]) -> ModelFeedback:
    """The feedback on one image of a batch."""
    return ModelFeedback(
        {aspect: float(values[index]) for aspect, values in feedback.scores.items()},
        {aspect: maps[index] for aspect, maps in feedback.heatmaps.items()},
        feedback.misaligned[index] if feedback.misaligned else None,
        half_widths,
    )


def combine_feedback(models: Sequence[ModelFeedback]) -> ImageFeedback:
    """Combine the feedback of several models; aspects are in the order in which they are first named."""
    aspects = dict.fromkeys(aspect for model in models for aspect in model.scores)
    mapped = dict.fromkeys(aspect for model in models for aspect in model.heatmaps)
    words = [model.missed for model in models if model.missed is not None]
    return ImageFeedback(
        {aspect: _score(aspect, [model for model in models if aspect in model.scores]) for aspect in aspects},
        {
            aspect: _heatmap([model.heatmaps[aspect] for model in models if aspect in model.heatmaps])
            for aspect in mapped
        },
        _chances(words) if words else None,
    )


def _score(aspect: str, models: Sequence[ModelFeedback]) -> AspectScore:
    values = [model.scores[aspect] for model in models]
    mean = float(np.mean(values))
    if all(aspect in model.half_widths for model in models):
        low = min(model.scores[aspect] - model.half_widths[aspect] for model in models)
        high = max(model.scores[aspect] + model.half_widths[aspect] for model in models)
        return AspectScore(mean, max(low, 0.0), min(high, 1.0), "held-out")
    if len(models) > 1:
        return AspectScore(mean, min(values), max(values), "members")
    return AspectScore(mean)


def _heatmap(maps: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
    """The mean heatmap, at the size of the largest."""
    height, width = max(heatmap.shape for heatmap in maps)
    sized = [
        heatmap
        if heatmap.shape == (height, width)
        else resize_floats(heatmap[..., None], height, width, "bilinear")[..., 0]
        for heatmap in maps
    ]
    return np.clip(np.mean(sized, axis=0, dtype=np.float32), 0, 1)


def _chances(words: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """The mean probability of each word over the models that read it; nan for a word that none read."""
    table = np.stack(words)
    read = ~np.isnan(table)
    means = np.full(table.shape[1], np.nan)
    np.divide(np.where(read, table, 0).sum(0), read.sum(0), out=means, where=read.any(0))
    return means
