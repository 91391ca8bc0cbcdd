from pathlib import Path

import polars as pl
import pytest
from PIL import Image

from beholder.images.background import DEFAULT_BACKGROUND
from beholder.report.sections.label_errors import MOST, Doubts, doubts
from beholder.tables.catalogue import TABLES

Row = dict[str, object]


def label(image: str, doubt: float | None, **more: object) -> Row:
    return {"question": "q", "aspect": "realism", "method": "share", "image": image, "value": 0.25} | {
        "low": 0.1,
        "high": 0.5,
        "choice": "real",
        "suggested": "generated",
        "answers": 8,
        "raters": 8,
        "doubt": doubt,
        **more,
    }


def image(name: str, sha256: str = "x") -> Row:
    return {"image": name, "path": f"{name}.png", "generator": "g", "real": False, "gold": False} | {
        "prompt": "p",
        "width": 8,
        "height": 8,
        "sha256": sha256,
    }


def found_in(folder: Path, labels: list[Row], images: list[Row]) -> Doubts | None:
    frames = (TABLES["labels"].frame(labels), TABLES["images"].frame(images))
    return doubts("q", *frames, {"p": "two red cats"}, folder, DEFAULT_BACKGROUND)


def test_the_most_doubtful_come_first_and_the_rest_are_counted(tmp_path: Path) -> None:
    names = [f"i{n:02d}" for n in range(20)]
    labels = [label(name, 0.5 + n / 50) for n, name in enumerate(names)]
    labels += [label("sure", 0.01, suggested=None), label("unexamined", None)]
    found = found_in(tmp_path, labels, [image(name) for name in [*names, "sure", "unexamined"]])
    assert found is not None
    assert (found.total, found.examined, len(found.shown)) == (20, 21, MOST)
    first = found.shown[0]
    assert (first.choice, first.suggested, first.doubt) == ("real", "generated", "88 %")
    assert first.rests_on == "25 % say generated, 10 to 50 %; 8 answers"
    assert first.what == "realism: i19"


def test_a_pair_shows_both_and_a_word_is_named(tmp_path: Path) -> None:
    Image.new("RGB", (8, 8)).save(tmp_path / "x.png")
    pair = label("x", 0.9, method="preference", other="y", choice="image", suggested="tie")
    word = label(
        "x", 0.8, method="majority", aspect="misalignment", word=1, choice="misaligned", suggested="aligned"
    )
    found = found_in(tmp_path, [pair, word], [image("x"), image("y", sha256="unknown")])
    assert found is not None
    assert [one.what for one in found.shown] == ["realism: x and y", "misalignment: x, the word “red”"]
    assert (found.shown[0].choice, found.shown[0].suggested) == ("the first", "a tie")
    shown, hidden = found.shown[0].pictures
    assert shown.source is not None
    assert hidden.source is None
    assert shown.alt == "g: two red cats"


@pytest.mark.parametrize("labels", [[], [label("x", None)]])
def test_where_nothing_was_examined_nothing_is_said(tmp_path: Path, labels: list[Row]) -> None:
    assert found_in(tmp_path, labels, [image("x")]) is None


def test_a_model_that_doubts_is_named(tmp_path: Path) -> None:
    frame = TABLES["labels"].frame([label("a", 0.9), label("b", 0.8)])
    who = pl.Series("doubted_by", ["people, tower/out-of-fold", "people"])
    images = TABLES["images"].frame([image("a"), image("b")])
    found = doubts("q", frame.with_columns(who), images, {"p": "two red cats"}, tmp_path, DEFAULT_BACKGROUND)
    assert found is not None
    assert found.shown[0].rests_on.endswith("; 8 answers; doubted by people, tower/out-of-fold")
    assert found.shown[1].rests_on.endswith("; 8 answers")
