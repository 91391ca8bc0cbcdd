"""Marked points and words: disks, means over raters, majorities."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from beholder.collect.stage import run as run_simulated
from beholder.consolidate.marked_places import mean_map, region_rows
from beholder.consolidate.marked_words import word_labels
from beholder.consolidate.stage import run as consolidate
from beholder.design.stage import run as design
from beholder.feedback.heatmap import decode_heatmap
from beholder.feedback.regions import open_regions
from beholder.study.kinds.rich_feedback import RichFeedbackQuestion
from beholder.study.question import Design
from beholder.tables.catalogue import TABLES
from beholder.tables.store import Store


def test_a_disk_of_a_twentieth_of_the_height() -> None:
    heatmap = mean_map([[(0.5, 0.5)]], raters=1, width=200, height=100, radius=1 / 20)
    assert heatmap.shape == (100, 200)
    rows, columns = np.nonzero(heatmap)
    # the disk has radius 5 pixels about (100, 50): every pixel whose centre is within
    centre = (np.hypot(rows + 0.5 - 50, columns + 0.5 - 100) <= 5).all()
    assert centre
    assert len(rows) == sum(
        (r + 0.5 - 50) ** 2 + (c + 0.5 - 100) ** 2 <= 25 for r in range(100) for c in range(200)
    )


def test_levels_are_proportions_of_the_raters_and_own_disks_do_not_add_up() -> None:
    same = [(0.5, 0.5), (0.5, 0.5)]
    heatmap = mean_map([same, [(0.5, 0.5)]], raters=3, width=40, height=40, radius=0.1)
    assert set(np.unique(heatmap)) == {0.0, 2 / 3}


def test_a_point_at_the_edge_stays_within() -> None:
    heatmap = mean_map([[(0.0, 1.0)]], raters=1, width=40, height=40, radius=0.1)
    assert heatmap[-1, 0] == 1.0
    assert heatmap.sum() < 4 * 4 * 1.01


def test_rows_hold_a_map_for_each_aspect_also_where_nobody_marked() -> None:
    judged = pl.DataFrame({"rater": ["a", "b"], "trial": ["t", "u"], "session": ["s", "v"], "image": ["i", "i"]})
    mark = {"aspect": "implausibility", "number": 0, "kind": "point", "image": "i", "x": 0.5, "y": 0.5}
    marks = TABLES["marks"].frame([{"trial": "t", "session": "s", **mark}])
    images = pl.DataFrame({"image": ["i"], "width": [1024], "height": [2048]})
    rows = region_rows(RichFeedbackQuestion(name="q"), judged, marks, images)
    assert rows.select("aspect", "width", "height", "raters").rows() == [
        ("implausibility", 256, 512, 2),
        ("misalignment", 256, 512, 2),
    ]
    marked, empty = (decode_heatmap(png) for png in rows["heatmap"])
    assert marked.max() == pytest.approx(0.5, abs=1 / 255)
    assert empty.max() == 0


def test_words_by_majority() -> None:
    judged = pl.DataFrame(
        {"rater": list("abc"), "trial": list("tuv"), "session": list("xyz"), "image": "i", "prompt": "p"}
    )
    word = {"aspect": "misalignment", "kind": "word"}
    marks = TABLES["marks"].frame(
        [
            {"trial": "t", "session": "x", "number": 0, "word": 1, **word},
            {"trial": "u", "session": "y", "number": 0, "word": 1, **word},
            {"trial": "u", "session": "y", "number": 1, "word": 2, **word},
        ]
    )
    prompts = pl.DataFrame({"prompt": ["p"], "text": ["a red cat"]})
    rows = word_labels(judged, marks, prompts, 0.95)
    assert rows.select("word", "value", "choice", "raters").rows() == [
        (0, 0.0, "aligned", 3),
        (1, pytest.approx(2 / 3), "misaligned", 3),
        (2, pytest.approx(1 / 3), "aligned", 3),
    ]


def test_regions_of_a_study_open_one_by_one(bare_study: Callable[..., Path]) -> None:
    folder = bare_study(RichFeedbackQuestion(name="rich", design=Design(raters=3, trials=8)))
    design(folder)
    run_simulated(folder, people=3)
    consolidate(folder)
    store = Store(folder)
    maps, table = open_regions(store), store.read("regions")
    assert len(maps) == table.height > 0
    key = next(iter(maps))
    png = table.filter(pl.col("image") == key[2], pl.col("aspect") == key[1])["heatmap"][0]
    assert np.array_equal(maps.heatmap(*key), decode_heatmap(png))
    with pytest.raises(KeyError):
        maps.heatmap("rich", "implausibility", "nothing")
