"""The ground truth of every image of a study: that of a synthetic world, or an invented one for a rehearsal."""

import hashlib

import numpy as np
import polars as pl

from beholder.errors import StageError
from beholder.feedback.heatmap import decode_heatmap
from beholder.simulate.sight import ASPECTS, View
from beholder.study.kinds.kind import Point
from beholder.tables.store import TRUTH_ROOM, Store

TRUTH = "truth"
"""Scorer and question name under which a synthetic world stores its ground truth."""

LEAST_DETECTABILITY = 1.0
"""d′ of an invented image of the highest quality: 69 % right where neither answer is favoured."""


def views_of(store: Store, *, seed: int) -> dict[str, View]:
    """Return the ground truth of each image; where the study has none, qualities are invented for a rehearsal."""
    images = store.read("images")
    truth = Store(store.folder, TRUTH_ROOM)
    if not truth.has("scores"):
        return _invented(images, seed)
    views = _stored(truth)
    unknown = [image for image in images["image"] if image not in views]
    if unknown:
        raise StageError(
            f"{truth.path('scores')} knows nothing of {len(unknown)} of {images.height} images, the first of them "
            f"{unknown[0]}. Move the folder '{TRUTH_ROOM}' away to rehearse with invented qualities."
        )
    return views


def _stored(truth: Store) -> dict[str, View]:
    scores = truth.read("scores").filter(pl.col("scorer") == TRUTH).pivot("aspect", index="image", values="score")
    points = _points(truth.read_or_empty("regions"))
    words: dict[str, list[int]] = {}
    for image, word in truth.read_or_empty("labels").select("image", "word").drop_nulls().sort("word").iter_rows():
        words.setdefault(image, []).append(word)
    return {
        row["image"]: View(
            detectability=row["detectability"],
            quality={aspect: row[aspect] for aspect in ASPECTS},
            points=points.get(row["image"], {}),
            words=tuple(words.get(row["image"], ())),
        )
        for row in scores.iter_rows(named=True)
    }


def _points(regions: pl.DataFrame) -> dict[str, dict[str, tuple[Point, ...]]]:
    """Return where a rater would click: spread over each flawed region, about a disk's width apart."""
    points: dict[str, dict[str, tuple[Point, ...]]] = {}
    for image, aspect, heatmap in regions.select("image", "aspect", "heatmap").iter_rows():
        mask = decode_heatmap(heatmap) > 0.5
        points.setdefault(image, {})[aspect] = _spread(mask)
    return points


def _spread(mask: np.ndarray) -> tuple[Point, ...]:
    """Centres of the cells of a 10 × 10 grid of which the mask covers at least a third; or else its centre."""
    height, width = mask.shape
    rows, columns = np.nonzero(mask)
    if len(rows) == 0:
        return ()
    cells = np.zeros((10, 10))
    np.add.at(cells, (rows * 10 // height, columns * 10 // width), 1.0)
    covered = np.argwhere(cells >= height * width / 300)
    if len(covered) == 0:
        return ((float(columns.mean() / width), float(rows.mean() / height)),)
    return tuple(((column + 0.5) / 10, (row + 0.5) / 10) for row, column in covered.tolist())


def _invented(images: pl.DataFrame, seed: int) -> dict[str, View]:
    """Invent a quality for each generator and a small difference for each image; real images are flawless.

    Even the best generator is detectable to a degree at which most honest raters pass a qualification, so that a
    rehearsal does not end there.
    """
    views: dict[str, View] = {}
    for image, generator, real in images.select("image", "generator", "real").iter_rows():
        if real:
            views[image] = View(0.0, dict.fromkeys(ASPECTS, 1.0))
            continue
        of_generator = _rng(seed, generator).uniform(0.3, 0.95)
        rng = _rng(seed, image)
        quality = {aspect: float(np.clip(of_generator + rng.normal(0, 0.1), 0, 1)) for aspect in ASPECTS}
        views[image] = View(LEAST_DETECTABILITY + 2 * (1 - quality["plausibility"]), quality)
    return views


def _rng(seed: int, name: str) -> np.random.Generator:
    digest = hashlib.sha256(name.encode()).digest()
    return np.random.default_rng([seed, int.from_bytes(digest[:8], "big")])
