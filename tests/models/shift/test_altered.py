"""Altered and drawn images: what each kind does, sizes in proportion, and the same images by the same seed."""

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image
from scipy.stats import binom

from beholder.models.encoders.catalogue import load_encoder
from beholder.models.shift.altered import ALTERATIONS, REFERENCE, scale_of, square
from beholder.models.shift.altered_set import FEWEST_EACH, FEWEST_PIXELS, altered_set
from beholder.models.shift.drawn import DRAWINGS
from beholder.models.shift.light import PIXELS, encode_light
from beholder.models.shift.train import DRAWN, PromptedVectors, train_warning


def photograph(side: int, rng: np.random.Generator | None = None) -> Image.Image:
    """Noise with the spectrum of photographs, about."""
    rng = rng or np.random.default_rng(0)
    frequency = np.hypot(np.fft.fftfreq(side)[:, None], np.fft.fftfreq(side))
    frequency[0, 0] = 1
    planes = [np.fft.ifft2(np.fft.fft2(rng.normal(size=(side, side))) / frequency).real for _ in range(3)]
    return Image.fromarray(np.clip(128 + 40 * np.dstack(planes) / np.std(planes), 0, 255).astype(np.uint8))


def test_sizes_are_in_proportion_to_the_shortest_side() -> None:
    # 256 of 512 px are 96 of 192 px, and 24 are 9; of 1,024 px no more than of 512.
    assert square(Image.new("RGB", (512, 700)), 256) == (256, 256)
    assert square(Image.new("RGB", (300, 192)), 256) == (96, 96)
    assert square(Image.new("RGB", (192, 192)), 24) == (9, 9)
    assert scale_of(Image.new("RGB", (1024, 1024))) == 1.0


@pytest.mark.parametrize("side", [8, 32, 192])
@pytest.mark.parametrize("kind", ALTERATIONS)
def test_each_kind_changes_images_of_every_size(kind: str, side: int) -> None:
    image = photograph(side)
    altered = ALTERATIONS[kind](image, np.random.default_rng(1))
    assert altered.mode == "RGB"
    assert altered.size != image.size or not np.array_equal(np.asarray(altered), np.asarray(image))
    again = ALTERATIONS[kind](image, np.random.default_rng(1))
    assert np.array_equal(np.asarray(altered), np.asarray(again))


def test_flat_images_and_palettes_have_few_colours_and_lines_two() -> None:
    image = photograph(128)
    for kind, most in (("flat", 11), ("palette", 32), ("lines", 2)):
        altered = np.asarray(ALTERATIONS[kind](image, np.random.default_rng(2)))
        assert len(np.unique(altered.reshape(-1, 3), axis=0)) <= most


def test_softened_images_have_less_detail_and_noisy_ones_more() -> None:
    image = photograph(192)

    def detail(picture: Image.Image) -> float:
        return float(np.abs(np.diff(np.asarray(picture, np.float64), axis=0)).mean())

    assert detail(ALTERATIONS["softened"](image, np.random.default_rng(3))) < detail(image)
    assert detail(ALTERATIONS["noisy"](image, np.random.default_rng(3))) > detail(image)


def test_there_are_as_many_of_each_kind_and_they_follow_from_the_seed() -> None:
    originals = [photograph(24).rotate(angle) for angle in range(10)]
    first, again = (list(altered_set(originals.__getitem__, 10, np.random.default_rng(4))) for _ in range(2))
    kinds = [kind for kind, _, _ in first]
    expected = dict.fromkeys(ALTERATIONS, FEWEST_EACH) | dict.fromkeys(DRAWINGS, 2 * FEWEST_EACH)
    assert {kind: kinds.count(kind) for kind in kinds} == expected
    for kind, number, _ in first:
        assert (number is None) == (kind in DRAWINGS)
    assert [number for _, number, _ in first] == [number for _, number, _ in again]
    for (_, _, image), (_, _, same) in zip(first, again, strict=True):
        assert np.array_equal(np.asarray(image), np.asarray(same))


def test_half_of_the_drawings_are_as_large_as_the_originals_within_limits() -> None:
    for size, side in (((4, 6), FEWEST_PIXELS), ((40, 50), 40), ((700, 600), REFERENCE)):
        originals = [Image.new("RGB", size, "#336699")] * 6
        images = altered_set(originals.__getitem__, 6, np.random.default_rng(1))
        drawn = [image for _, number, image in images if number is None]
        assert [image.size for image in drawn[1::2]] == [(side, side)] * (len(drawn) // 2)


def test_kinds_that_were_left_out_are_reported_by_statistics_of_pixels() -> None:
    rng = np.random.default_rng(5)
    originals = [photograph(96, rng) for _ in range(120)]
    pixels = load_encoder(PIXELS)
    usual = PromptedVectors(encode_light([pixels], originals[:80]), np.arange(80))
    vectors: dict[str, list[NDArray[np.float32]]] = {}
    for kind, _, image in altered_set(originals.__getitem__, 80, rng):
        vectors.setdefault(kind, []).append(encode_light([pixels], [image])[0])
    rates = {}
    for left_out in ("flat", "noisy", "enlarged", "shapes"):
        altered = vectors[left_out]
        others = np.stack([each for kind, of_kind in vectors.items() if kind != left_out for each in of_kind])
        warning = train_warning([pixels], usual, PromptedVectors(others, np.full(len(others), DRAWN)))
        rates[left_out] = float((warning.shifts(np.stack(altered)) > 1).mean())
        assert (warning.shifts(encode_light([pixels], originals[80:])) > 1).sum() <= binom.ppf(0.999, 40, 0.05)
    assert np.mean(list(rates.values())) > 0.9, rates
