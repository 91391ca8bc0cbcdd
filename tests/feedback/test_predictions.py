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
    read_back = read_predictions(path)
    assert read_back is not None
    assert (read_back.images, read_back.weights) == (("a", "b", "ü/1"), "hash")
    assert read_back.scores.keys() == scores.keys()
    assert (read_back.scores["overall"] == scores["overall"]).all()
    assert all((read_back.heatmaps[name] == heatmap).all() for name, heatmap in maps.items())
    assert all(
        np.array_equal(first, second, equal_nan=True)
        for first, second in zip(read_back.misaligned, words, strict=True)
    )


def test_what_a_model_does_not_predict_stays_empty(tmp_path: Path) -> None:
    path = tmp_path / "predictions.npz"
    write_predictions(path, RichPredictions(("a",), {}, {}, [], "hash"))
    read_back = read_predictions(path)
    assert read_back is not None
    assert (dict(read_back.scores), dict(read_back.heatmaps), list(read_back.misaligned)) == ({}, {}, [])


@pytest.mark.parametrize("content", [None, b"", b"PK\x03\x04", b"nonsense"])
def test_a_file_that_cannot_be_read_is_none(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "predictions.npz"
    if content is not None:
        path.write_bytes(content)
    assert read_predictions(path) is None


def test_half_a_file_is_none(tmp_path: Path) -> None:
    path = tmp_path / "predictions.npz"
    write_predictions(path, RichPredictions(("a",), {"overall": np.ones(1, np.float32)}, {}, [], "hash"))
    content = path.read_bytes()
    for length in range(0, len(content), 97):
        path.write_bytes(content[:length])
        assert read_predictions(path) is None


def test_a_file_that_unpacks_to_too_much_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "predictions.npz"
    maps = {"artifacts": np.zeros((1, 1000, 1000), np.float16)}
    write_predictions(path, RichPredictions(("a",), {}, maps, [np.ones(1, np.float32)], "hash"))
    assert read_predictions(path) is not None
    monkeypatch.setattr(rich_predictions, "LARGEST_UNPACKED", 1_000_000)
    assert read_predictions(path) is None
