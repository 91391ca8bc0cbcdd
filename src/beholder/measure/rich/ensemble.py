"""What several models say of one image, as one.

Scores, heatmaps and chances are means over the models that give them. The interval of a score reaches from the
lowest to the highest end of the models' own, value ± half width. It holds people's mean score whenever that of any
one of them does, so at least as often as each of them by itself; where models differ it is wider. Models without
half widths have no intervals of their own: the range between their values is told, which says how far they differ
and not how far people are.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beholder.feedback.image_feedback import AspectScore, ImageFeedback
from beholder.images.resize import resize_floats
from beholder.models.rich_feedback.trainable import RichFeedback


@dataclass(frozen=True, eq=False)
class Said:
    """What one model says of one image."""

    scores: Mapping[str, float]
    heatmaps: Mapping[str, NDArray[np.float32]]
    missed: NDArray[np.float64] | None
    within: Mapping[str, float]
    """Half width of the interval of each score, where it is known."""


def said_of(feedback: RichFeedback, place: int, within: Mapping[str, float]) -> Said:
    """The part of a batch that is about one image."""
    return Said(
        {aspect: float(values[place]) for aspect, values in feedback.scores.items()},
        {aspect: maps[place] for aspect, maps in feedback.heatmaps.items()},
        feedback.misaligned[place] if feedback.misaligned else None,
        within,
    )


def together(said: Sequence[Said]) -> ImageFeedback:
    """What the models say as one; aspects in the order in which they are first named."""
    aspects = dict.fromkeys(aspect for one in said for aspect in one.scores)
    mapped = dict.fromkeys(aspect for one in said for aspect in one.heatmaps)
    words = [one.missed for one in said if one.missed is not None]
    return ImageFeedback(
        {aspect: _score(aspect, [one for one in said if aspect in one.scores]) for aspect in aspects},
        {aspect: _heatmap([one.heatmaps[aspect] for one in said if aspect in one.heatmaps]) for aspect in mapped},
        _chances(words) if words else None,
    )


def _score(aspect: str, said: Sequence[Said]) -> AspectScore:
    values = [one.scores[aspect] for one in said]
    mean = float(np.mean(values))
    if all(aspect in one.within for one in said):
        low = min(one.scores[aspect] - one.within[aspect] for one in said)
        high = max(one.scores[aspect] + one.within[aspect] for one in said)
        return AspectScore(mean, max(low, 0.0), min(high, 1.0), "held-out")
    if len(said) > 1:
        return AspectScore(mean, min(values), max(values), "members")
    return AspectScore(mean)


def _heatmap(maps: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
    """The mean, at the size of the largest."""
    height, width = max(one.shape for one in maps)
    sized = [
        one if one.shape == (height, width) else resize_floats(one[..., None], height, width, "bilinear")[..., 0]
        for one in maps
    ]
    return np.clip(np.mean(sized, axis=0, dtype=np.float32), 0, 1)


def _chances(words: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """The mean over the models that read a word; nan for one that none did."""
    table = np.stack(words)
    read = ~np.isnan(table)
    means = np.full(table.shape[1], np.nan)
    np.divide(np.where(read, table, 0).sum(0), read.sum(0), out=means, where=read.any(0))
    return means
