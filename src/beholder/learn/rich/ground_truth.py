"""The ground truth of a synthetic world as predictions: how well perfect knowledge agrees with the raters."""

from collections.abc import Iterable

import numpy as np
import polars as pl
from numpy.typing import NDArray

from beholder.feedback.heatmap import decode_heatmap
from beholder.learn.rich.examples import RichExample, RichLabels
from beholder.learn.rich.statistics import RichPrediction
from beholder.study.words import split_words
from beholder.tables.store import TRUTH_ROOM, Store

NAME = "truth"
"""Scorer of the ground truth in the tables, and name of its row."""


def ground_truth_feedback(
    store: Store, rich_labels: RichLabels, images: Iterable[str]
) -> dict[str, RichPrediction] | None:
    """Return the ground truth of the images; None if the study is not synthetic, or an image has none."""
    truth = Store(store.folder, TRUTH_ROOM)
    if not truth.has("scores"):
        return None
    names = list(images)
    of_images = pl.col("image").is_in(names)
    scores: dict[str, dict[str, float]] = {}
    rows = truth.read("scores").filter(
        of_images & (pl.col("scorer") == NAME) & pl.col("aspect").is_in(rich_labels.aspects)
    )
    for image, aspect, score in rows.select("image", "aspect", "score").iter_rows():
        scores.setdefault(image, {})[aspect] = score
    if len(scores) < len(names):
        return None
    regions = truth.read_or_empty("regions").filter(of_images)
    maps = {
        (image, aspect): png for image, aspect, png in regions.select("image", "aspect", "heatmap").iter_rows()
    }
    misaligned: dict[str, list[int]] = {}
    words = truth.read_or_empty("labels").filter(of_images & pl.col("word").is_not_null())
    for image, word in words.select("image", "word").iter_rows():
        misaligned.setdefault(image, []).append(word)
    return {
        example.image: RichPrediction(
            scores[example.image],
            {aspect: _decode_or_empty(maps.get((example.image, aspect))) for aspect in example.mapped},
            _word_flags(example, misaligned.get(example.image, [])),
        )
        for example in rich_labels.of(names)
    }


def _decode_or_empty(png: bytes | None) -> NDArray[np.float32]:
    """Return the heatmap; without one, nothing is wrong with the image."""
    return decode_heatmap(png).astype(np.float32) if png is not None else np.zeros((1, 1), np.float32)


def _word_flags(example: RichExample, misaligned: list[int]) -> NDArray[np.bool_]:
    flags = np.zeros(len(split_words(example.prompt)), np.bool_)
    flags[misaligned] = True
    return flags
