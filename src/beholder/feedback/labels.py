"""The raters' feedback on images, from the labels and regions of a rich-feedback question."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from beholder.feedback.image_feedback import AspectScore, ImageFeedback
from beholder.feedback.regions import Regions

SCORED_BY = {"mean": "scale", "published-mean": "share"}
"""Methods of labels that are scores, and whether they are on the question's scale or from 0 to 1 already."""

WORDS_BY = ("majority", "published-majority")
"""Methods of labels that are proportions of raters who marked a word as misaligned."""

MISSED = 0.5
"""Above this proportion of raters, or this probability, a word counts as misaligned."""


@dataclass(frozen=True, eq=False)
class RichLabels:
    """The raters' feedback, looked up by image."""

    question: str
    aspects: Sequence[str]
    """What was rated, in order."""
    scale: tuple[float, float]
    """Of the ratings."""
    labels: pl.DataFrame
    """Those of the question."""
    regions: Regions | None

    def feedback(self, image: str, words: int) -> ImageFeedback | None:
        """Return the feedback on an image whose prompt has ``words`` words; nothing where no rater judged it."""
        labels = self.labels.filter(pl.col("image") == image)
        scored = labels.filter(pl.col("word").is_null() & pl.col("method").is_in(list(SCORED_BY)))
        rows = {row["aspect"]: row for row in scored.to_dicts()}
        scores = {aspect: _score(rows[aspect], self.scale) for aspect in self.aspects if aspect in rows}
        maps = self._maps(image)
        if not scores and maps.is_empty():
            return None
        return ImageFeedback(
            scores,
            {aspect: self._heatmap(aspect, image) for aspect in maps["aspect"]},
            _missed(labels, words),
            max(scored["raters"].to_list() + maps["raters"].to_list()),
        )

    def _maps(self, image: str) -> pl.DataFrame:
        """Aspect and number of raters of each heatmap of an image."""
        if self.regions is None:
            return pl.DataFrame(schema={"aspect": pl.String, "raters": pl.Int64})
        of_image = (pl.col("question") == self.question) & (pl.col("image") == image)
        return self.regions.keys.filter(of_image).select("aspect", "raters").sort("aspect")

    def _heatmap(self, aspect: str, image: str) -> NDArray[np.float32]:
        if self.regions is None:
            raise TypeError("there are no regions")
        return self.regions.heatmap(self.question, aspect, image).astype(np.float32)


def to_unit_scale(value: float, method: str, scale: tuple[float, float]) -> float:
    """Return a score's label on a scale from 0 to 1; an end of its interval beyond the scale is not clipped."""
    if SCORED_BY[method] == "share":
        return value
    low, high = scale
    return (value - low) / (high - low)


def _score(row: Mapping[str, Any], scale: tuple[float, float]) -> AspectScore:
    value, low, high = (
        None if row[key] is None else to_unit_scale(row[key], row["method"], scale)
        for key in ("value", "low", "high")
    )
    if value is None:
        raise TypeError(f"a label without a value: {row}")
    if low is None or high is None:
        return AspectScore(value)
    return AspectScore(value, max(low, 0.0), min(high, 1.0), "people")


def _missed(labels: pl.DataFrame, words: int) -> NDArray[np.float64] | None:
    """Return the proportion of raters who marked each word; nothing where the words are not the prompt's."""
    rows = labels.filter(pl.col("word").is_not_null() & pl.col("method").is_in(WORDS_BY))
    places = rows["word"].to_numpy()
    if not len(places) or places.max() >= words:
        return None
    proportions = np.zeros(words)
    proportions[places] = rows["value"].to_numpy()
    return proportions
