"""Which images to keep: the best of n per prompt, and only those above a threshold chosen on held-out labels.

RAHF fine-tunes on the best of eight images per prompt if its score exceeds .8 (Liang et al., CVPR 2024). Which
threshold is right depends on the scorer. Here it is the least score from which held-out images that raters call
good make up the proportion asked for, by the lower end of its confidence interval.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from beholder.errors import StatisticsError
from beholder.stats.intervals.proportions import wilson

FEWEST = 10
"""Held-out images that a threshold rests on, at least."""


@dataclass(frozen=True, slots=True)
class ScoreThreshold:
    """A threshold of scores, and how it did on the held-out images."""

    threshold: float
    good: float
    """The label from which an image counts as good."""
    precision: float
    """Proportion of good ones among held-out images at or above the threshold."""
    low: float
    high: float
    passed: float
    """Proportion of held-out images at or above it."""
    images: int
    reached: bool
    """Whether the lower end is what was asked for; otherwise it is the highest that any threshold has."""


def best_of(scores: ArrayLike) -> NDArray[np.int64]:
    """Return which candidate of each prompt has the highest score; of equal ones the first."""
    return np.asarray(np.argmax(np.asarray(scores, np.float64), axis=1), np.int64)


def choose_threshold(
    scores: ArrayLike, labels: ArrayLike, *, good: float | None = None, precision: float = 0.8, level: float = 0.95
) -> ScoreThreshold:
    """Choose the least threshold at which enough of what passes is good.

    Args:
        scores: Of held-out images, (images,).
        labels: What raters say of them, (images,).
        good: The label from which an image is good; the upper third of the labels by default.
        precision: The proportion of good ones that the lower end of the confidence interval must reach.
        level: Of the confidence interval.

    Returns:
        The threshold; where none is good enough, the one with the highest lower end.
    """
    score, label = np.asarray(scores, np.float64), np.asarray(labels, np.float64)
    if score.shape != label.shape or score.ndim != 1 or len(score) < FEWEST:
        raise StatisticsError(
            f"a threshold needs at least {FEWEST} held-out images with labels; found {score.shape} scores and "
            f"{label.shape} labels"
        )
    bar = float(np.quantile(label, 2 / 3)) if good is None else good
    candidates = np.unique(score)
    passes = score[None, :] >= candidates[:, None]  # (thresholds, images)
    number = passes.sum(axis=1)
    right = (passes & (label >= bar)[None, :]).sum(axis=1)
    low, high = wilson(right, number, level)
    usable = number >= FEWEST
    reached = usable & (low >= precision)
    place = int(np.argmax(reached)) if reached.any() else int(np.argmax(np.where(usable, low, -np.inf)))
    return ScoreThreshold(
        threshold=float(candidates[place]),
        good=bar,
        precision=float(right[place] / number[place]),
        low=float(low[place]),
        high=float(high[place]),
        passed=float(number[place] / len(score)),
        images=len(score),
        reached=bool(reached.any()),
    )
