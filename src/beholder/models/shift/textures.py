"""Textures that surfaces of drawn images have: noise of several scales, stripes, dots, and strokes of a brush."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from beholder.models.shift.altered import as_image

MOST_STROKES = 4000
Texture = Callable[[np.random.Generator, int], NDArray[np.float64]]
"""Returns (side, side), from 0 to 1: how much of the second of two colours each pixel has."""


def textured(
    rng: np.random.Generator, side: int, first: NDArray[np.float64], second: NDArray[np.float64]
) -> Image.Image:
    """Return a texture, drawn at random, between two colours of (3,)."""
    texture = TEXTURES[int(rng.integers(len(TEXTURES)))]
    levels = texture(rng, side)[..., None]
    return as_image(first + levels * (second - first))


def cloudy(rng: np.random.Generator, side: int) -> NDArray[np.float64]:
    """Noise of several scales, of which the finer ones are the weaker."""
    finest, falloff = int(rng.integers(1, 9)), rng.uniform(0.4, 0.9)
    total, weight, cells = np.zeros((side, side)), 1.0, int(rng.integers(2, 7))
    while cells * finest <= side:
        total += weight * _noise(rng, cells, side)
        cells, weight = 2 * cells, falloff * weight
    low, high = np.quantile(total, (0.02, 0.98))
    return np.asarray(np.clip((total - low) / max(high - low, 1e-9), 0, 1))


def striped(rng: np.random.Generator, side: int) -> NDArray[np.float64]:
    """Bands, wavy or straight, with soft or hard edges."""
    across, down = _turned(rng, side)
    wavy = rng.uniform(0, 0.15) * _noise(rng, 4, side) * side
    widest = max(side / 6, 4)
    bands = np.sin(2 * np.pi * (across + wavy) / rng.uniform(4, widest))
    crossing = np.sin(2 * np.pi * down / rng.uniform(4, widest))
    return _edged(rng, bands + rng.choice([0.0, 0.5]) * crossing)


def dotted(rng: np.random.Generator, side: int) -> NDArray[np.float64]:
    """A lattice of dots or squares."""
    across, down = _turned(rng, side)
    period = rng.uniform(5, max(side / 8, 5))
    waves = np.cos(2 * np.pi * across / period), np.cos(2 * np.pi * down / period)
    return _edged(rng, waves[0] + waves[1] if rng.random() < 0.6 else 2 * waves[0] * waves[1])


def brushed(rng: np.random.Generator, side: int) -> NDArray[np.float64]:
    """Strokes of about one direction, over each other."""
    canvas = Image.new("L", (side, side), int(rng.integers(0, 256)))
    draw = ImageDraw.Draw(canvas)
    length, width = rng.uniform(side / 40, side / 8), int(rng.integers(1, max(side // 50, 3)))
    count = int(min(1.5 * side**2 / (length * width), MOST_STROKES))
    starts = rng.uniform(0, side, (count, 2))
    angles = rng.uniform(0, np.pi) + rng.normal(0, rng.uniform(0.05, 0.8), count)
    ends = starts + length * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    levels = rng.integers(0, 256, count)
    for start, end, level in zip(starts.tolist(), ends.tolist(), levels.tolist(), strict=True):
        draw.line((*start, *end), fill=level, width=width)
    return np.asarray(canvas, np.float64) / 255


TEXTURES: tuple[Texture, ...] = (cloudy, striped, dotted, brushed)


def _noise(rng: np.random.Generator, cells: int, side: int) -> NDArray[np.float64]:
    """Random levels of a lattice of so many cells, between which they run smoothly: about −1 to 1."""
    field = Image.fromarray(rng.uniform(-1, 1, (cells, cells)).astype(np.float32))
    return np.asarray(field.resize((side, side), Image.Resampling.BICUBIC), np.float64)


def _turned(rng: np.random.Generator, side: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Both coordinates of each pixel, turned by a random angle."""
    angle = rng.uniform(0, np.pi)
    rows, columns = np.mgrid[:side, :side].astype(np.float64)
    return columns * np.cos(angle) + rows * np.sin(angle), rows * np.cos(angle) - columns * np.sin(angle)


def _edged(rng: np.random.Generator, waves: NDArray[np.float64]) -> NDArray[np.float64]:
    """From waves about 0 to levels from 0 to 1, with harder or softer edges."""
    return np.asarray(1 / (1 + np.exp(-rng.choice([1.5, 4.0, 20.0]) * waves)))
