"""Planes computed in strips and in place against the plain formulas: equal to the last bit, or to rounding."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import ndimage

from beholder.scorers.normalised_luma import ROWS, SPREAD, normalised
from beholder.scorers.planes import Planes
from beholder.scorers.sharpness import sharpness

SHAPES = [(1, 1), (1, 9), (5, 3), (37, 61), (ROWS, 8), (ROWS + 1, 8), (3 * ROWS - 2, 70)]


def pixels_of(shape: tuple[int, int]) -> NDArray[np.uint8]:
    return np.random.default_rng(0).integers(0, 256, (*shape, 3), dtype=np.uint8)


@pytest.mark.parametrize("shape", SHAPES)
def test_normalised_luma_is_that_of_scipys_filter(shape: tuple[int, int]) -> None:
    y = Planes(pixels_of(shape)).luma
    mean, second = (ndimage.gaussian_filter(plane, SPREAD, mode="nearest", radius=3) for plane in (y, y * y))
    expected = (y - mean) / (np.sqrt(np.maximum(second - mean * mean, 0)) + 1)
    assert np.array_equal(normalised(y), expected)


@pytest.mark.parametrize("shape", SHAPES)
def test_chroma_is_the_hypotenuse(shape: tuple[int, int]) -> None:
    planes = Planes(pixels_of(shape))
    red, _, blue = planes.colours
    expected = np.hypot((blue - planes.luma) * 0.5 / (1 - 0.114), (red - planes.luma) * 0.5 / (1 - 0.299))
    np.testing.assert_allclose(planes.chroma, expected, rtol=1e-14)


def test_sharpness_is_the_variance_of_the_written_out_sum() -> None:
    planes = Planes(pixels_of((37, 61)))
    y = planes.luma
    laplacian = y[:-2, 1:-1] + y[2:, 1:-1] + y[1:-1, :-2] + y[1:-1, 2:] - 4 * y[1:-1, 1:-1]
    assert sharpness(planes) == np.var(laplacian)
