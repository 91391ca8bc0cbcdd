"""Statistics of pixels: worked by hand, against waves of known frequency, and what they are for."""

import numpy as np
import pytest
from PIL import Image

from beholder.errors import WeightsError
from beholder.models.encoders.catalogue import load_encoder
from beholder.models.encoders.pixel_statistics import BANDS, DIMS, band_powers, count_colours, pixel_statistics

FLAT, COLOURS, EDGES = slice(BANDS, BANDS + 4), slice(BANDS + 4, BANDS + 6), BANDS + 7


def noise(side: int) -> np.ndarray:
    return np.random.default_rng(0).integers(0, 256, (side, side, 3), np.uint8)


def test_two_halves_by_hand() -> None:
    # 64 × 64: black on the left, grey of level 10 on the right. Of the 63 × 63 pixels that have both neighbours,
    # one column differs from its right neighbour by 10: 62/63 are flat at every threshold. Two colours, and two
    # coarse ones (0 and 10 >> 3 = 1). RMS 10/√63, mean 10/63; luminance of standard deviation 5; all grey.
    image = np.zeros((3, 64, 64), np.float32)
    image[:, :, 32:] = 10
    statistics = pixel_statistics(image)
    assert statistics[FLAT] == pytest.approx([62 / 63] * 4)
    assert statistics[COLOURS] == pytest.approx([np.log(2)] * 2)
    assert statistics[EDGES - 1] == pytest.approx(np.log(10 / np.sqrt(63) + 1), rel=1e-5)
    assert statistics[EDGES] == pytest.approx(np.log((10 / np.sqrt(63) + 0.1) / (10 / 63 + 0.1)), rel=1e-5)
    assert statistics[-3:] == pytest.approx([5, 0, 0], abs=1e-5)


@pytest.mark.parametrize("band", range(1, BANDS - 1))
def test_a_wave_is_in_its_band(band: int) -> None:
    # The middle of band b is at (b + ½)/BANDS of the highest frequency, ½ per pixel.
    wave = 100 * np.sin(2 * np.pi * 0.5 * (band + 0.5) / BANDS * np.arange(256))
    powers = band_powers(np.tile(wave, (256, 1)).astype(np.float32))
    assert powers.argmax() == band
    assert np.delete(powers, [band - 1, band, band + 1]).max() < powers[band] - 6


def test_colours_are_counted_as_numpy_counts_them() -> None:
    image = noise(64).transpose(2, 0, 1).astype(np.float32) // 40
    assert count_colours(image, 0) == len(np.unique(image.reshape(3, -1), axis=1).T)
    assert count_colours(np.zeros((3, 4, 4), np.float32), 3) == 1


def test_an_enlarged_image_has_no_power_in_the_highest_bands() -> None:
    encoder = load_encoder("pixel-statistics")
    original = Image.fromarray(noise(512))
    enlarged = original.resize((128, 128), Image.Resampling.BOX).resize((512, 512), Image.Resampling.BICUBIC)
    full, reduced = encoder.encode([np.asarray(image) for image in (original, enlarged)])
    assert full.shape == (DIMS,)
    drop = full[:BANDS] - reduced[:BANDS]
    assert drop[-3:].min() > 5
    assert drop[0] < 3


def test_it_has_no_weights() -> None:
    with pytest.raises(WeightsError, match="has no weights"):
        load_encoder("pixel-statistics", "weights.pth")
