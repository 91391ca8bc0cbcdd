from pathlib import Path

import numpy as np
import pytest

from beholder.feedback import predictions as rich_predictions
from beholder.feedback.predictions import RichPredictions, read_predictions, write_predictions


def test_what_is_written_is_read(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    maps = {name: rng.random((3, 4, 4)).astype(np.float16) for name in ("implausibility", "misalignment")}
    scores = {"overall": rng.random(3).astype(np.float32)}
    words = [np.array([0.1, np.nan], np.float32), np.array([], np.float32), np.array([0.9], np.float32)]
    path = tmp_path / "models" / "predictions.npz"
    write_predictions(path, RichPredictions(("a", "b", "ü/1"), scores, maps, words, "hash"))
    found = read_predictions(path)
    assert found is not None
    assert (found.images, found.weights) == (("a", "b", "ü/1"), "hash")
    assert found.scores.keys() == scores.keys()
    assert (found.scores["overall"] == scores["overall"]).all()
    assert all((found.heatmaps[name] == one).all() for name, one in maps.items())
    assert all(np.array_equal(one, two, equal_nan=True) for one, two in zip(found.misaligned, words, strict=True))


def test_what_a_model_does_not_predict_stays_empty(tmp_path: Path) -> None:
    path = tmp_path / "predictions.npz"
    write_predictions(path, RichPredictions(("a",), {}, {}, [], "hash"))
    found = read_predictions(path)
    assert found is not None
    assert (dict(found.scores), dict(found.heatmaps), list(found.misaligned)) == ({}, {}, [])


@pytest.mark.parametrize("content", [None, b"", b"PK\x03\x04", b"nonsense"])
def test_a_file_that_cannot_be_read_is_none(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "predictions.npz"
    if content is not None:
        path.write_bytes(content)
    assert read_predictions(path) is None


def test_half_a_file_is_none(tmp_path: Path) -> None:
    path = tmp_path / "predictions.npz"
    write_predictions(path, RichPredictions(("a",), {"overall": np.ones(1, np.float32)}, {}, [], "hash"))
    whole = path.read_bytes()
    for length in range(0, len(whole), 97):
        path.write_bytes(whole[:length])
        assert read_predictions(path) is None


def test_a_file_that_unpacks_to_too_much_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "predictions.npz"
    maps = {"artifacts": np.zeros((1, 1000, 1000), np.float16)}
    write_predictions(path, RichPredictions(("a",), {}, maps, [np.ones(1, np.float32)], "hash"))
    assert read_predictions(path) is not None
    monkeypatch.setattr(rich_predictions, "LARGEST_UNPACKED", 1_000_000)
    assert read_predictions(path) is None
