"""Pick-a-Pic: rows by hand, there and back, in both file types."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest
from tests.formats.conftest import Making, study_of

from beholder.errors import TableError
from beholder.formats import pickapic
from beholder.study.kinds.pair import PairQuestion

PAIRS = PairQuestion(name="pairs")


def row(**other: object) -> dict[str, object]:
    complete: dict[str, object] = {"image_0_uid": "a", "image_1_uid": "b", "label_0": 1.0, "label_1": 0.0}
    complete |= {"caption": "a cat", "model_0": "sdxl", "model_1": "sd2", "user_id": 7, "has_label": True}
    return complete | other


def lines(path: Path, *rows: dict[str, object]) -> Path:
    path.write_text("\n".join(json.dumps(row) for row in rows) + "\n")
    return path


def test_rows_become_tables(tmp_path: Path, sound: Callable[..., None]) -> None:
    file = lines(
        tmp_path / "v.jsonl",
        row(created_at="2023-04-01T10:00:00"),
        row(label_0=0.5, label_1=0.5, user_id=8),
        row(has_label=False, label_0=0.0),
    )
    imported = pickapic.read_study(file)
    sound(dict(imported.tables))
    tables = imported.tables
    assert tables["answers"].select("rater", "choice").rows() == [("user-7", "left"), ("user-8", "tie")]
    assert tables["answers"]["answered"][0] == datetime(2023, 4, 1, 10, tzinfo=UTC)
    assert tables["images"].select("image", "generator").rows() == [("a", "sdxl"), ("b", "sd2")]
    assert "1 of 3 rows have no label and are left out." in imported.notes
    assert imported.study.question("pickapic").design.raters == 2


def test_what_was_written_is_read_again(making: Making, tmp_path: Path, sound: Callable[..., None]) -> None:
    making.prompt("p1", "a cat")
    for name in "ab":
        making.image(name, f"gen-{name}", prompt="p1")
    for rater, choice in (("r1", "left"), ("r2", "right"), ("r3", "tie")):
        making.session(rater, "pairs", status="withdrawn" if rater == "r3" else "complete")
        making.judged(rater, PAIRS, ["a", "b"], {"preference": {"choice": choice}}, prompt="p1")
    written = pickapic.write(study_of(PAIRS), making.tables(), tmp_path)
    frame = pl.read_parquet(written.files[0])
    assert frame.select("best_image_uid", "label_0", "label_1", "user_id").rows() == [
        ("a", 1.0, 0.0, 0),
        ("b", 0.0, 1.0, 1),
        ("none", 0.5, 0.5, 2),
    ]
    assert frame["num_example_per_prompt"].to_list() == [3, 3, 3]
    for source in (written.files[0], tmp_path):
        tables = dict(pickapic.read_study(source).tables)
        sound(tables)
        assert tables["answers"]["choice"].to_list() == ["left", "right", "tie"]
        assert tables["answers"]["answered"].to_list() == making.tables()["answers"]["answered"].to_list()
        assert tables["images"].select("image", "generator").rows() == [("a", "gen-a"), ("b", "gen-b")]
        assert tables["prompts"]["text"].to_list() == ["a cat"]


def test_images_with_two_captions_are_told(tmp_path: Path) -> None:
    file = lines(tmp_path / "v.jsonl", row(), row(caption="a dog", image_1_uid="c"))
    assert pickapic.read_study(file).differences == (
        "images with several captions or models, of which the first counts: a",
    )


def test_the_faults_of_all_files_are_told_at_once(tmp_path: Path) -> None:
    lines(tmp_path / "a.jsonl", row(), row(label_0=0.3), row(caption=None, created_at="soon"))
    (tmp_path / "b.parquet").write_bytes(b"version https://git-lfs.github.com/spec/v1\n")
    (tmp_path / "c.jsonl").write_text("{\n")
    with pytest.raises(TableError) as caught:
        pickapic.read_study(tmp_path)
    faults = "\n".join(caught.value.faults)
    assert len(caught.value.faults) == 5
    assert "entry 1: label_0 and label_1: 1 and 0, 0 and 1 or ½ each were expected; found (0.3, 0.0)" in faults
    assert "entry 2: caption: a text was expected; found None" in faults
    assert "entry 2: created_at: a moment was expected; found 'soon'" in faults
    assert "a git-LFS pointer, not the file itself" in faults
    assert "line 1: not valid JSON" in faults


@pytest.mark.parametrize("name", ["missing.parquet", "missing.jsonl"])
def test_a_missing_file_is_told(name: str, tmp_path: Path) -> None:
    with pytest.raises(TableError, match="no such file"):
        pickapic.read(tmp_path / name)
    with pytest.raises(TableError, match=r"no \.parquet or \.jsonl"):
        pickapic.read_study(tmp_path)


def test_a_parquet_file_of_something_else_is_refused(tmp_path: Path) -> None:
    pl.DataFrame({"caption": ["a"] * 500, "other": range(500)}).write_parquet(tmp_path / "x.parquet")
    with pytest.raises(TableError) as caught:
        pickapic.read(tmp_path / "x.parquet")
    assert caught.value.faults == (
        "columns caption, other; also expected image_0_uid, image_1_uid, label_0, label_1",
    )


def test_a_file_in_which_every_row_is_wrong_does_not_flood_the_screen(tmp_path: Path) -> None:
    with pytest.raises(TableError) as caught:
        pickapic.read(lines(tmp_path / "x.jsonl", *[row(label_0=2.0)] * 250))
    assert len(caught.value.faults) == 101
    assert caught.value.faults[-1] == "and 150 more faults"
