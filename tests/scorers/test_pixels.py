"""Scorers of pixels, each worked by hand on an image of a few pixels."""

import numpy as np
import pytest

from beholder.scorers.brightness import brightness
from beholder.scorers.chrominance import chroma_mean, chroma_spread
from beholder.scorers.colourfulness import colourfulness
from beholder.scorers.contrast import contrast
from beholder.scorers.planes import Planes
from beholder.scorers.prompt_length import prompt_length
from beholder.scorers.saturation import saturation
from beholder.scorers.sharpness import sharpness

RED, GREEN, BLUE, BLACK, WHITE, GREY = (
    (255, 0, 0),
    (0, 255, 0),
    (0, 0, 255),
    (0, 0, 0),
    (255, 255, 255),
    (100, 100, 100),
)


def image(*rows: tuple[tuple[int, int, int], ...]) -> Planes:
    return Planes(np.array(rows, np.uint8))


def grey(*rows: tuple[int, ...]) -> Planes:
    return Planes(np.array(rows, np.uint8)[..., None].repeat(3, axis=2))


def test_sharpness() -> None:
    # inner pixels of 3 × 4: Laplacians 0+0+0+8−4·4 = −8 (at 4) and 0+0+4+0−4·8 = −28 (at 8); variance 10² = 100
    assert sharpness(grey((0, 0, 0, 0), (0, 4, 8, 0), (0, 0, 0, 0))) == pytest.approx(100)
    assert sharpness(grey((1, 2), (3, 4))) == 0


def test_contrast_and_brightness() -> None:
    # half black, half white: standard deviation ½ of the range, mean ½
    assert contrast(image((BLACK, WHITE))) == pytest.approx(0.5)
    assert brightness(image((BLACK, WHITE))) == pytest.approx(0.5)
    # luma of red is 0.299 of white
    assert brightness(image((RED,))) == pytest.approx(0.299)
    assert contrast(image((GREY, GREY))) == pytest.approx(0, abs=1e-12)


def test_saturation() -> None:
    # red 1, grey 0, black 0, (200, 100, 150): (200 − 100)/200 = ½; mean 1.5/4
    assert saturation(image((RED, GREY, BLACK, (200, 100, 150)))) == pytest.approx(0.375)


def test_colourfulness() -> None:
    assert colourfulness(image((GREY, WHITE, BLACK))) == 0
    # red and green: rg = ±255 (σ 255, µ 0), yb = 127.5 both (σ 0, µ 127.5): 255 + 0.3 · 127.5
    assert colourfulness(image((RED, GREEN))) == pytest.approx(255 + 0.3 * 127.5)


def test_chroma() -> None:
    # pure blue: Cb is ½ of 255 by definition, Cr = −0.114/(2 · 0.701) · 255
    blue = float(np.hypot(127.5, 0.114 / (2 * 0.701) * 255))
    assert image((BLUE, GREY)).chroma[0] == pytest.approx([blue, 0], abs=1e-9)
    assert chroma_mean(image((BLUE, GREY))) == pytest.approx(blue / 2)
    assert chroma_spread(image((BLUE, GREY))) == pytest.approx(blue / 2)


def test_chroma_has_no_overflow_of_bytes() -> None:
    # yellow: B − Y and R − Y have either sign
    yellow = 0.886 * 255
    expected = np.hypot((0 - yellow) / (2 * 0.886), (255 - yellow) / (2 * 0.701))
    assert chroma_mean(image(((255, 255, 0),))) == pytest.approx(expected)


def test_prompt_length() -> None:
    assert prompt_length("a red  fox,\njumping") == 4
    assert prompt_length("") == 0
