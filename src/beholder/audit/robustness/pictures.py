"""Changes of an image: those that no judge should mind, and those that every judge should see."""

import io
from collections.abc import Callable

import numpy as np
from PIL import Image, ImageFilter

Change = Callable[[Image.Image, np.random.Generator], Image.Image]

SMALL_SHIFT = 2
"""Pixels."""
CROPPED = 0.03
"""Part of each side that a small crop takes away."""
NOISE = 60.0
"""Standard deviation of strong noise, of 255."""
TILES = 4
"""Shuffled tiles along each side."""


def _jpeg(quality: int) -> Change:
    def change(image: Image.Image, _: np.random.Generator) -> Image.Image:
        file = io.BytesIO()
        image.save(file, "JPEG", quality=quality)
        return Image.open(io.BytesIO(file.getvalue())).convert("RGB")

    return change


def _resize(image: Image.Image, _: np.random.Generator) -> Image.Image:
    smaller = (max(round(0.9 * image.width), 1), max(round(0.9 * image.height), 1))
    return image.resize(smaller, Image.Resampling.BICUBIC).resize(image.size, Image.Resampling.BICUBIC)


def _shift(image: Image.Image, _: np.random.Generator) -> Image.Image:
    pixels = np.asarray(image)
    padded = np.pad(pixels, ((SMALL_SHIFT, 0), (SMALL_SHIFT, 0), (0, 0)), mode="edge")
    return Image.fromarray(padded[: pixels.shape[0], : pixels.shape[1]])


def _crop(image: Image.Image, _: np.random.Generator) -> Image.Image:
    across, down = round(CROPPED * image.width), round(CROPPED * image.height)
    inner = image.crop((across, down, image.width - across, image.height - down))
    return inner.resize(image.size, Image.Resampling.BICUBIC)


def _blur(image: Image.Image, _: np.random.Generator) -> Image.Image:
    return image.filter(ImageFilter.GaussianBlur(max(image.size) * 0.03))


def _noise(image: Image.Image, rng: np.random.Generator) -> Image.Image:
    pixels = np.asarray(image, np.float64)
    return Image.fromarray(np.clip(pixels + rng.normal(0, NOISE, pixels.shape), 0, 255).astype(np.uint8))


def _half_grey(image: Image.Image, rng: np.random.Generator) -> Image.Image:
    pixels = np.array(image)
    middle = pixels.shape[1] // 2
    side = slice(0, middle) if rng.random() < 0.5 else slice(middle, None)
    pixels[:, side] = 127
    return Image.fromarray(pixels)


def _shuffled(image: Image.Image, rng: np.random.Generator) -> Image.Image:
    pixels = np.array(image)
    high, wide = pixels.shape[0] // TILES, pixels.shape[1] // TILES
    corners = [(row * high, column * wide) for row in range(TILES) for column in range(TILES)]
    tiles = [pixels[y : y + high, x : x + wide].copy() for y, x in corners]
    for (y, x), place in zip(corners, rng.permutation(len(tiles)), strict=True):
        pixels[y : y + high, x : x + wide] = tiles[place]
    return Image.fromarray(pixels)


HARMLESS: dict[str, Change] = {
    "JPEG of quality 90": _jpeg(90),
    "resize to 90 % and back": _resize,
    "shift by 2 pixels": _shift,
    "crop of 3 % at each side": _crop,
}
"""Changes at which a score should not move."""

HARMFUL: dict[str, Change] = {
    "JPEG of quality 5": _jpeg(5),
    "blur": _blur,
    "noise": _noise,
    "half of the image grey": _half_grey,
    "tiles shuffled": _shuffled,
}
"""Changes at which a score should become worse."""


def as_png(image: Image.Image) -> bytes:
    """Return the bytes of a PNG file."""
    file = io.BytesIO()
    image.save(file, "PNG", compress_level=1)
    return file.getvalue()
