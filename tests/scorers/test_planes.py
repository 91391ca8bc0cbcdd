"""Pixel statistics share the planes of an image, and have the values of their definitions to the last bit."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import ndimage

from beholder.images.sources import ArrayImage
from beholder.scorers import planes as planes_module
from beholder.scorers.catalogue import PIXELS, SCORERS, load_scorer
from beholder.scorers.luminance import luma
from beholder.scorers.natural_scene import generalised_gaussian
from beholder.scorers.score import score
from beholder.scorers.scorer import Scorer

Pixels = NDArray[np.uint8]
Plane = NDArray[np.float64]


def laplacian(y: Plane) -> Plane:
    return np.asarray(y[:-2, 1:-1] + y[2:, 1:-1] + y[1:-1, :-2] + y[1:-1, 2:] - 4 * y[1:-1, 1:-1])


def chroma(pixels: Pixels) -> Plane:
    y = luma(pixels)
    blue, red = (pixels[..., 2] - y) * 0.5 / (1 - 0.114), (pixels[..., 0] - y) * 0.5 / (1 - 0.299)
    return np.sqrt(blue * blue + red * red)


def saturation(pixels: Pixels) -> float:
    most, least = pixels.max(axis=2).astype(np.float64), pixels.min(axis=2).astype(np.float64)
    return float(np.mean((most - least) / np.maximum(most, 1.0)))


def colourfulness(pixels: Pixels) -> float:
    red, green, blue = np.moveaxis(pixels.astype(np.float64), 2, 0)
    red_green, yellow_blue = red - green, (red + green) / 2 - blue
    spread = np.hypot(np.std(red_green), np.std(yellow_blue))
    return float(spread + 0.3 * np.hypot(np.mean(red_green), np.mean(yellow_blue)))


def normalised(y: Plane) -> Plane:
    mean, square = (ndimage.gaussian_filter(field, 7 / 6, mode="nearest", radius=3) for field in (y, y * y))
    return np.asarray((y - mean) / (np.sqrt(np.maximum(square - mean * mean, 0.0)) + 1))


DEFINITIONS: dict[str, Callable[[Pixels], float]] = {
    "sharpness": lambda pixels: float(np.var(laplacian(luma(pixels)))),
    "contrast": lambda pixels: float(np.std(luma(pixels)) / 255),
    "brightness": lambda pixels: float(np.mean(luma(pixels)) / 255),
    "saturation": saturation,
    "colourfulness": colourfulness,
    "chroma-mean": lambda pixels: float(np.mean(chroma(pixels))),
    "chroma-spread": lambda pixels: float(np.std(chroma(pixels))),
    "nss-shape": lambda pixels: generalised_gaussian(normalised(luma(pixels)))[0],
    "nss-spread": lambda pixels: generalised_gaussian(normalised(luma(pixels)))[1],
}
"""Each statistic on its own, from the pixels alone."""


@pytest.fixture
def images() -> list[Pixels]:
    rng = np.random.default_rng(5)
    return [rng.integers(0, 256, (height, width, 3), np.uint8) for height, width in ((40, 64), (33, 31))]


def test_every_statistic_has_the_value_of_its_definition_to_the_last_bit(images: list[Pixels]) -> None:
    values = score(_sources(images), [None, None], _statistics()).values
    assert set(values) == set(DEFINITIONS)
    for name, definition in DEFINITIONS.items():
        assert values[name].tolist() == [definition(pixels) for pixels in images], name


def test_luma_is_computed_once_per_image(images: list[Pixels], monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []

    def counted(pixels: Pixels) -> object:
        calls.append(1)
        return luma(pixels)

    monkeypatch.setattr(planes_module, "luma", counted)
    score(_sources(images), [None, None], _statistics())
    assert len(calls) == len(images)


def _statistics() -> list[Scorer]:
    names = [name for name in PIXELS if "image" in SCORERS[name].needs]
    return [load_scorer(name) for name in names]


def _sources(images: list[Pixels]) -> list[ArrayImage]:
    return [ArrayImage(str(number), pixels) for number, pixels in enumerate(images)]
