"""Saturation, size and sharpness, worked by hand."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from beholder.images.style import file_style, image_style


def flat(colour: tuple[int, int, int]) -> np.ndarray:
    return np.full((20, 30, 3), colour, np.uint8)


def test_saturation_of_plain_colours() -> None:
    assert image_style(flat((255, 0, 0))).saturation == 1
    assert image_style(flat((90, 90, 90))).saturation == 0
    assert image_style(flat((0, 0, 0))).saturation == 0
    assert image_style(flat((200, 100, 100))).saturation == pytest.approx(0.5)


def test_size_and_sharpness() -> None:
    plain = image_style(flat((120, 120, 120)))
    assert plain.size == pytest.approx(np.log(600))
    assert plain.sharpness == pytest.approx(np.log(1e-8))
    stripes = flat((0, 0, 0))
    stripes[:, ::2] = 255
    # the Laplacian of stripes of 0 and 1 is 2 on black and −2 on white: its variance is 4
    assert image_style(stripes).sharpness == pytest.approx(np.log(4), abs=0.05)


def test_a_file_and_a_tiny_image(tmp_path: Path) -> None:
    Image.fromarray(flat((200, 100, 100))).save(tmp_path / "a.png")
    assert file_style(tmp_path / "a.png") == image_style(flat((200, 100, 100)))
    assert np.isfinite(image_style(np.zeros((1, 2, 3), np.uint8)).sharpness)
