"""Changes to an image that people's feedback survives: crops, which heatmaps follow, light, colour and JPEG.

As in RAHF: a crop with chance ½; brightness, contrast, hue, saturation and JPEG noise with chance 1/10 each, and
grey with 1/10. Words about colour do not survive a new hue or grey, so these can be left out.
"""

import io
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageEnhance
from pydantic import Field

from beholder.study.question import Settings, Share

Maps = NDArray[np.float32]
"""Heatmaps of one image, (aspects, height, width)."""

HUES = 256
CHANCES = ("crop", "mirror", "light", "colour", "jpeg", "grey")
"""Settings that say how often an image is changed."""


class Augmentation(Settings):
    """Chances and strengths."""

    crop: Share = Field(0.5, description="chance of a crop")
    smallest: float = Field(0.8, gt=0, le=1, description="share of each side that a crop leaves, at least")
    mirror: Share = Field(0.0, description="chance of a mirror image; words such as left do not survive it")
    light: Share = Field(0.1, description="chance of another brightness, and of another contrast")
    colour: Share = Field(0.1, description="chance of another hue, and of another saturation")
    jpeg: Share = Field(0.1, description="chance of JPEG noise")
    grey: Share = Field(0.1, description="chance of no colour at all")

    @property
    def changes(self) -> bool:
        """Whether any image is ever changed."""
        return any(getattr(self, name) for name in CHANCES)


def augmented(
    image: Image.Image, maps: Maps, settings: Augmentation, rng: np.random.Generator
) -> tuple[Image.Image, Maps]:
    """The image and its maps, changed alike; nan maps stay so."""
    if rng.random() < settings.crop:
        image, maps = _cropped(image, maps, settings.smallest, rng)
    if rng.random() < settings.mirror:
        image, maps = image.transpose(Image.Transpose.FLIP_LEFT_RIGHT), maps[..., ::-1]
    changes: tuple[tuple[float, Callable[[Image.Image, np.random.Generator], Image.Image]], ...] = (
        (settings.light, lambda one, draw: ImageEnhance.Brightness(one).enhance(draw.uniform(0.8, 1.2))),
        (settings.light, lambda one, draw: ImageEnhance.Contrast(one).enhance(draw.uniform(0.8, 1.2))),
        (settings.colour, lambda one, draw: ImageEnhance.Color(one).enhance(draw.uniform(0.8, 1.2))),
        (settings.colour, _turned_hue),
        (settings.jpeg, _through_jpeg),
        (settings.grey, lambda one, _: one.convert("L").convert("RGB")),
    )
    for chance, change in changes:
        if rng.random() < chance:
            image = change(image, rng)
    return image, np.ascontiguousarray(maps)


def _cropped(
    image: Image.Image, maps: Maps, smallest: float, rng: np.random.Generator
) -> tuple[Image.Image, Maps]:
    """A part of both, at the same shares of width and height."""
    share = rng.uniform(smallest, 1)
    left, top = rng.uniform(0, 1 - share, 2)
    return image.crop(_box(image.width, image.height, left, top, share)), _part(maps, left, top, share)


def _part(maps: Maps, left: float, top: float, share: float) -> Maps:
    x, y, right, bottom = _box(maps.shape[2], maps.shape[1], left, top, share)
    return maps[:, y:bottom, x:right]


def _box(width: int, height: int, left: float, top: float, share: float) -> tuple[int, int, int, int]:
    """In whole pixels, at least one of them."""
    x, y = min(round(left * width), width - 1), min(round(top * height), height - 1)
    return x, y, min(x + max(round(share * width), 1), width), min(y + max(round(share * height), 1), height)


def _turned_hue(image: Image.Image, rng: np.random.Generator) -> Image.Image:
    hue, saturation, value = image.convert("HSV").split()
    turn = int(rng.integers(-8, 9))
    turned = hue.point([(one + turn) % HUES for one in range(HUES)])
    return Image.merge("HSV", (turned, saturation, value)).convert("RGB")


def _through_jpeg(image: Image.Image, rng: np.random.Generator) -> Image.Image:
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=int(rng.integers(70, 96)))
    return Image.open(buffer).convert("RGB")
