"""The ground truth of a study's images: stored, or invented."""

from collections.abc import Callable
from pathlib import Path
from statistics import NormalDist

import numpy as np
import polars as pl
import pytest

from beholder.errors import StageError
from beholder.feedback.heatmap import encode_heatmap
from beholder.simulate.sight import ASPECTS
from beholder.simulate.views import LEAST_DETECTABILITY, TRUTH, _spread, views_of
from beholder.study.kinds.pair import PairQuestion
from beholder.tables.catalogue import TABLES
from beholder.tables.provenance import Provenance
from beholder.tables.store import TRUTH_ROOM, Store

Make = Callable[..., Path]
QUESTION = PairQuestion(name="q")


def plant(folder: Path, *, leave_out: str | None = None) -> None:
    images = Store(folder).read("images")["image"].to_list()
    scores = [
        {"scorer": TRUTH, "aspect": aspect, "image": image, "score": number}
        for image in images
        if image != leave_out
        for aspect, number in {**dict.fromkeys(ASPECTS, 0.25), "detectability": 2.0}.items()
    ]
    mask = np.zeros((20, 20))
    mask[0:2, 2:4] = 1  # the cell in the first row, second column of ten
    regions = [
        {"question": TRUTH, "aspect": "implausibility", "image": images[0], "heatmap": encode_heatmap(mask)}
        | {"width": 20, "height": 20, "raters": 0}
    ]
    words = [
        {"question": TRUTH, "aspect": "misalignment", "method": TRUTH, "image": images[0], "word": word}
        | {"value": 1.0, "answers": 1, "raters": 1}
        for word in (5, 1)
    ]
    frames = {
        "scores": TABLES["scores"].frame(scores),
        "regions": TABLES["regions"].frame(regions),
        "labels": TABLES["labels"].frame(words),
    }
    Store(folder, TRUTH_ROOM).write(frames, Provenance("simulate", {}, 0, {}))


def test_planted_truth_is_read(bare_study: Make) -> None:
    folder = bare_study(QUESTION)
    plant(folder)
    views = views_of(Store(folder), seed=0)
    images = Store(folder).read("images")["image"].to_list()
    assert set(views) == set(images)
    first = views[images[0]]
    assert first.detectability == 2.0
    assert first.quality == dict.fromkeys(ASPECTS, 0.25)
    assert first.points == {"implausibility": ((0.15, 0.05),)}
    assert first.words == (1, 5)
    assert views[images[1]].points == {}
    assert views[images[1]].words == ()


def test_images_that_the_truth_lacks_are_an_error(bare_study: Make) -> None:
    folder = bare_study(QUESTION)
    plant(folder, leave_out="b/03")
    with pytest.raises(StageError, match=r"knows nothing of 1 of 40 images, the first of them b/03"):
        views_of(Store(folder), seed=0)


def test_without_truth_qualities_are_invented(bare_study: Make) -> None:
    folder = bare_study(QUESTION, prompts=40)
    store = Store(folder)
    views = views_of(store, seed=3)
    images = store.read("images")
    assert set(views) == set(images["image"])
    for image in images.filter("real")["image"]:
        assert views[image].detectability == 0
        assert set(views[image].quality.values()) == {1.0}
    for image in images.filter(~pl.col("real"))["image"]:
        quality = views[image].quality
        assert all(0 <= value <= 1 for value in quality.values())
        assert views[image].detectability == pytest.approx(LEAST_DETECTABILITY + 2 * (1 - quality["plausibility"]))
    means = [
        np.mean([views[image].quality["overall"] for image in part["image"]])
        for _, part in images.filter(~pl.col("real")).group_by("generator")
    ]
    assert max(means) - min(means) > 0.05  # generators differ
    assert views == views_of(store, seed=3)
    assert views != views_of(store, seed=4)


def test_an_image_keeps_its_invented_quality_when_others_are_added(bare_study: Make) -> None:
    few = views_of(Store(bare_study(QUESTION, prompts=2, name="few")), seed=0)
    many = views_of(Store(bare_study(QUESTION, prompts=5, name="many")), seed=0)
    assert all(many[image] == view for image, view in few.items())


class TestSpread:
    def test_a_point_for_each_tenth_that_is_covered_to_a_third(self) -> None:
        mask = np.zeros((30, 30), dtype=bool)
        mask[0:3, 0:6] = True  # two whole cells
        mask[0, 6:9] = True  # three of nine pixels of the third: a third
        mask[6, 6:8] = True  # two of nine: too few
        assert _spread(mask) == ((0.05, 0.05), (0.15, 0.05), (0.25, 0.05))

    def test_a_small_spot_has_its_centre(self) -> None:
        mask = np.zeros((100, 100), dtype=bool)
        mask[40:42, 70:72] = True
        assert _spread(mask) == ((0.705, 0.405),)

    def test_nothing_has_none(self) -> None:
        assert _spread(np.zeros((10, 10), dtype=bool)) == ()


def test_honest_raters_pass_a_qualification_on_invented_images(bare_study: Make) -> None:
    """65 % right on real and on generated images, where neither answer is favoured: Φ(d′/2) of the latter."""
    views = views_of(Store(bare_study(QUESTION)), seed=1)
    generated = [view.detectability for view in views.values() if view.detectability > 0]
    assert generated
    assert min(generated) >= LEAST_DETECTABILITY
    assert NormalDist().cdf(LEAST_DETECTABILITY / 2) > 0.65
