"""What people said of images, from the labels and regions of a question of rich feedback."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from beholder.tables.regions import Regions
from beholder.tables.rich_feedback import AspectScore, ImageFeedback

SCORED_BY = {"mean": "scale", "published-mean": "share"}
"""Methods of labels that are scores, and whether they are on the question's scale or shares of it already."""

WORDS_BY = ("majority", "published-majority")
"""Methods of labels that are shares of people who say that a word was missed."""

MISSED = 0.5
"""Above this share of people, or this chance, a word counts as missed."""


@dataclass(frozen=True, eq=False)
class RichLabels:
    """All that people said, looked up by image."""

    question: str
    aspects: Sequence[str]
    """What was rated, in order."""
    scale: tuple[float, float]
    """Of the ratings."""
    labels: pl.DataFrame
    """Those of the question."""
    regions: Regions | None

    def feedback(self, image: str, words: int) -> ImageFeedback | None:
        """What people said of an image, whose prompt has so many words; nothing where none was asked."""
        mine = self.labels.filter(pl.col("image") == image)
        scored = mine.filter(pl.col("word").is_null() & pl.col("method").is_in(list(SCORED_BY)))
        rows = {row["aspect"]: row for row in scored.to_dicts()}
        scores = {aspect: _score(rows[aspect], self.scale) for aspect in self.aspects if aspect in rows}
        maps = self._maps(image)
        if not scores and maps.is_empty():
            return None
        return ImageFeedback(
            scores,
            {aspect: self._heatmap(aspect, image) for aspect in maps["aspect"]},
            _missed(mine, words),
            max(scored["raters"].to_list() + maps["raters"].to_list()),
        )

    def _maps(self, image: str) -> pl.DataFrame:
        """Aspect and people of each heatmap of an image."""
        if self.regions is None:
            return pl.DataFrame(schema={"aspect": pl.String, "raters": pl.Int64})
        mine = (pl.col("question") == self.question) & (pl.col("image") == image)
        return self.regions.keys.filter(mine).select("aspect", "raters").sort("aspect")

    def _heatmap(self, aspect: str, image: str) -> NDArray[np.float32]:
        if self.regions is None:
            raise TypeError("there are no regions")
        return self.regions.heatmap(self.question, aspect, image).astype(np.float32)


def as_share(value: float, method: str, scale: tuple[float, float]) -> float:
    """The label of a score on a scale from 0 to 1; an interval's end beyond the scale stays there."""
    if SCORED_BY[method] == "share":
        return value
    low, high = scale
    return (value - low) / (high - low)


def _score(row: Mapping[str, Any], scale: tuple[float, float]) -> AspectScore:
    value, low, high = (
        None if row[key] is None else as_share(row[key], row["method"], scale) for key in ("value", "low", "high")
    )
    if value is None:
        raise TypeError(f"a label without a value: {row}")
    if low is None or high is None:
        return AspectScore(value)
    return AspectScore(value, max(low, 0.0), min(high, 1.0), "people")


def _missed(mine: pl.DataFrame, words: int) -> NDArray[np.float64] | None:
    """The share of people for each word; nothing where words were not asked for, or are not the prompt's."""
    rows = mine.filter(pl.col("word").is_not_null() & pl.col("method").is_in(WORDS_BY))
    places = rows["word"].to_numpy()
    if not len(places) or places.max() >= words:
        return None
    shares = np.zeros(words)
    shares[places] = rows["value"].to_numpy()
    return shares
