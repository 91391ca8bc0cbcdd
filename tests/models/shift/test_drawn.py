"""Drawn images and their textures: sizes, the same images by the same seed, and what each texture looks like."""

import numpy as np
import pytest

from beholder.models.shift.drawn import DRAWINGS, SIDES
from beholder.models.shift.textures import TEXTURES, Texture, brushed, cloudy, dotted, striped, textured


@pytest.mark.parametrize("side", [8, 40, 192])
@pytest.mark.parametrize("kind", DRAWINGS)
def test_each_kind_draws_a_square_of_any_side_that_follows_from_the_seed(kind: str, side: int) -> None:
    for seed in range(5):
        image, again = (DRAWINGS[kind](np.random.default_rng(seed), side) for _ in range(2))
        assert image.mode == "RGB"
        assert image.size == (side, side)
        assert np.array_equal(np.asarray(image), np.asarray(again))


@pytest.mark.parametrize("kind", DRAWINGS)
def test_without_a_side_several_are_drawn(kind: str) -> None:
    sides = {DRAWINGS[kind](np.random.default_rng(seed), None).size for seed in range(12)}
    assert len(sides) > 1
    assert sides <= {(side, side) for side in SIDES}


@pytest.mark.parametrize("texture", TEXTURES)
def test_textures_run_from_0_to_1_and_differ_from_seed_to_seed(texture: Texture) -> None:
    first, second = (texture(np.random.default_rng(seed), 64) for seed in (0, 1))
    for levels in (first, second):
        assert levels.shape == (64, 64)
        assert 0 <= levels.min() < levels.max() <= 1
    assert not np.array_equal(first, second)


def test_stripes_and_dots_are_periodic_where_clouds_and_strokes_are_not() -> None:
    # The proportion of the power in the strongest ten of 128² frequencies, mean of twelve textures.
    def concentration(texture: Texture) -> float:
        parts = []
        for seed in range(12):
            levels = texture(np.random.default_rng(seed), 128)
            fine = levels - levels.reshape(16, 8, 16, 8).mean(axis=(1, 3)).repeat(8, 0).repeat(8, 1)
            power = np.sort(np.abs(np.fft.fft2(fine)).ravel() ** 2)[::-1]
            parts.append(power[:10].sum() / power.sum())
        return float(np.mean(parts))

    assert min(map(concentration, (striped, dotted))) > 2 * max(map(concentration, (cloudy, brushed)))


def test_a_textured_surface_has_colours_between_its_two() -> None:
    red, blue = np.array([200.0, 10, 10]), np.array([10.0, 10, 200])
    for seed in range(8):
        pixels = np.asarray(textured(np.random.default_rng(seed), 48, red, blue), np.float64)
        assert (pixels[..., 1] == 10).all()
        assert np.abs(pixels[..., 0] + pixels[..., 2] - 210).max() <= 1  # both are rounded or cut to whole numbers
