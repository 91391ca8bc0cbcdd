"""Augmentation under which raters' feedback stays valid: crops, applied to heatmaps as well, light, colour, JPEG.

As in RAHF: a crop with probability ½; brightness, contrast, hue, saturation and JPEG noise with 1/10 each, and
grey with 1/10. Feedback on words for colours becomes wrong with another hue or grey, so these can be turned off.
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
"""Settings that are probabilities of a change."""


class Augmentation(Settings):
    """Probabilities and strengths of changes."""

    crop: Share = Field(0.5, description="probability of a crop")
    smallest: float = Field(0.8, gt=0, le=1, description="smallest proportion of each side that a crop keeps")
    mirror: Share = Field(0.0, description="probability of a mirror image; words such as left become wrong")
    light: Share = Field(0.1, description="probability of another brightness, and of another contrast")
    colour: Share = Field(0.1, description="probability of another hue, and of another saturation")
    jpeg: Share = Field(0.1, description="probability of JPEG noise")
    grey: Share = Field(0.1, description="probability of no colour at all")

    @property
    def changes(self) -> bool:
        """Whether any image is ever changed."""
        return any(getattr(self, name) for name in CHANCES)

    @property
    def moves(self) -> bool:
        """Whether anything in an image ever moves, and what raters marked with it."""
        return self.crop > 0 or self.mirror > 0


def augment(
    image: Image.Image, maps: Maps, settings: Augmentation, rng: np.random.Generator
) -> tuple[Image.Image, Maps]:
    """The image and its maps, changed alike; nan maps stay nan."""
    if rng.random() < settings.crop:
        image, maps = _crop(image, maps, settings.smallest, rng)
    if rng.random() < settings.mirror:
        image, maps = image.transpose(Image.Transpose.FLIP_LEFT_RIGHT), maps[..., ::-1]
    changes: tuple[tuple[float, Callable[[Image.Image, np.random.Generator], Image.Image]], ...] = (
        (
            settings.light,
            lambda picture, generator: ImageEnhance.Brightness(picture).enhance(generator.uniform(0.8, 1.2)),
        ),
        (
            settings.light,
            lambda picture, generator: ImageEnhance.Contrast(picture).enhance(generator.uniform(0.8, 1.2)),
        ),
        (
            settings.colour,
            lambda picture, generator: ImageEnhance.Color(picture).enhance(generator.uniform(0.8, 1.2)),
        ),
        (settings.colour, _shift_hue),
        (settings.jpeg, _compress),
        (settings.grey, lambda picture, _: picture.convert("L").convert("RGB")),
    )
    for chance, change in changes:
        if rng.random() < chance:
            image = change(image, rng)
    return image, np.ascontiguousarray(maps)


def _crop(image: Image.Image, maps: Maps, smallest: float, rng: np.random.Generator) -> tuple[Image.Image, Maps]:
    """The same crop of both, in proportions of width and height."""
    proportion = rng.uniform(smallest, 1)
    left, top = rng.uniform(0, 1 - proportion, 2)
    return image.crop(_box(image.width, image.height, left, top, proportion)), _crop_maps(
        maps, left, top, proportion
    )


def _crop_maps(maps: Maps, left: float, top: float, proportion: float) -> Maps:
    x, y, right, bottom = _box(maps.shape[2], maps.shape[1], left, top, proportion)
    return maps[:, y:bottom, x:right]


def _box(width: int, height: int, left: float, top: float, proportion: float) -> tuple[int, int, int, int]:
    """In whole pixels, at least one of them."""
    x, y = min(round(left * width), width - 1), min(round(top * height), height - 1)
    return (
        x,
        y,
        min(x + max(round(proportion * width), 1), width),
        min(y + max(round(proportion * height), 1), height),
    )


def _shift_hue(image: Image.Image, rng: np.random.Generator) -> Image.Image:
    hue, saturation, value = image.convert("HSV").split()
    shift = int(rng.integers(-8, 9))
    shifted = hue.point([(level + shift) % HUES for level in range(HUES)])
    return Image.merge("HSV", (shifted, saturation, value)).convert("RGB")


def _compress(image: Image.Image, rng: np.random.Generator) -> Image.Image:
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=int(rng.integers(70, 96)))
    return Image.open(buffer).convert("RGB")
