"""Marked points as heatmaps: points become disks, disks one map per rater, and the heatmap is their mean."""

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
"""Heatmaps of larger images are drawn smaller, in proportion: RichHF-18K's have this size."""


def region_rows(
    question: MarkedQuestion, judged: pl.DataFrame, marks: pl.DataFrame, images: pl.DataFrame
) -> pl.DataFrame:
    """Return the ``regions`` rows of a question: one heatmap per image and aspect, empty where nobody marked.

    ``judged`` has one row per rater and image judged (``rater``, ``image``, ``trial``, ``session``).
    """
    points = marks.filter(pl.col("kind") == "point").join(
        judged.select("rater", "trial", "session"), on=["trial", "session"], maintain_order="left"
    )
    placed = points.group_by("aspect", "image", "rater", maintain_order=True).agg("x", "y")
    by_map: dict[tuple[str, str], list[list[Point]]] = {}
    for aspect, image, _, x, y in placed.iter_rows():
        by_map.setdefault((aspect, image), []).append(list(zip(x, y, strict=True)))
    rater_counts = judged.group_by("image").agg(raters=pl.col("rater").n_unique())
    sized = rater_counts.join(images.select("image", "width", "height"), on="image").sort("image")
    return TABLES["regions"].frame(list(_rows(question, sized, by_map)))


def mean_map(
    points: Sequence[Sequence[Point]], *, raters: int, width: int, height: int, radius: float
) -> NDArray[np.float64]:
    """Return the proportion of ``raters`` whose disks cover each pixel, as (height, width).

    ``points`` holds each rater's points, as fractions of width and height; ``radius`` is a fraction of the height.
    A pixel is covered if its centre is at most that far from a point.
    """
    total = np.zeros((height, width))
    for own in points:
        total += _covered(own, width, height, radius * height)
    return total / raters


def _rows(
    question: MarkedQuestion, sized: pl.DataFrame, by_map: dict[tuple[str, str], list[list[Point]]]
) -> Iterator[dict[str, object]]:
    blank: dict[tuple[int, int], bytes] = {}
    for aspect in MARKED:
        for image, raters, width, height in sized.iter_rows():
            wide, high = _heatmap_size(width, height)
            points = by_map.get((aspect, image))
            if points is None:
                if (wide, high) not in blank:
                    blank[wide, high] = encode_heatmap(np.zeros((high, wide)))
                png = blank[wide, high]
            else:
                heatmap = mean_map(points, raters=raters, width=wide, height=high, radius=question.radius)
                png = encode_heatmap(heatmap)
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
    """Return the pixels that one rater's disks cover, as (height, width)."""
    mask = np.zeros((height, width), dtype=np.bool_)
    for x, y in points:
        across, down = x * width, y * height
        top, bottom = max(math.floor(down - radius), 0), min(math.ceil(down + radius) + 1, height)
        left, right = max(math.floor(across - radius), 0), min(math.ceil(across + radius) + 1, width)
        rows = np.arange(top, bottom)[:, None] + 0.5 - down
        columns = np.arange(left, right)[None, :] + 0.5 - across
        mask[top:bottom, left:right] |= rows**2 + columns**2 <= radius**2
    return mask


def _heatmap_size(width: int, height: int) -> tuple[int, int]:
    """Return the size of a heatmap: the image's, or in proportion with the longest side at its limit."""
    shrink = min(1.0, LONGEST_SIDE / max(width, height))
    return max(round(width * shrink), 1), max(round(height * shrink), 1)
