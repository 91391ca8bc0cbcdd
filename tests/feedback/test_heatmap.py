"""Heatmaps as bytes."""

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from beholder.feedback.heatmap import decode_heatmap, encode_heatmap


@given(st.integers(1, 12), st.integers(1, 12), st.integers(0, 99))
def test_back_and_forth_keeps_values_to_half_a_level(height: int, width: int, seed: int) -> None:
    heatmap = np.random.default_rng(seed).random((height, width))
    decoded = decode_heatmap(encode_heatmap(heatmap))
    assert decoded.shape == (height, width)
    assert np.abs(decoded - heatmap).max() <= 0.5 / 255 + 1e-12


@given(st.integers(1, 9), st.integers(0, 99))
def test_levels_and_masks_come_back_as_they_were(size: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    levels = rng.integers(0, 256, (size, size)) / 255
    assert (decode_heatmap(encode_heatmap(levels)) == levels).all()
    mask = rng.random((size, size)) < 0.5
    assert (decode_heatmap(encode_heatmap(mask)) == mask).all()


def test_hand_worked_levels() -> None:
    # .5 · 255 = 127.5, of two neighbours the even one: 128; values beyond the range are cut
    png = encode_heatmap(np.asarray([[0.0, 0.5, 1.0], [-3.0, 0.1, 7.0]]))
    with Image.open(io.BytesIO(png)) as image:
        assert (image.format, image.mode, image.size) == ("PNG", "L", (3, 2))
        assert np.asarray(image).tolist() == [[0, 128, 255], [0, 26, 255]]


def test_the_same_bytes_each_time() -> None:
    heatmap = np.linspace(0, 1, 64).reshape(8, 8)
    assert encode_heatmap(heatmap) == encode_heatmap(heatmap.copy())


def test_a_coloured_png_is_read_by_its_brightness() -> None:
    buffer = io.BytesIO()
    Image.new("RGB", (2, 1), (255, 255, 255)).save(buffer, "PNG")
    assert decode_heatmap(buffer.getvalue()) == pytest.approx(np.ones((1, 2)))
