"""Exports that the tools wrote: annotated in Chromium on the pages of Potato 2.12.1 and Label Studio 1.23.2."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from beholder.errors import TableError
from beholder.formats import label_studio, potato
from beholder.formats.format import Imported

EXPORTS = Path(__file__).parent / "exports"
POTATO = EXPORTS / "potato-2.12.1"
LABEL_STUDIO = EXPORTS / "label-studio-1.23.2"

Sound = Callable[..., None]


def shown_files(imported: Imported) -> list[str]:
    """The images of each trial from left to right, called a to f."""
    return ["".join(Path(image).stem for image in images) for images in imported.tables["trials"]["images"]]


def test_pairs_from_potato(sound: Sound) -> None:
    imported = potato.read_study(POTATO / "pairs")
    sound(dict(imported.tables))
    answers = imported.tables["answers"]
    chosen = {
        (question, rater): answers.filter(question=question, rater=rater)["choice"].to_list()
        for question, rater in answers.select("question", "rater").unique().iter_rows()
    }
    # ann clicked A, A, tie everywhere, bob B, B, tie; both moved the slider to −2, 1, 0
    first, second = ["left", "left", "tie"], ["right", "right", "tie"]
    by_degree = ["left", "right", "tie"]
    assert chosen == {
        **{(name, "rater-001"): first for name in ("preference", "aspects-realism", "aspects-alignment")},
        **{(name, "rater-002"): second for name in ("preference", "aspects-realism", "aspects-alignment")},
        **{("degree", rater): by_degree for rater in ("rater-001", "rater-002")},
    }
    assert imported.differences == ()
    assert answers["seconds"].is_between(1, 60).all()


def test_ratings_from_potato(sound: Sound) -> None:
    imported = potato.read_study(POTATO / "rates")
    sound(dict(imported.tables))
    answers = imported.tables["answers"]
    ratings = {
        (aspect, rater): answers.filter(aspect=aspect, rater=rater)["value"].to_list()
        for aspect, rater in answers.select("aspect", "rater").unique().iter_rows()
    }
    assert ratings == {
        ("quality", "rater-001"): [1, 2, 3],
        ("quality", "rater-002"): [2, 3, 4],
        ("stars", "rater-001"): [1, 2, 3],
        ("stars", "rater-002"): [2, 3, 4],
        ("beauty", "rater-001"): [30, 40, 50],  # the slider goes from 0 to 10
        ("beauty", "rater-002"): [40, 50, 60],
    }


def test_pairs_from_label_studio(sound: Sound) -> None:
    imported = label_studio.read_study(LABEL_STUDIO / "pair.json")
    sound(dict(imported.tables))
    assert imported.tables["answers"]["choice"].to_list() == ["left", "right", "left"]
    assert shown_files(imported) == ["ab", "cd", "ef"]
    assert label_studio.ORDER_NOTE not in imported.notes
    generators = imported.tables["images"].sort("image")["generator"].to_list()
    assert generators == ["x", "y"] * 3


def test_the_configuration_says_which_image_was_on_the_left(tmp_path: Path) -> None:
    """A result of a comparison names itself, not its images; the order of the fields may be the other one."""
    tasks = json.loads((LABEL_STUDIO / "pair.json").read_text())
    assert {part["to_name"] for task in tasks for a in task["annotations"] for part in a["result"]} == {"pw"}
    swapped = (LABEL_STUDIO / "pair.xml").read_text().replace('toName="left,right"', 'toName="right,left"')
    shutil.copy(LABEL_STUDIO / "pair.json", tmp_path)
    alone = label_studio.read_study(tmp_path / "pair.json")
    assert label_studio.ORDER_NOTE in alone.notes
    (tmp_path / "pair.xml").write_text(swapped)
    (tmp_path / "another.xml").write_text("<View/>")
    imported = label_studio.read_study(tmp_path / "pair.json")
    assert shown_files(imported) == ["ba", "dc", "fe"]


def test_ratings_and_sides_from_label_studio(sound: Sound) -> None:
    rated = label_studio.read_study(LABEL_STUDIO / "rate.json")
    sound(dict(rated.tables))
    answers = rated.tables["answers"].select("aspect", "value").sort("aspect", maintain_order=True)
    assert answers.rows() == [("fit", 1.0), ("fit", 3.0), ("quality", 2.0), ("quality", 2.0), ("quality", 3.0)]
    assert "3 results of type number are left out." in rated.notes
    sides = label_studio.read_study(LABEL_STUDIO / "side.json")
    assert sides.tables["answers"]["choice"].to_list() == ["left", "right", "tie"]
    assert sides.tables["sessions"].select(pl.col("rater").unique()).to_series().to_list() == ["user-1"]


def test_other_exports_of_label_studio_are_refused_with_what_to_do(tmp_path: Path) -> None:
    shutil.copy(LABEL_STUDIO / "rate-min.json", tmp_path)
    with pytest.raises(TableError, match=r"(?s)JSON-MIN, which lacks raters.*Export as JSON"):
        label_studio.read_study(tmp_path / "rate-min.json")
    (tmp_path / "rate.csv").write_text("annotation_id,quality\n1,2\n")
    with pytest.raises(TableError, match=r"(?s)found a table.*Export as JSON"):
        label_studio.read_study(tmp_path / "rate.csv")
