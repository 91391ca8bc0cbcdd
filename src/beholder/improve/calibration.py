"""Labelled images with their scores: what scores are worth, by raters' own labels of other prompts."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beholder.errors import StatisticsError
from beholder.improve.critic import Critic
from beholder.improve.gains import prompt_numbers
from beholder.improve.labelled import LabelledPictures
from beholder.stats.estimate import Estimate
from beholder.stats.prediction.selected_gain import selected_gain, selected_gain_of_ratings

MOST_LABELLED = 200
"""Labelled images that are scored for the forecast, at most."""


@dataclass(frozen=True, eq=False)
class Calibration:
    """Labelled images with their scores, of prompts that are not filtered where there are enough of these."""

    labels: NDArray[np.float64]
    scores: NDArray[np.float64]  # (images, scorers)
    prompts: NDArray[np.int64]
    variance: float
    aspect: str
    ratings: tuple[tuple[float, ...], ...]
    points: int

    def forecast(self, candidates: NDArray[np.float64], chosen: NDArray[np.int64]) -> Estimate | None:
        """What choosing truly gains; from single ratings where there are some on a scale of points.

        ``None`` where there are too few labels.
        """
        try:
            if self.points and self.ratings and all(self.ratings):
                counts = [len(several) for several in self.ratings]
                return selected_gain_of_ratings(
                    np.concatenate(self.ratings),
                    np.repeat(np.arange(len(counts)), counts),
                    self.points,
                    self.scores,
                    candidates,
                    chosen,
                    clusters=self.prompts,
                ).gain
            return selected_gain(
                self.labels,
                self.scores,
                candidates,
                chosen,
                clusters=self.prompts,
                label_variance=self.variance,
            ).gain
        except StatisticsError:
            return None


def calibrate(
    labelled: LabelledPictures | None,
    critic: Critic,
    held_out: Critic | None,
    background: str,
    filtered: set[str],
    rng: np.random.Generator,
) -> Calibration | None:
    """Score labelled images: those of other prompts where there are at least twenty, else any."""
    if labelled is None:
        return None
    rated = list(zip(labelled.pictures, labelled.labels, labelled.ratings, strict=True))
    elsewhere = [row for row in rated if row[0].prompt not in filtered]
    rows = elsewhere if len({picture.prompt for picture, _, _ in elsewhere}) >= 20 else rated
    if len(rows) > MOST_LABELLED:
        rows = [rows[place] for place in sorted(rng.choice(len(rows), MOST_LABELLED, replace=False).tolist())]
    if not rows:
        return None
    pictures, labels, ratings = zip(*rows, strict=True)
    images, texts = [picture.read(background) for picture in pictures], [picture.prompt for picture in pictures]
    scores = [scorer.score(images, texts) for scorer in (critic, held_out) if scorer is not None]
    return Calibration(
        np.array(labels),
        np.stack(scores, axis=1),
        prompt_numbers(texts),
        labelled.variance,
        labelled.aspect,
        ratings,
        labelled.points,
    )
