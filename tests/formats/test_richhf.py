"""RichHF-18K: consolidation by hand, TFRecord there and back, and the release's oddities."""

import io
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from tests.formats.conftest import Making, Tables, study_of

from beholder.errors import TableError
from beholder.formats import richhf
from beholder.formats.example import Value, encode_example
from beholder.formats.richhf_study import read_study
from beholder.formats.richhf_tables import tables_of
from beholder.formats.tfrecord import frame_records
from beholder.study.kinds.rich_feedback import RichFeedbackQuestion

QUESTION = RichFeedbackQuestion(name="rich")
ASPECTS = ("plausibility", "alignment", "aesthetics", "overall")


def point(aspect: str, x: float, y: float) -> dict[str, object]:
    return {"aspect": aspect, "kind": "point", "x": x, "y": y}


def word(place: int) -> dict[str, object]:
    return {"aspect": "misalignment", "kind": "word", "word": place}


@pytest.fixture
def small(making: Making) -> Making:
    """Three raters on one image, twice as wide as high, of the prompt "a red cat"."""
    making.prompt("p", "a red cat")
    making.image("i", "gen", prompt="p", size=(200, 100))
    for rater, score, marks in (
        ("r1", 5.0, [point("implausibility", 0.5, 0.5), word(1)]),
        ("r2", 3.0, [point("implausibility", 0.5, 0.5), point("implausibility", 0.51, 0.5), word(1), word(2)]),
        ("r3", 1.0, list[dict[str, object]]()),
    ):
        making.session(rater, "rich")
        responses: dict[str, dict[str, object]] = {aspect: {"value": score} for aspect in ASPECTS}
        making.judged(rater, QUESTION, ["i"], responses, prompt="p", marks=marks)
    return making


def test_scores_words_and_maps_by_hand(small: Making) -> None:
    """Scores (5, 3, 1) → mean 3 → (3 − 1)/4 = .5. Word 1 by two of three: missed; word 2 by one: not.

    Two of three raters marked the middle: 170 of 255. A disk of 1/20 of the height, 25.6 of 512 rows, is half as
    wide in columns, since the image is twice as wide as high: 12.8. r2's second point adds 1/3 to its right.
    """
    (record,) = richhf.consolidated(QUESTION, small.tables())
    assert record.filename == "rich/i.png"
    assert record.scores == dict.fromkeys(richhf.SCORES, 0.5)
    assert record.words == (1, 0, 1)
    artifact = record.maps["artifact_map"]
    assert artifact.shape == (512, 512)
    assert artifact[256, 256] == 170
    assert artifact[256 - 25, 256] == 170
    assert artifact[256 - 27, 256] == 0
    assert artifact[256, 256 - 12] == 170
    assert artifact[256, 256 - 14] == 0
    assert artifact[256, 256 + 15] == 85
    assert not record.maps["misalignment_map"].any()


def test_what_was_written_is_read_again(small: Making, tmp_path: Path) -> None:
    (file,) = richhf.write(study_of(QUESTION), small.tables(), tmp_path).files
    (before,) = richhf.consolidated(QUESTION, small.tables())
    (after,) = richhf.read(file)
    assert (after.filename, after.words, after.uid) == (before.filename, before.words, "i")
    assert after.scores == pytest.approx(before.scores)
    for name in richhf.MAPS:
        np.testing.assert_array_equal(after.maps[name], before.maps[name])


def test_the_records_become_tables(small: Making, sound: Callable[[Tables], None]) -> None:
    records = richhf.consolidated(QUESTION, small.tables())
    rich = tables_of(records, {"i": "a red cat"})
    sound(dict(rich.tables))
    assert rich.mismatched == ()
    labels = rich.tables["published"].sort("aspect", "word")
    words = labels.filter(labels["method"] == "published-majority")
    assert words.select("word", "value").rows() == [(0, 0.0), (1, 1.0), (2, 0.0)]
    assert rich.tables["published_regions"].height == 2


def test_words_and_labels_that_differ_in_number_are_reported(small: Making) -> None:
    records = richhf.consolidated(QUESTION, small.tables())
    assert tables_of(records, {"i": "a red cat, asleep"}).mismatched == (("i", 4, 3),)
    assert tables_of(records, {}).tables["images"]["prompt"].to_list() == [None]


def features(**other: Value) -> dict[str, Value]:
    complete: dict[str, Value] = {"filename": (b"train/x.png",), "prompt_misalignment_label": (b"1 0",)}
    complete |= dict.fromkeys(richhf.SCORES, (0.25,))
    complete |= dict.fromkeys(richhf.MAPS, (b"",))
    return complete | other


def write_records(path: Path, *records: dict[str, Value]) -> Path:
    path.write_bytes(b"".join(frame_records(encode_example(record) for record in records)))
    return path


def test_maps_as_the_release_has_them(tmp_path: Path) -> None:
    """JPEG, with ringing around what was marked; or empty."""
    levels = np.zeros((64, 64), dtype=np.uint8)
    levels[20:40, 20:40] = 255
    buffer = io.BytesIO()
    Image.fromarray(levels).save(buffer, "JPEG", quality=60)
    (record,) = richhf.read(write_records(tmp_path / "x", features(artifact_map=(buffer.getvalue(),))))
    decoded = record.maps["artifact_map"]
    assert (decoded > 0).sum() > 400
    assert richhf.marked(decoded).sum() == pytest.approx(400, abs=30)
    assert record.maps["misalignment_map"].size == 0
    assert record.words == (1, 0)


def test_all_faulty_records_are_told_at_once(tmp_path: Path) -> None:
    lacking = features()
    del lacking["overall_score"]
    path = write_records(
        tmp_path / "x",
        features(),
        lacking,
        features(prompt_misalignment_label=(b"1 x",)),
        features(artifact_map=(b"no picture",)),
        features(overall_score=(1,)),
    )
    with pytest.raises(TableError) as caught:
        richhf.read(path)
    first, second, third, fourth = caught.value.faults
    assert first == "record 1: lacks overall_score"
    assert second == "record 2: prompt_misalignment_label holds '1 x'; zeros and ones were expected"
    assert third.startswith("record 3: cannot identify image")
    assert fourth == "record 4: overall_score: one number was expected"


def test_a_file_becomes_a_study_and_comes_back(tmp_path: Path, sound: Callable[[Tables], None]) -> None:
    """Two records, one of them without maps; the prompts come from Pick-a-Pic's rows beside the file."""
    levels = np.zeros((512, 512), dtype=np.uint8)
    levels[100:140, 200:260] = 170
    buffer = io.BytesIO()
    Image.fromarray(levels).save(buffer, "PNG")
    file = write_records(
        tmp_path / "train.tfrecord",
        features(artifact_map=(buffer.getvalue(),)),
        features(filename=(b"train/y.png",), prompt_misalignment_label=(b"1 1 0",), overall_score=(0.75,)),
    )
    row = {"image_0_uid": "x", "image_1_uid": "y", "label_0": 1, "label_1": 0, "caption": "a cat"}
    (tmp_path / "rows.jsonl").write_text(json.dumps(row) + "\n")
    imported = read_study(file)
    sound(dict(imported.tables))
    assert imported.differences == ("prompts with another number of words than labels: y (2 words, 3 labels)",)
    assert imported.tables["prompts"]["text"].to_list() == ["a cat"]
    (tmp_path / "out").mkdir()
    (written,) = richhf.write(imported.study, imported.tables, tmp_path / "out").files
    for before, after in zip(richhf.read(file), richhf.read(written), strict=True):
        assert (after.filename, after.words, after.scores) == (before.filename, before.words, before.scores)
        for name in richhf.MAPS:
            np.testing.assert_array_equal(after.maps[name], before.maps[name])


def test_an_image_with_two_records_is_told(tmp_path: Path) -> None:
    write_records(tmp_path / "a.tfrecord", features(), features())
    imported = read_study(tmp_path)
    assert imported.differences == ("1 records of images that have one before; the first counts",)
    assert imported.tables["images"].height == 1
    assert "The prompts of 1 of 1 images are not here" in "\n".join(imported.notes)


def test_a_pointer_of_git_lfs_is_recognised(tmp_path: Path) -> None:
    path = tmp_path / "train.tfrecord"
    path.write_bytes(b"version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 5\n")
    with pytest.raises(TableError, match="git lfs pull"):
        richhf.read(path)
