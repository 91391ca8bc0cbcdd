"""The backdrop of an image: sky or wall above the horizon, ground below it, in each style.

A setting is a function from position to colour, so it can be looked at from any angle, at any resolution, and
in any style.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beholder.simulate.memo import Memo
from beholder.simulate.noise import cell_noise, cloud_noise, value_noise
from beholder.simulate.palette import LIGHTS, PAPER, Rgb
from beholder.simulate.shapes import Field

Pixels = NDArray[np.float32]
"""A picture, (height, width, 3), each channel in [0, 1]."""

HORIZON = 0.56
VARIANTS = 6
"""How many different places there are of each setting."""


@dataclass(frozen=True, slots=True)
class View:
    """Which place, seen how."""

    setting: str
    style: str
    variant: int  # 0 … VARIANTS − 1
    tilt: float = 0.0  # radians the horizon is turned by


_memo: Memo[NDArray[np.uint8]] = Memo(192 * 2**20, lambda pixels: pixels.nbytes)


def backdrop(view: View, size: int) -> Pixels:
    """Return the place without objects, to be painted on; (size, size, 3)."""
    key = (view.setting, view.style, view.variant, size)
    straight = _memo.get(key, lambda: _to_bytes(_paint(view, size)))
    return _from_bytes(straight if view.tilt == 0 else _tilted(straight, view.tilt))


def _to_bytes(pixels: Pixels) -> NDArray[np.uint8]:
    """Round to 8 bits: backdrops are cached so, as there are many."""
    return (np.clip(pixels, 0, 1) * np.float32(255) + np.float32(0.5)).astype(np.uint8)


def _from_bytes(pixels: NDArray[np.uint8]) -> Pixels:
    return np.multiply(pixels, np.float32(1 / 255), dtype=np.float32)


def _tilted(pixels: NDArray[np.uint8], tilt: float) -> NDArray[np.uint8]:
    """Return the place with its horizon turned: each column slides up or down, mirrored at the frame's edge."""
    size = pixels.shape[0]
    columns = np.arange(size)
    slide = np.rint((columns - (size - 1) / 2) * -np.tan(tilt)).astype(np.intp)
    rows = np.abs(columns[:, None] + slide[None, :])
    rows = np.minimum(rows, 2 * (size - 1) - rows)
    tilted: NDArray[np.uint8] = pixels[rows, columns[None, :]]
    return tilted


def _paint(view: View, size: int) -> Pixels:
    """Return the place in its style; small pictures are reduced from twice the size, as fine textures flicker."""
    double = 2 * size if size <= 128 else size
    steps = (np.arange(double, dtype=np.float32) + np.float32(0.5)) / np.float32(double)
    x, y = steps[None, :], steps[:, None]
    key = (view.setting, "plain", view.variant, double)
    pixels = _from_bytes(_memo.get(key, lambda: _to_bytes(_SCENERY[view.setting](x, y, 100 * view.variant))))
    if view.style == "painting":
        pixels = _dabbed(pixels, x, y, view.variant)
    elif view.style == "cartoon":
        pixels = _posterise(pixels)
    elif view.style == "sketch":
        pixels = _pencil(pixels, x, y)
    if double > size:
        halved = pixels[0::2] + pixels[1::2]
        pixels = (halved[:, 0::2] + halved[:, 1::2]) * np.float32(0.25)
    return pixels


def _dabbed(pixels: Pixels, x: Field, y: Field, seed: int) -> Pixels:
    """Return a painting of the place: dabs of a brush, each in the colour of the place at its middle."""
    angle = 0.3 * value_noise(x * 2, y * 2, seed + 40) + 0.15
    along, across = x * np.cos(angle) + y * np.sin(angle), y * np.cos(angle) - x * np.sin(angle)
    row = np.floor(across * 34)
    shifted = along * 9 + 0.5 * (row % 2) + 0.5 * value_noise(row * 3.7, np.zeros_like(row), seed + 41)
    cell = np.floor(shifted)
    back_along, back_across = (cell - shifted + 0.5) / 9, (row - across * 34 + 0.5) / 34
    bristle = value_noise(along * 14, across * 160, seed + 42)
    shade = 1 + 0.09 * cell_noise(cell, row, seed + 43) + 0.05 * bristle
    dab_x = x + back_along * np.cos(angle) - back_across * np.sin(angle)
    dab_y = y + back_along * np.sin(angle) + back_across * np.cos(angle)
    size = pixels.shape[0]
    rows, columns = (np.clip(dab * size, 0, size - 1).astype(np.intp) for dab in (dab_y, dab_x))
    painted: Pixels = pixels[rows, columns] * shade[..., None]
    return painted


def _posterise(pixels: Pixels) -> Pixels:
    """Return flat, lively colours: few levels of brightness, more saturation."""
    grey = pixels.mean(axis=2, keepdims=True)
    levels = np.round(grey * 14) / 14
    flat: Pixels = levels + (pixels - grey) * 1.35
    return flat


def _pencil(pixels: Pixels, x: Field, y: Field) -> Pixels:
    """Return coloured pencil on paper: pale, hatched more where it is darker."""
    grey = pixels.mean(axis=2)
    hatch = 0.5 + 0.5 * np.sin((x - y) * 125 + 3 * value_noise(x * 6, y * 6, 90))
    strength = np.clip(0.18 + (1 - grey) * (0.38 + 0.2 * hatch) + 0.05 * value_noise(x * 90, y * 90, 91), 0, 0.8)
    paper = np.asarray(PAPER, dtype=np.float32)
    drawn: Pixels = paper * (1 - strength[..., None]) + pixels * strength[..., None]
    return drawn


def _mix(first: Rgb | Pixels, second: Rgb | Pixels, fraction: Field) -> Pixels:
    a, b = np.asarray(first, dtype=np.float32), np.asarray(second, dtype=np.float32)
    mixed: Pixels = a + (b - a) * np.clip(fraction, 0, 1)[..., None]
    return mixed


def _edge(distance: Field, softness: float) -> Field:
    """Return 0 above a line and 1 below it."""
    below: Field = np.clip(distance / np.float32(softness) + np.float32(0.5), 0, 1)
    return below


def _sky(setting: str, y: Field) -> Pixels:
    top, low = LIGHTS[setting].sky
    return _mix(top, low, y / np.float32(HORIZON))


def _ground(setting: str, y: Field) -> Pixels:
    far, near = LIGHTS[setting].ground
    return _mix(far, near, (y - HORIZON) / (1 - HORIZON))


def _depth(y: Field) -> Field:
    """Return how far away the ground is: 1 at the bottom of the frame, growing towards the horizon."""
    depth: Field = (1 - HORIZON) / np.maximum(y - np.float32(HORIZON - 0.06), np.float32(0.03))
    return depth


def _clouds(pixels: Pixels, x: Field, y: Field, seed: int, rgb: Rgb, amount: float) -> Pixels:
    thick = cloud_noise(x * 3.2, y * 8.5, seed, octaves=4)
    return _mix(pixels, rgb, np.clip((thick - 0.15) * 1.9, 0, 1) * amount * np.clip(1.25 - y / HORIZON, 0, 1))


def _ridge(x: Field, seed: int, frequency: float, height: float) -> Field:
    """Return the y of a line of hills above the horizon."""
    wave = cloud_noise(x * frequency, np.zeros_like(x) + 0.5, seed, octaves=3)
    ridge: Field = HORIZON - height * (0.55 + 0.5 * wave)
    return ridge


def _meadow(x: Field, y: Field, seed: int) -> Pixels:
    pixels = _clouds(_sky("in a meadow", y), x, y, seed + 1, (1.0, 1.0, 1.0), 0.95)
    pixels = _mix(pixels, (0.55, 0.70, 0.66), _edge(y - _ridge(x, seed + 11, 2.2, 0.13), 0.008))
    pixels = _mix(pixels, (0.42, 0.63, 0.37), _edge(y - _ridge(x, seed + 12, 1.6, 0.06), 0.008))
    depth = _depth(y)
    blades = value_noise(x * 60, y * 14 + value_noise(x * 31, y * 3, seed + 3), seed + 4) / np.sqrt(depth)
    tufts = cloud_noise((x - 0.5) * 4 * depth, depth * 5, seed + 5, octaves=2)
    grass = _ground("in a meadow", y) * (1 + 0.16 * blades + 0.10 * tufts)[..., None]
    return _mix(pixels, grass, _edge(y - HORIZON, 0.01))


def _desert(x: Field, y: Field, seed: int) -> Pixels:
    pixels = _clouds(_sky("in the desert", y), x, y, seed + 1, (1.0, 0.97, 0.92), 0.35)
    for number, (height, rgb) in enumerate((((0.15), (0.86, 0.68, 0.48)), ((0.08), (0.92, 0.74, 0.49)))):
        ridge = _ridge(x, seed + 21 + number, 1.5, height)
        lit = 1 - 0.22 * _edge(y - ridge - 0.05 * value_noise(x * 4, y * 4, seed + 6), 0.09)
        pixels = _mix(pixels, np.asarray(rgb, dtype=np.float32) * lit[..., None], _edge(y - ridge, 0.008))
    depth = _depth(y)
    ripples = np.sin(depth * 24 + 5 * value_noise((x - 0.5) * 3 * depth, depth * 2, seed + 7)) / depth
    sand = (
        _ground("in the desert", y)
        * (1 + 0.05 * ripples + 0.03 * value_noise(x * 120, y * 120, seed + 8))[..., None]
    )
    return _mix(pixels, sand, _edge(y - HORIZON, 0.01))


def _table(x: Field, y: Field, seed: int) -> Pixels:
    wall = _sky("on a wooden table", y) * (1 + 0.03 * np.sign(np.sin(x * 2 * np.pi * 9)))[..., None]
    depth = _depth(y)
    across = (x - 0.5) * depth * 3.2 + 0.37 * seed
    plank = np.floor(across)
    tone = 0.12 * cell_noise(plank, np.zeros_like(plank), seed + 2)
    grain = value_noise(
        across * 16 + value_noise(across * 3, depth * 2, seed + 4), depth * 2.4 + plank * 7, seed + 3
    )
    seam = np.clip((2 * np.abs(across - plank - 0.5) - 0.94) / 0.06, 0, 1)
    wood = _ground("on a wooden table", y) * (1 + tone + 0.11 * grain - 0.45 * seam)[..., None]
    rim = np.clip(1 - np.abs(y - HORIZON - 0.006) / 0.012, 0, 1)
    return _mix(wall, wood * (1 - 0.35 * rim)[..., None], _edge(y - HORIZON, 0.006))


def _night(x: Field, y: Field, seed: int) -> Pixels:
    pixels = _clouds(_sky("under a night sky", y), x, y, seed + 1, (0.30, 0.32, 0.55), 0.5)
    column, row = np.floor(x * 13), np.floor(y * 13)
    star_x = column + 0.5 + 0.32 * cell_noise(column, row, seed + 2)
    star_y = row + 0.5 + 0.32 * cell_noise(column, row, seed + 3)
    bright = np.clip(cell_noise(column, row, seed + 4) + 0.15, 0, 1)
    far = np.hypot(x * 13 - star_x, y * 13 - star_y)
    glow = bright * (np.clip(1.25 - far * 9, 0, 1) + 0.2 * np.clip(1 - far * 2.5, 0, 1) ** 2)
    pixels = _mix(pixels, (1.0, 0.97, 0.85), glow)
    pixels = _mix(pixels, (0.08, 0.11, 0.22), _edge(y - _ridge(x, seed + 31, 2.6, 0.12), 0.008))
    bumps = cloud_noise((x - 0.5) * 5 * _depth(y), _depth(y) * 4, seed + 5, octaves=3)
    return _mix(
        pixels, _ground("under a night sky", y) * (1.1 + 0.25 * bumps)[..., None], _edge(y - HORIZON, 0.01)
    )


def _snow(x: Field, y: Field, seed: int) -> Pixels:
    pixels = _clouds(_sky("in the snow", y), x, y, seed + 1, (0.95, 0.96, 0.98), 0.6)
    pixels = _mix(pixels, (0.66, 0.75, 0.84), _edge(y - _ridge(x, seed + 41, 2.0, 0.17), 0.008))
    pines = (
        HORIZON
        - 0.02
        - 0.09
        * (1 - np.abs(2 * ((x * 11 + 0.1 * seed) % 1) - 1))
        * (0.55 + 0.45 * cell_noise(np.floor(x * 11 + 0.1 * seed), np.zeros_like(x), seed + 2))
    )
    pixels = _mix(pixels, (0.30, 0.42, 0.44), _edge(y - pines, 0.01))
    drifts = cloud_noise((x - 0.5) * 2.5 * _depth(y), _depth(y) * 3, seed + 5, octaves=3)
    pixels = _mix(pixels, _ground("in the snow", y) * (1 + 0.05 * drifts)[..., None], _edge(y - HORIZON, 0.012))
    column, row = np.floor(x * 10), np.floor(y * 10)
    flake_x = column + 0.5 + 0.3 * cell_noise(column, row, seed + 6)
    flake_y = row + 0.5 + 0.3 * cell_noise(column, row, seed + 7)
    far = np.hypot(x * 10 - flake_x, y * 10 - flake_y)
    falling = np.where(cell_noise(column, row, seed + 8) > -0.2, np.float32(0.9), np.float32(0))
    return _mix(pixels, (1.0, 1.0, 1.0), np.asarray(np.clip(1.6 - far * 11, 0, 1) * falling, dtype=np.float32))


def _beach(x: Field, y: Field, seed: int) -> Pixels:
    pixels = _clouds(_sky("on a beach", y), x, y, seed + 1, (1.0, 1.0, 1.0), 0.8)
    shore = HORIZON + 0.07 + 0.02 * value_noise(x * 3, np.zeros_like(x), seed + 2)
    into = np.clip((y - HORIZON + 0.1) / 0.17, 0, 1)
    glints = value_noise(x * 16, y * 130, seed + 3)
    sea = _mix((0.10, 0.42, 0.66), (0.38, 0.78, 0.80), into) * (1 + 0.13 * glints)[..., None]
    pixels = _mix(pixels, sea, _edge(y - HORIZON + 0.1, 0.006))
    foam = np.asarray(1 - np.abs(y - shore) / 0.012, dtype=np.float32)
    speckle = 0.045 * value_noise(x * 110, y * 110, seed + 4)
    speckle += 0.05 * cloud_noise(x * 5, y * 12, seed + 5, octaves=2)
    pixels = _mix(pixels, _ground("on a beach", y) * (1 + speckle)[..., None], _edge(y - shore, 0.012))
    return _mix(pixels, (1.0, 1.0, 1.0), np.float32(0.85) * np.clip(foam, 0, 1))


def _sunset(x: Field, y: Field, seed: int) -> Pixels:
    sun_x = 0.5 + 0.3 * float(np.sin(seed * 0.37 + 1))
    pixels = _sky("at sunset", y)
    far = np.hypot(x - sun_x, y - (HORIZON - 0.07))
    pixels = _mix(pixels, (1.0, 0.80, 0.45), 0.75 * np.exp(-((far / 0.24) ** 2)))
    pixels = _mix(pixels, (1.0, 0.95, 0.75), _edge(0.085 - far, 0.01))
    pixels = _clouds(pixels, x, y, seed + 1, (0.62, 0.30, 0.45), 0.75)
    pixels = _mix(pixels, (0.40, 0.22, 0.36), _edge(y - _ridge(x, seed + 51, 2.4, 0.09), 0.008))
    glow = np.exp(-(((x - sun_x) / 0.25) ** 2))
    bumps = cloud_noise((x - 0.5) * 5 * _depth(y), _depth(y) * 4, seed + 5, octaves=3)
    land = _mix(_ground("at sunset", y), (0.80, 0.46, 0.34), 0.5 * glow * np.clip(1 - (y - HORIZON) / 0.3, 0, 1))
    return _mix(pixels, land * (1 + 0.14 * bumps)[..., None], _edge(y - HORIZON, 0.01))


def _tiles(x: Field, y: Field, seed: int) -> Pixels:
    wall = _sky("on a tiled floor", y)
    skirting = np.clip((y - HORIZON + 0.045) / 0.006, 0, 1)
    wall = _mix(wall, (0.95, 0.95, 0.93), skirting)
    depth = _depth(y)
    across, along = (x - 0.5) * depth * 3 + 0.21 * seed, depth * 3
    softness = depth * depth * 0.02 + 0.01  # the chequers blur together far away
    wave = np.sin(across * np.pi) * np.sin(along * np.pi)
    chequer = np.clip(wave / (6 * softness) + 0.5, 0, 1)
    marble = cloud_noise(across * 1.5, along * 1.5, seed + 2, octaves=3)
    floor = _mix(_ground("on a tiled floor", y), (0.37, 0.52, 0.55), chequer) * (1 + 0.06 * marble)[..., None]
    return _mix(wall, floor, _edge(y - HORIZON, 0.006))


_SCENERY: dict[str, Callable[[Field, Field, int], Pixels]] = {
    "in a meadow": _meadow,
    "in the desert": _desert,
    "on a wooden table": _table,
    "under a night sky": _night,
    "in the snow": _snow,
    "on a beach": _beach,
    "at sunset": _sunset,
    "on a tiled floor": _tiles,
}
