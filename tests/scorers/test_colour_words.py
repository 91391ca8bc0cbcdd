"""Colours of the prompt against pixels: plain images, one value worked by hand, proportions that add up."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from beholder.scorers.catalogue import load_scorer
from beholder.scorers.colour_words import TERMS, USUAL, colour_proportions, colour_words

PLAIN = {
    "black": (10, 10, 10),
    "white": (250, 250, 250),
    "grey": (128, 128, 128),
    "red": (220, 20, 30),
    "orange": (255, 140, 0),
    "yellow": (250, 230, 20),
    "green": (20, 160, 40),
    "blue": (30, 60, 220),
    "purple": (110, 40, 200),
    "pink": (255, 150, 190),
    "brown": (120, 70, 30),
}


@pytest.mark.parametrize("term", TERMS)
def test_plain_images_have_their_colour(term: str) -> None:
    image = Image.new("RGB", (40, 30), PLAIN[term])
    scores = {named: colour_words(image, f"a {named} room") for named in TERMS}
    assert max(scores, key=scores.__getitem__) == term
    assert scores[term] > 1 > 0 > scores["purple" if term != "purple" else "green"]


def test_a_value_worked_by_hand() -> None:
    # half of the pixels are red: (√.5 − mean) / deviation
    pixels = np.zeros((64, 64, 3), np.uint8)
    pixels[:32, :, 0] = 255
    mean, deviation = USUAL["red"]
    score = colour_words(Image.fromarray(pixels), "Red, and REDDISH")
    assert score == pytest.approx((0.5**0.5 - mean) / deviation)


def test_warm_and_cold_are_opposites() -> None:
    fire = Image.new("RGB", (9, 9), (255, 120, 0))
    assert colour_words(fire, "warm color") == -colour_words(fire, "cold color") > 0


def test_prompts_without_colours_get_nothing() -> None:
    assert load_scorer("colour-words")(np.zeros((5, 5, 3), np.uint8), "a hundred blackbirds").tolist() == [0]


@given(st.integers(0, 2**32 - 1))
def test_every_pixel_has_one_colour(seed: int) -> None:
    pixels = np.random.default_rng(seed).integers(0, 256, (6, 6, 3)) / 255
    assert sum(colour_proportions(pixels).values()) == pytest.approx(1)
