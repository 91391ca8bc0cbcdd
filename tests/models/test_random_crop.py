"""The light augmentation: how much is kept, where it lies, and that a seed repeats it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from beholder.models.random_crop import random_crop


@given(st.integers(20, 200), st.integers(20, 200), st.integers(0, 99))
def test_nine_tenths_of_the_area_or_more_within_the_image(height: int, width: int, seed: int) -> None:
    part = random_crop(Image.new("RGB", (width, height)), np.random.default_rng(seed))
    assert 1 <= part.width <= width
    assert 1 <= part.height <= height
    if 3 / 4 <= width / height <= 4 / 3:
        assert part.width * part.height >= 0.9 * width * height - (width + height)  # but for rounding


def test_a_strip_gives_its_middle() -> None:
    image = Image.fromarray(np.arange(100, dtype=np.uint8)[None, :, None].repeat(12, 0).repeat(3, 2))
    part = np.asarray(random_crop(image, np.random.default_rng(0)))
    assert part.shape == (12, 16, 3)  # 4:3, the widest that is allowed
    assert part[0, :, 0].tolist() == list(range(42, 58))


def test_places_and_shares_vary_and_a_seed_repeats_them() -> None:
    image = Image.fromarray(np.random.default_rng(0).integers(0, 256, (64, 64, 3), dtype=np.uint8))
    parts = [np.asarray(random_crop(image, np.random.default_rng(seed))) for seed in range(20)]
    assert len({part.tobytes() for part in parts}) > 15
    shares = [part.shape[0] * part.shape[1] / 64**2 for part in parts]
    assert np.mean(shares) == pytest.approx(0.95, abs=0.03)
    again = np.asarray(random_crop(image, np.random.default_rng(0)))
    assert np.array_equal(again, parts[0])
