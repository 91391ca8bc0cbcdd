"""The truth of a made-up world as if a model had predicted it: what knowing everything is worth against people."""

from collections.abc import Iterable

import numpy as np
import polars as pl
from numpy.typing import NDArray

from beholder.feedback.heatmap import decode_heatmap
from beholder.learn.rich.evaluate import Predicted
from beholder.learn.rich.examples import RichExample, RichJudged
from beholder.study.words import split_words
from beholder.tables.store import TRUTH_ROOM, Store

NAME = "truth"


def true_feedback(store: Store, judged: RichJudged, images: Iterable[str]) -> dict[str, Predicted] | None:
    """What is true of the images; None where the study was not made up, or knows nothing of one of them."""
    truth = Store(store.folder, TRUTH_ROOM)
    if not truth.has("scores"):
        return None
    wanted = list(images)
    mine = pl.col("image").is_in(wanted)
    scores: dict[str, dict[str, float]] = {}
    rows = truth.read("scores").filter(mine & (pl.col("scorer") == NAME) & pl.col("aspect").is_in(judged.aspects))
    for image, aspect, score in rows.select("image", "aspect", "score").iter_rows():
        scores.setdefault(image, {})[aspect] = score
    if len(scores) < len(wanted):
        return None
    regions = truth.read_or_empty("regions").filter(mine)
    maps = {
        (image, aspect): png for image, aspect, png in regions.select("image", "aspect", "heatmap").iter_rows()
    }
    missed: dict[str, list[int]] = {}
    words = truth.read_or_empty("labels").filter(mine & pl.col("word").is_not_null())
    for image, word in words.select("image", "word").iter_rows():
        missed.setdefault(image, []).append(word)
    return {
        one.image: Predicted(
            scores[one.image],
            {aspect: _map(maps.get((one.image, aspect))) for aspect in one.mapped},
            _flags(one, missed.get(one.image, [])),
        )
        for one in judged.of(wanted)
    }


def _map(png: bytes | None) -> NDArray[np.float32]:
    """The map; nothing is wrong where there is none."""
    return decode_heatmap(png).astype(np.float32) if png is not None else np.zeros((1, 1), np.float32)


def _flags(one: RichExample, missed: list[int]) -> NDArray[np.bool_]:
    flags = np.zeros(len(split_words(one.prompt)), np.bool_)
    flags[missed] = True
    return flags
