from pathlib import Path

import polars as pl
import pytest
from PIL import Image

from beholder.images.background import DEFAULT_BACKGROUND
from beholder.report.sections.label_errors import MOST, LabelErrors, find_label_errors
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


def errors_in(folder: Path, labels: list[Row], images: list[Row]) -> LabelErrors | None:
    frames = (TABLES["labels"].frame(labels).lazy(), TABLES["images"].frame(images))
    return find_label_errors("q", *frames, {"p": "two red cats"}, folder, DEFAULT_BACKGROUND)


def test_the_most_doubtful_come_first_and_the_rest_are_counted(tmp_path: Path) -> None:
    names = [f"i{n:02d}" for n in range(20)]
    labels = [label(name, 0.5 + n / 50) for n, name in enumerate(names)]
    labels += [label("sure", 0.01, suggested=None), label("unexamined", None)]
    errors = errors_in(tmp_path, labels, [image(name) for name in [*names, "sure", "unexamined"]])
    assert errors is not None
    assert (errors.total, errors.examined, len(errors.worst)) == (20, 21, MOST)
    first = errors.worst[0]
    assert (first.choice, first.suggested, first.doubt) == ("real", "generated", "88 %")
    assert first.rests_on == "25 % say generated, 10 to 50 %; 8 answers"
    assert first.what == "realism: i19"


def test_a_pair_shows_both_and_a_word_is_named(tmp_path: Path) -> None:
    Image.new("RGB", (8, 8)).save(tmp_path / "x.png")
    pair = label("x", 0.9, method="preference", other="y", choice="image", suggested="tie")
    word = label(
        "x", 0.8, method="majority", aspect="misalignment", word=1, choice="misaligned", suggested="aligned"
    )
    errors = errors_in(tmp_path, [pair, word], [image("x"), image("y", sha256="unknown")])
    assert errors is not None
    assert [error.what for error in errors.worst] == ["realism: x and y", "misalignment: x, the word “red”"]
    assert (errors.worst[0].choice, errors.worst[0].suggested) == ("the first", "a tie")
    visible, hidden = errors.worst[0].pictures
    assert visible.source is not None
    assert hidden.source is None
    assert visible.alt == "g: two red cats"


@pytest.mark.parametrize("labels", [[], [label("x", None)]])
def test_where_nothing_was_examined_nothing_is_said(tmp_path: Path, labels: list[Row]) -> None:
    assert errors_in(tmp_path, labels, [image("x")]) is None


def test_a_model_that_doubts_is_named(tmp_path: Path) -> None:
    frame = TABLES["labels"].frame([label("a", 0.9), label("b", 0.8), label("c", 0.7)])
    who = pl.Series("doubted_by", ["raters, tower/out-of-fold", "raters", "tower/out-of-fold"])
    images = TABLES["images"].frame([image("a"), image("b"), image("c")])
    errors = find_label_errors(
        "q", frame.with_columns(who).lazy(), images, {"p": "two red cats"}, tmp_path, DEFAULT_BACKGROUND
    )
    assert errors is not None
    assert [error.doubt for error in errors.worst] == [
        "90 %; doubted by tower/out-of-fold, too",
        "80 %",
        "70 % according to tower/out-of-fold",
    ]
