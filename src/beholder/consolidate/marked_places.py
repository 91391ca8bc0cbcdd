"""Marked places as heatmaps: points become disks, disks one map a person, and maps their mean over people."""

import math
from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from beholder.feedback.heatmap import encode_heatmap
from beholder.study.kinds.kind import Point
from beholder.study.kinds.rich_feedback import MARKED
from beholder.study.kinds.traits import MarkedQuestion
from beholder.tables.catalogue import TABLES

LONGEST_SIDE = 512
"""Maps of larger images are drawn smaller, in proportion: RichHF-18K's have this size."""


def region_rows(
    question: MarkedQuestion, judged: pl.DataFrame, marks: pl.DataFrame, images: pl.DataFrame
) -> pl.DataFrame:
    """The ``regions`` rows of a question: a map for each image and aspect, an empty one where nobody marked.

    ``judged`` has a row for each person and image they judged (``rater``, ``image``, ``trial``, ``session``).
    """
    points = marks.filter(pl.col("kind") == "point").join(
        judged.select("rater", "trial", "session"), on=["trial", "session"], maintain_order="left"
    )
    placed = points.group_by("aspect", "image", "rater", maintain_order=True).agg("x", "y")
    by_map: dict[tuple[str, str], list[list[Point]]] = {}
    for aspect, image, _, x, y in placed.iter_rows():
        by_map.setdefault((aspect, image), []).append(list(zip(x, y, strict=True)))
    people = judged.group_by("image").agg(raters=pl.col("rater").n_unique())
    sized = people.join(images.select("image", "width", "height"), on="image").sort("image")
    return TABLES["regions"].frame(list(_rows(question, sized, by_map)))


def mean_map(
    points: Sequence[Sequence[Point]], *, people: int, width: int, height: int, radius: float
) -> NDArray[np.float64]:
    """The share of ``people`` whose disks cover each pixel, as (height, width).

    ``points`` holds each person's points, as shares of width and height; ``radius`` is a share of the height. A
    pixel is covered if its centre is at most that far from a point.
    """
    total = np.zeros((height, width))
    for own in points:
        total += _covered(own, width, height, radius * height)
    return total / people


def _rows(
    question: MarkedQuestion, sized: pl.DataFrame, by_map: dict[tuple[str, str], list[list[Point]]]
) -> Iterator[dict[str, object]]:
    blank: dict[tuple[int, int], bytes] = {}
    for aspect in MARKED:
        for image, raters, width, height in sized.iter_rows():
            wide, high = _within(width, height)
            points = by_map.get((aspect, image))
            if points is None:
                if (wide, high) not in blank:
                    blank[wide, high] = encode_heatmap(np.zeros((high, wide)))
                png = blank[wide, high]
            else:
                found = mean_map(points, people=raters, width=wide, height=high, radius=question.radius)
                png = encode_heatmap(found)
            yield {
                "question": question.name,
                "aspect": aspect,
                "image": image,
                "heatmap": png,
                "width": wide,
                "height": high,
                "raters": raters,
            }


def _covered(points: Sequence[Point], width: int, height: int, radius: float) -> NDArray[np.bool_]:
    """Where one person's disks lie, as (height, width)."""
    mask = np.zeros((height, width), dtype=np.bool_)
    for x, y in points:
        across, down = x * width, y * height
        top, bottom = max(math.floor(down - radius), 0), min(math.ceil(down + radius) + 1, height)
        left, right = max(math.floor(across - radius), 0), min(math.ceil(across + radius) + 1, width)
        rows = np.arange(top, bottom)[:, None] + 0.5 - down
        columns = np.arange(left, right)[None, :] + 0.5 - across
        mask[top:bottom, left:right] |= rows**2 + columns**2 <= radius**2
    return mask


def _within(width: int, height: int) -> tuple[int, int]:
    """The size of a map: that of the image, or in proportion with the longest side at its limit."""
    shrink = min(1.0, LONGEST_SIDE / max(width, height))
    return max(round(width * shrink), 1), max(round(height * shrink), 1)
