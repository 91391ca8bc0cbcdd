"""A scene as pixels, at any size: backdrop, soft shadows, objects, and the finish of the style."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beholder.simulate.backdrop import HORIZON, Pixels, backdrop
from beholder.simulate.memo import Memo
from beholder.simulate.noise import value_noise
from beholder.simulate.objects import FOOT
from beholder.simulate.palette import COLOUR_RGB, LIGHTS
from beholder.simulate.scene import Placed, Scene
from beholder.simulate.shapes import Field
from beholder.simulate.sprite import sprite

Labels = NDArray[np.int8]
"""Which object each pixel shows: its number in ``Scene.objects``, or −1; (size, size)."""


@dataclass(frozen=True, slots=True)
class Rendering:
    """A rendered scene."""

    pixels: Pixels  # (size, size, 3)
    labels: Labels  # (size, size)


_finishes: Memo[Pixels] = Memo(32 * 2**20, lambda pixels: pixels.nbytes)
_shadows: Memo[Field] = Memo(16 * 2**20, lambda field: field.nbytes)
_wobbles: Memo[NDArray[np.intp]] = Memo(32 * 2**20, lambda index: index.nbytes)


def render(scene: Scene, size: int) -> Rendering:
    """Return the picture, ``size`` pixels square."""
    pixels = backdrop(scene.view, size)
    labels = np.full((size, size), -1, dtype=np.int8)
    for placed in scene.objects:
        _cast_shadow(pixels, placed, LIGHTS[scene.view.setting].shadow)
    for number, placed in enumerate(scene.objects):
        _paint_object(pixels, labels, number, placed, scene)
    if scene.view.style == "painting":
        index = _wobbles.get((scene.view.variant, size), lambda: _wobble(scene.view.variant, size))
        pixels = pixels.reshape(-1, 3)[index]
        labels = labels.reshape(-1)[index]
    pixels *= np.array(scene.tone, dtype=np.float32)
    if scene.view.style != "cartoon":  # which are flat
        pixels *= _finishes.get((scene.view.style, size), lambda: _finish(scene.view.style, size))
    if scene.contrast != 1:
        pixels = np.float32(0.55) + (pixels - np.float32(0.55)) * np.float32(scene.contrast)
    np.clip(pixels, 0, 1, out=pixels)
    return Rendering(pixels, labels)


def _window(
    x: float, y: float, shape: tuple[int, ...], size: int
) -> tuple[tuple[slice, slice], tuple[slice, slice]]:
    """Return the part of a patch about (x, y) that is in the frame, as slices of the picture and of the patch."""
    top, left = round(y * size - shape[0] / 2), round(x * size - shape[1] / 2)
    first_row, last_row = max(top, 0), max(min(top + shape[0], size), top, 0)
    first_column, last_column = max(left, 0), max(min(left + shape[1], size), left, 0)
    return (
        (slice(first_row, last_row), slice(first_column, last_column)),
        (slice(first_row - top, last_row - top), slice(first_column - left, last_column - left)),
    )


def _cast_shadow(pixels: Pixels, placed: Placed, darkness: float) -> None:
    """Darken the ground in a soft ellipse: under the object, or further below and fainter when it hangs."""
    size = pixels.shape[0]
    y = placed.y + FOOT * placed.radius * 0.97 if placed.grounded else max(0.93, HORIZON + 0.1)
    strength = darkness if placed.grounded else 0.4 * darkness
    radius = placed.radius * size * 1.3
    shade = _shadows.get((radius, strength), lambda: _shadow(radius, strength))
    here, there = _window(placed.x + 0.12 * placed.radius, y, shade.shape, size)
    pixels[here] *= shade[there]


def _shadow(radius: float, strength: float) -> NDArray[np.float32]:
    """Return what a shadow leaves of the light: a soft ellipse 3.5 times wider than high; (height, width, 1)."""
    width, height = 2 * int(np.ceil(radius)), 2 * int(np.ceil(radius / 3.5))
    x = (np.arange(width, dtype=np.float32) + np.float32(0.5 - width / 2)) / np.float32(radius)
    y = (np.arange(height, dtype=np.float32) + np.float32(0.5 - height / 2)) / np.float32(radius / 3.5)
    fade = np.clip(1 - np.hypot(x[None, :], y[:, None]), 0, 1)
    shade: Pixels = (1 - np.float32(strength) * fade * fade * (3 - 2 * fade))[..., None]
    return shade


def _paint_object(pixels: Pixels, labels: Labels, number: int, placed: Placed, scene: Scene) -> None:
    size = pixels.shape[0]
    drawn = sprite(placed.kind, scene.view.style, placed.radius * size, placed.tilt)
    here, there = _window(placed.x, placed.y, drawn.solid.shape, size)
    ambient = np.array(LIGHTS[scene.view.setting].ambient, dtype=np.float32)
    if scene.view.style == "sketch":
        ambient = (ambient + np.float32(1)) * np.float32(0.5)  # paper stays bright at night
    paint = drawn.own[there] * np.array(COLOUR_RGB[placed.colour], dtype=np.float32)
    paint += drawn.rest[there]
    paint *= ambient
    behind = pixels[here]
    behind *= drawn.through[there]
    behind += paint
    np.putmask(labels[here], drawn.solid[there], number)


def _wobble(seed: int, size: int) -> NDArray[np.intp]:
    """Return which pixel each pixel shows, as if a brush had dragged the paint a little; (size, size)."""
    steps = np.arange(size, dtype=np.float32) / np.float32(size)
    x, y = np.meshgrid(steps, steps)
    reach = 0.006 * size
    dx = reach * value_noise(x * 16, y * 16, seed + 61)
    dy = reach * value_noise(x * 16, y * 16, seed + 62)
    columns = np.clip(np.rint(x * size + dx), 0, size - 1)
    rows = np.clip(np.rint(y * size + dy), 0, size - 1)
    index: NDArray[np.intp] = (rows * size + columns).astype(np.intp)
    return index


def _finish(style: str, size: int) -> Pixels:
    """Return what the style multiplies the picture by: vignette and grain, canvas, or paper; (size, size, 1)."""
    steps = (np.arange(size, dtype=np.float32) + np.float32(0.5)) / np.float32(size)
    x, y = np.meshgrid(steps, steps)
    far = np.hypot(x - 0.5, y - 0.5)
    if style == "photo":
        finish = 1.03 - 0.30 * far**2.5 + 0.012 * value_noise(x * 170, y * 170, 63)
    elif style == "painting":
        weave = np.sin(x * 2 * np.pi * 90) * np.sin(y * 2 * np.pi * 90) if size >= 192 else np.zeros_like(x)
        finish = 1.0 + 0.025 * weave + 0.03 * value_noise(x * 12, y * 40, 64) - 0.1 * far**2
    else:
        finish = 1.0 + 0.025 * value_noise(x * 100, y * 100, 65) - 0.06 * far**2
    return np.asarray(finish[..., None], dtype=np.float32)
