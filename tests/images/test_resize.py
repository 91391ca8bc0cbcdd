"""The resize: Pillow's to the pixel, a table of numbers that no library may change, and the laws of a mean."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from PIL import Image

from beholder.images import resize as module
from beholder.images.resize import (
    FILTERS,
    pillow_agrees,
    pillow_agrees_unrounded,
    resize,
    resize_bytes,
    resize_floats,
    resize_tf1,
    resize_unrounded,
    weights,
)

SIDES = st.integers(1, 90)
NAMES = st.sampled_from(list(FILTERS))
SHAPES = [(256, 256, 224, 224), (64, 64, 299, 299), (512, 512, 32, 32), (90, 160, 60, 106)]


def noise(height: int, width: int, seed: int = 0) -> NDArray[np.uint8]:
    """Bytes with many at both ends, so that filters with negative lobes overshoot."""
    drawn = np.random.default_rng(seed).integers(-60, 316, (height, width, 3))
    return np.clip(drawn, 0, 255).astype(np.uint8)


def pattern(height: int, width: int) -> NDArray[np.uint8]:
    steps = np.arange(height * width).reshape(height, width, 1) * np.array([37, 53, 11])
    return np.asarray(steps % 256, np.uint8)


class TestAgainstPillow:
    """Pillow 12 takes rows first, always; Pillow 13 takes some tall images the other way round."""

    @given(name=NAMES, sides=st.tuples(SIDES, SIDES, SIDES, SIDES), seed=st.integers(0, 9))
    @settings(max_examples=80)
    def test_bytes_are_the_same_to_the_last(self, name: str, sides: tuple[int, int, int, int], seed: int) -> None:
        image = noise(sides[0], sides[1], seed)
        kind = FILTERS[name][2]
        rows = Image.fromarray(image).resize((sides[3], sides[0]), kind)
        expected = np.asarray(rows.resize((sides[3], sides[2]), kind))
        np.testing.assert_array_equal(resize_bytes(image, sides[2], sides[3], name), expected)

    @pytest.mark.parametrize("name", FILTERS)
    @pytest.mark.parametrize("sides", SHAPES)
    def test_one_call_of_pillow_for_usual_shapes(self, name: str, sides: tuple[int, int, int, int]) -> None:
        image = noise(sides[0], sides[1])
        expected = np.asarray(Image.fromarray(image).resize((sides[3], sides[2]), FILTERS[name][2]))
        np.testing.assert_array_equal(resize_bytes(image, sides[2], sides[3], name), expected)

    @pytest.mark.parametrize("name", FILTERS)
    @pytest.mark.parametrize("sides", [(50, 40, 20, 30), (20, 30, 50, 40)])
    def test_floats(self, name: str, sides: tuple[int, int, int, int]) -> None:
        image = noise(sides[0], sides[1]).astype(np.float32)
        planes = [Image.fromarray(image[..., c]).resize((sides[3], sides[2]), FILTERS[name][2]) for c in range(3)]
        resized = resize_floats(image, sides[2], sides[3], name)
        np.testing.assert_allclose(
            resized, np.stack([np.asarray(plane) for plane in planes], 2), rtol=0, atol=1e-4
        )

    @pytest.mark.parametrize("name", FILTERS)
    def test_the_pillow_at_hand_is_used(self, name: str) -> None:
        assert pillow_agrees(name)

    @pytest.mark.parametrize("name", FILTERS)
    def test_and_for_numbers_that_are_not_rounded(self, name: str) -> None:
        assert pillow_agrees_unrounded(name)
        image = noise(50, 40)
        expected = resize_floats(image, 23, 61, name)
        np.testing.assert_array_equal(resize_unrounded(Image.fromarray(image), 23, 61, name), expected)

    def test_one_that_does_not_agree_on_them_is_not(self, monkeypatch: pytest.MonkeyPatch) -> None:
        image = noise(30, 40)
        monkeypatch.setattr(module, "_resize_floats_with_pillow", lambda *_: np.zeros((11, 13, 3), np.float32))
        pillow_agrees_unrounded.cache_clear()
        try:
            resized = resize_unrounded(Image.fromarray(image), 11, 13, "bicubic")
            np.testing.assert_array_equal(resized, resize_floats(image, 11, 13, "bicubic"))
        finally:
            pillow_agrees_unrounded.cache_clear()

    def test_a_pillow_that_answers_differently_is_not(self, monkeypatch: pytest.MonkeyPatch) -> None:
        image = noise(30, 40)
        expected = resize_bytes(image, 11, 13, "bicubic")
        monkeypatch.setattr(module, "_resize_with_pillow", lambda *_: np.zeros((11, 13, 3), np.uint8))
        pillow_agrees.cache_clear()
        try:
            assert not pillow_agrees("bicubic")
            np.testing.assert_array_equal(resize(Image.fromarray(image), 11, 13, "bicubic"), expected)
        finally:
            pillow_agrees.cache_clear()


class TestGolden:
    """Written down with Pillow 12.0; whatever is installed, ours must give these."""

    @pytest.mark.parametrize(
        ("name", "smaller", "larger"),
        [
            (
                "box",
                [[94, 123, 109, 116], [109, 159, 123, 88], [124, 131, 138, 124]],
                [[0, 0, 53, 106, 106], [18, 18, 71, 124, 124], [18, 18, 71, 124, 124]],
            ),
            (
                "bilinear",
                [[93, 121, 121, 100], [120, 126, 122, 117], [130, 133, 128, 128]],
                [[0, 21, 53, 85, 106], [9, 30, 62, 94, 115], [18, 39, 71, 103, 124]],
            ),
            (
                "bicubic",
                [[90, 122, 120, 97], [122, 125, 122, 118], [130, 133, 131, 127]],
                [[0, 15, 52, 89, 109], [7, 25, 62, 99, 119], [15, 35, 72, 109, 129]],
            ),
            (
                "lanczos",
                [[89, 123, 119, 96], [128, 118, 122, 125], [124, 138, 133, 123]],
                [[0, 10, 51, 92, 108], [7, 21, 62, 103, 119], [16, 32, 73, 114, 130]],
            ),
        ],
    )
    def test_numbers(self, name: str, smaller: list[list[int]], larger: list[list[int]]) -> None:
        image = pattern(6, 10)
        assert resize_bytes(image, 3, 4, name)[..., 0].tolist() == smaller
        assert resize(Image.fromarray(image), 3, 4, name)[..., 0].tolist() == smaller
        assert resize_bytes(image[:2, :3], 3, 5, name)[..., 1].tolist() == larger
        assert resize(Image.fromarray(image[:2, :3]), 3, 5, name)[..., 1].tolist() == larger

    def test_a_tall_image_on_which_versions_of_pillow_differ(self) -> None:
        # Pillow 13.0 gives 96, 84, 192 and 66 where Pillow 12.0 gives 95, 83, 193 and 65
        expected = [[31, 95, 170, 187], [83, 153, 193, 65], [138, 202, 99, 65]]
        assert resize(Image.fromarray(pattern(18, 5)), 3, 4, "bicubic")[..., 1].tolist() == expected


class TestByHand:
    def test_halving_by_box_is_the_mean_of_four(self) -> None:
        image = np.array([[0, 10], [20, 31]], np.uint8)[..., None].repeat(3, 2)
        # rows: (0 + 10)/2 = 5, (20 + 31)/2 = 25.5 -> 26; column: (5 + 26)/2 = 15.5 -> 16
        assert resize_bytes(image, 1, 1, "box")[0, 0].tolist() == [16, 16, 16]

    def test_bilinear_weights_at_half_the_size(self) -> None:
        # 4 -> 2: scale 2; the centre of pixel 0 is 1; distances of the inputs' centres .5, 1.5 (and -.5), over 2:
        # weights 1 - .25, 1 - .25, 1 - .75 -> .75, .75, .25, over their sum 1.75
        first, entries = weights(4, 2, "bilinear")
        assert first.tolist() == [0, 1]
        np.testing.assert_allclose(entries, [[3 / 7, 3 / 7, 1 / 7], [1 / 7, 3 / 7, 3 / 7]])

    def test_bicubic_at_twice_the_size(self) -> None:
        # the centre of output 2 is 1.25: inputs 0..3 lie at -.75, .25, 1.25 (and 2.25, outside)
        # a = -.5: near(x) = 1.5x³ - 2.5x² + 1, far(x) = -.5x³ + 2.5x² - 4x + 2
        expected = np.array([1.5 * 0.75**3 - 2.5 * 0.75**2 + 1, 1.5 * 0.25**3 - 2.5 * 0.25**2 + 1])
        beyond = -0.5 * 1.25**3 + 2.5 * 1.25**2 - 4 * 1.25 + 2
        _, entries = weights(4, 8, "bicubic")
        total = expected.sum() + beyond
        np.testing.assert_allclose(entries[2][:3], [expected[0] / total, expected[1] / total, beyond / total])

    def test_tf1_keeps_the_first_corner(self) -> None:
        # 2 -> 4: positions 0, .5, 1, 1.5; the last is past the end and stays at the last pixel
        image = np.array([[0, 100]], np.uint8)[..., None].repeat(3, 2)
        assert resize_tf1(image, 1, 4)[0, :, 0].tolist() == [0, 50, 100, 100]

    def test_tf1_passes_over_pixels(self) -> None:
        image = np.arange(8, dtype=np.uint8).reshape(1, 8, 1).repeat(3, 2)
        assert resize_tf1(image, 1, 2)[0, :, 0].tolist() == [0, 4]  # not antialiased: that is the published FID


class TestLaws:
    @given(name=NAMES, sides=st.tuples(SIDES, SIDES, SIDES, SIDES), value=st.integers(0, 255))
    @settings(max_examples=60)
    def test_an_even_image_stays_even(self, name: str, sides: tuple[int, int, int, int], value: int) -> None:
        image = np.full((sides[0], sides[1], 3), value, np.uint8)
        assert (resize_bytes(image, sides[2], sides[3], name) == value).all()

    @given(name=NAMES, size_in=st.integers(1, 300), size_out=st.integers(1, 300))
    @settings(max_examples=50)
    def test_weights_are_a_mean_and_lie_within(self, name: str, size_in: int, size_out: int) -> None:
        first, entries = weights(size_in, size_out, name)
        np.testing.assert_allclose(entries.sum(axis=1), 1.0)
        used = first[:, None] + np.arange(entries.shape[1])
        assert (used[entries != 0] < size_in).all()
        if size_out < size_in and name != "box":
            assert set(used[entries != 0]) == set(range(size_in))  # every input pixel counts somewhere

    @given(name=st.sampled_from(["bilinear", "bicubic", "lanczos"]), sides=st.tuples(SIDES, SIDES, SIDES, SIDES))
    @settings(max_examples=40)
    def test_mirrored_in_mirrored_out(self, name: str, sides: tuple[int, int, int, int]) -> None:
        image = noise(sides[0], sides[1]).astype(np.float32)
        straight = resize_floats(image, sides[2], sides[3], name)
        mirrored = resize_floats(image[::-1, ::-1], sides[2], sides[3], name)
        np.testing.assert_allclose(mirrored[::-1, ::-1], straight, rtol=0, atol=1e-3)

    @pytest.mark.parametrize("name", FILTERS)
    def test_the_same_size_is_the_same_image(self, name: str) -> None:
        image = noise(12, 17)
        np.testing.assert_array_equal(resize(Image.fromarray(image), 12, 17, name), image)
        np.testing.assert_array_equal(resize_bytes(image, 12, 17, name), image)
