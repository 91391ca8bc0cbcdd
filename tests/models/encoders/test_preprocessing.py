"""Preprocessing: sizes, cuts and numbers by hand, and a version that changes with whatever changes the pixels."""

from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from beholder.images.formats import UndecodableError
from beholder.models.encoders.preprocessing import Preprocessing

PLAIN = Preprocessing("exact", 4, "box")


def even(height: int, width: int, colour: tuple[int, int, int]) -> Image.Image:
    return Image.new("RGB", (width, height), colour)


def test_normalisation_by_hand() -> None:
    # (51/255 − .1) / .5 = .2, (255/255 − .5) / .25 = 2, (0 − 0) / 1 = 0
    steps = replace(PLAIN, mean=(0.1, 0.5, 0.0), std=(0.5, 0.25, 1.0))
    prepared = steps.prepare(even(9, 7, (51, 255, 0)))
    assert prepared.shape == (3, 4, 4)
    assert prepared.dtype == np.float32
    assert prepared.flags.c_contiguous
    np.testing.assert_allclose(prepared[:, 0, 0], [0.2, 2.0, 0.0], atol=1e-6)


@pytest.mark.parametrize(
    ("fit", "height", "width", "expected"),
    [
        ("shortest", 100, 100, (4, 4)),
        ("shortest", 100, 199, (4, 7)),  # 4 · 199/100 = 7.96, rounded down
        ("shortest", 30, 20, (6, 4)),
        ("exact", 100, 199, (4, 4)),
    ],
)
def test_sizes(fit: str, height: int, width: int, expected: tuple[int, int]) -> None:
    steps = Preprocessing("shortest" if fit == "shortest" else "exact", 4, "bilinear")
    assert steps.prepare(even(height, width, (9, 9, 9))).shape == (3, *expected)


def test_an_image_that_would_become_endless_is_refused() -> None:
    # 224 · 224 · 9,000 is over 100 megapixels: the middle square would be of one stretched row
    with pytest.raises(UndecodableError, match="9000 × 1 pixels: too narrow"):
        Preprocessing("shortest", 224, "bicubic", 224).prepare(even(1, 9000, (0, 0, 0)))


def test_the_middle_is_cut_out() -> None:
    image = np.zeros((4, 9, 3), np.uint8)
    image[..., 0] = np.arange(9)
    cut = Preprocessing("shortest", 4, "box", 4, scale=1.0).prepare(Image.fromarray(image))
    assert cut[0, 0].tolist() == [2, 3, 4, 5]  # (9 − 4) // 2 = 2 from the left


def test_unrounded_keeps_what_lies_between_bytes() -> None:
    image = Image.fromarray(np.array([[[0] * 3, [1] * 3]], np.uint8))
    steps = Preprocessing("exact", 1, "box", scale=1.0)
    assert steps.prepare(image).ravel().tolist() == [1, 1, 1]
    assert replace(steps, rounded=False).prepare(image).ravel().tolist() == [0.5, 0.5, 0.5]


@pytest.mark.parametrize(
    "other",
    [
        replace(PLAIN, fit="shortest"),
        replace(PLAIN, size=5),
        replace(PLAIN, method="bicubic"),
        replace(PLAIN, crop=3),
        replace(PLAIN, scale=1.0),
        replace(PLAIN, mean=(0.0, 0.0, 0.1)),
        replace(PLAIN, std=(1.0, 1.0, 0.1)),
        replace(PLAIN, rounded=False),
    ],
)
def test_the_version_changes_with_every_setting(other: Preprocessing) -> None:
    assert other.version != PLAIN.version


def test_the_version_in_words() -> None:
    steps = Preprocessing("shortest", 256, "bicubic", 224, mean=(0.5, 0.5, 0.5), std=(0.25, 0.25, 0.25))
    assert steps.version == "1:shortest256:bicubic:crop224:0.00392156863,0.5,0.5,0.5,0.25,0.25,0.25"


@pytest.mark.parametrize(("height", "width"), [(4, 8), (8, 4), (8, 8), (1, 90)])
def test_the_longest_side_fits_and_the_rest_is_black(height: int, width: int) -> None:
    steps = Preprocessing("longest", 4, "bilinear", scale=1.0, mean=(1.0, 1.0, 1.0))
    prepared = steps.prepare(even(height, width, (7, 8, 9)))
    assert prepared.shape == (3, 4, 4)
    picture = prepared[:, max(4 - max(4 * height // max(height, width), 1), 0) // 2, 1]
    assert picture.tolist() == [6, 7, 8]  # less the mean
    black = (prepared == -1).all(axis=0)
    framed = (max(round(4 * height / max(height, width)), 1), max(round(4 * width / max(height, width)), 1))
    assert 16 - black.sum() == framed[0] * framed[1]
    assert "longest4" in steps.version
