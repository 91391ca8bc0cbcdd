"""One object in one style as a small picture that is linear in the colour asked for.

``pixels = own · colour + rest + through · what is behind``: so an object is drawn once for a size, a tilt
and a style, cached, and painted in any colour by one multiplication. Light falls from the upper left; the
surface of each patch curves like a circle's quarter within ``bulge`` of its edge.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from beholder.simulate.memo import Memo
from beholder.simulate.noise import value_noise
from beholder.simulate.objects import PATCHES, Patch
from beholder.simulate.palette import PAPER
from beholder.simulate.shapes import Field, coverage

REACH = 1.1
"""How far a sprite reaches from its middle, in radii of the object: a margin for outlines and tilt."""

_LIGHT = np.array([-0.48, -0.62, 0.62], dtype=np.float32)
_GLINT = np.array([-0.26, -0.34, 0.90], dtype=np.float32)  # half-way between the light and the eye
_INKS = {  # what lines are drawn in, in the styles that have lines
    "cartoon": np.array([0.13, 0.10, 0.14], dtype=np.float32),
    "sketch": np.array([0.27, 0.26, 0.28], dtype=np.float32),
}


@dataclass(frozen=True, slots=True)
class Sprite:
    """A drawn object, premultiplied by its alpha."""

    solid: NDArray[np.bool_]  # (side, side): where it hides what is behind it
    through: NDArray[np.float32]  # (side, side, 1): how much of what is behind it shows
    own: NDArray[np.float32]  # (side, side, 1)
    rest: NDArray[np.float32]  # (side, side, 3)


_sprites: Memo[Sprite] = Memo(96 * 2**20, lambda drawn: 6 * drawn.own.nbytes)
_reliefs: Memo["_Relief"] = Memo(48 * 2**20, lambda relief: 4 * sum(s.covered.nbytes for s in relief.surfaces))


def sprite(kind: str, style: str, radius: float, tilt: float) -> Sprite:
    """Return the object with its radius in pixels, turned by ``tilt`` radians."""
    return _sprites.get((kind, style, radius, tilt), lambda: _draw(kind, style, radius, tilt))


@dataclass(frozen=True, slots=True)
class _Surface:
    """One patch before any style, in the window of the sprite outside which it has no part; fields (h, w)."""

    window: tuple[slice, slice]
    distance: Field  # from its edge, in pixels
    covered: Field
    facing: Field  # cosine between the surface and the light
    glint: Field  # cosine between the surface and the direction that mirrors the light


@dataclass(frozen=True, slots=True)
class _Relief:
    """An object before any style: the coordinates of its pixels (side, side), and its surfaces, back to front."""

    x: Field
    y: Field
    surfaces: tuple[_Surface, ...]


def _draw(kind: str, style: str, radius: float, tilt: float) -> Sprite:
    relief = _reliefs.get((kind, radius, tilt), lambda: _relief(kind, radius, tilt))
    alpha, own, ink = (np.zeros_like(relief.x) for _ in range(3))
    rest = np.zeros((*relief.x.shape, 3), dtype=np.float32)
    stroke = _stroke(relief.x, relief.y) if style == "painting" else np.zeros_like(relief.x)
    for patch, surface in zip(PATCHES[kind], relief.surfaces, strict=True):
        here, covered = surface.window, surface.covered
        light, gloss = _STYLE_LIGHT[style](surface, patch, stroke[here])
        alpha[here] += covered * (1 - alpha[here])
        own[here] += covered * (np.float32(patch.own) * light - own[here])
        paint = light[..., None] * np.asarray(patch.rgb, dtype=np.float32) + gloss[..., None]
        rest[here] += covered[..., None] * (paint - rest[here])
        if style in _INKS:
            ink[here] *= 1 - covered
            if patch.ink:
                ink[here] = np.maximum(ink[here], _band(surface.distance, style, radius))
    if style == "sketch":
        own, rest = _on_paper(relief.x, relief.y, radius, alpha, own, rest)
    if style in _INKS:
        alpha = alpha + ink * (1 - alpha)
        own = own * (1 - ink)
        rest = rest * (1 - ink[..., None]) + ink[..., None] * _INKS[style]
    return Sprite(alpha > np.float32(0.5), (1 - alpha)[..., None], own[..., None], rest)


def _relief(kind: str, radius: float, tilt: float) -> _Relief:
    side = 2 * int(np.ceil(REACH * radius))
    steps = (np.arange(side, dtype=np.float32) + np.float32(0.5 - side / 2)) / np.float32(radius)
    cos, sin = np.float32(np.cos(tilt)), np.float32(np.sin(tilt))
    x = cos * steps[None, :] + sin * steps[:, None]
    y = cos * steps[:, None] - sin * steps[None, :]
    surfaces = []
    for number, patch in enumerate(PATCHES[kind]):
        window = _window(_corners(kind, number), radius, tilt, side)
        surfaces.append(_surface(x[window], y[window], patch, radius, window))
    return _Relief(x, y, tuple(surfaces))


@cache
def _corners(kind: str, number: int) -> tuple[tuple[float, float], ...]:
    """Return the four corners (x, y) of an upright box that holds a patch and its outline."""
    steps = np.linspace(-1.2, 1.2, 81, dtype=np.float32)
    near = PATCHES[kind][number].shape(steps[None, :], steps[:, None]) < np.float32(0.07)  # (y, x)
    x, y = steps[near.any(axis=0)], steps[near.any(axis=1)]
    return tuple((float(a), float(b)) for a in (x[0], x[-1]) for b in (y[0], y[-1]))


def _window(
    corners: tuple[tuple[float, float], ...], radius: float, tilt: float, side: int
) -> tuple[slice, slice]:
    """Return the rows and columns of the sprite that hold a turned box, with two pixels to spare."""
    cos, sin = math.cos(tilt), math.sin(tilt)
    columns = [radius * (cos * x - sin * y) + side / 2 for x, y in corners]
    rows = [radius * (sin * x + cos * y) + side / 2 for x, y in corners]
    return (
        slice(max(int(min(rows)) - 2, 0), min(int(max(rows)) + 3, side)),
        slice(max(int(min(columns)) - 2, 0), min(int(max(columns)) + 3, side)),
    )


def _surface(x: Field, y: Field, patch: Patch, radius: float, window: tuple[slice, slice]) -> _Surface:
    """Return the lighting of a patch: its normal leans by 1 − depth/bulge along the distance's gradient."""
    distance = patch.shape(x, y) * np.float32(radius)
    gx, gy = np.empty_like(distance), np.empty_like(distance)
    gx[:, 1:], gy[1:] = np.diff(distance, axis=1), np.diff(distance, axis=0)
    gx[:, 0], gy[0] = gx[:, 1], gy[1]
    gx[:, 1:-1], gy[1:-1] = (gx[:, 1:-1] + gx[:, 2:]) / 2, (gy[1:-1] + gy[2:]) / 2
    lean = 1 - np.clip(distance * np.float32(-1 / (patch.bulge * radius)), 0, 1)
    up = np.sqrt(1 - lean * lean)
    facing = lean * (gx * _LIGHT[0] + gy * _LIGHT[1]) + up * _LIGHT[2]
    glint = lean * (gx * _GLINT[0] + gy * _GLINT[1]) + up * _GLINT[2]
    return _Surface(window, distance, coverage(distance), facing, glint)


def _band(distance: Field, style: str, radius: float) -> Field:
    """Return the coverage of the line drawn along a patch's edge."""
    width = max(0.04 * radius, 0.45) if style == "cartoon" else max(0.022 * radius, 0.35)
    strength = 1.0 if style == "cartoon" else 0.8
    band: Field = np.clip(np.float32(width + 0.5) - np.abs(distance), 0, 1) * np.float32(
        min(1, 2 * width) * strength
    )
    return band


def _stroke(x: Field, y: Field) -> Field:
    """Return how thick a brush has laid the paint, in about [−1.5, 1.5]."""
    along = x * np.float32(0.8) + y * np.float32(0.6)
    across = y * np.float32(0.8) - x * np.float32(0.6)
    broad = value_noise(along * np.float32(2.2), across * np.float32(11), 71)
    return broad + np.float32(0.5) * value_noise(along * np.float32(5), across * np.float32(23), 72)


def _photo_light(surface: _Surface, patch: Patch, stroke: Field) -> tuple[Field, Field]:
    light = np.clip(0.52 + 0.62 * surface.facing + stroke, 0.22, 1.2)
    gloss = 0.55 * patch.shine * np.clip(surface.glint, 0, 1) ** 28
    return light, gloss


def _painting_light(surface: _Surface, patch: Patch, stroke: Field) -> tuple[Field, Field]:
    light = np.clip(0.50 + 0.66 * surface.facing + 0.15 * stroke, 0.25, 1.25)
    gloss = 0.3 * patch.shine * np.clip(surface.glint + 0.05 * stroke, 0, 1) ** 12
    return light, np.asarray(gloss, dtype=np.float32)


def _cartoon_light(surface: _Surface, patch: Patch, stroke: Field) -> tuple[Field, Field]:
    lit = np.clip((surface.facing - 0.22) * 9 + 0.5, 0, 1)
    gloss = (0.5 if patch.shine > 0.25 else 0.0) * np.clip((surface.glint - 0.975) * 60, 0, 1)
    return 0.72 + 0.31 * lit + stroke, gloss


def _sketch_light(surface: _Surface, _patch: Patch, stroke: Field) -> tuple[Field, Field]:
    return np.clip(0.62 + 0.5 * surface.facing, 0.45, 1.05), stroke


_STYLE_LIGHT: Mapping[str, Callable[[_Surface, Patch, Field], tuple[Field, Field]]] = {
    "photo": _photo_light,
    "painting": _painting_light,
    "cartoon": _cartoon_light,
    "sketch": _sketch_light,
}


def _on_paper(
    x: Field, y: Field, radius: float, alpha: Field, own: Field, rest: NDArray[np.float32]
) -> tuple[Field, NDArray[np.float32]]:
    """Lay the paint on as coloured pencil: hatched, with paper showing between the strokes."""
    wobble = value_noise(x * 2, y * 2, 81)
    fade = min(1.0, radius / 16)  # strokes finer than the pixels blur together
    hatch = 0.5 + 0.5 * fade * np.sin((x + y) * 30 + 3 * wobble)
    grain = 0.08 * value_noise(x * 22, y * 22, 82)
    strength = np.clip(0.68 + 0.26 * hatch + grain, 0, 1).astype(np.float32)
    paper = (alpha * (1 - strength))[..., None] * np.asarray(PAPER, dtype=np.float32)
    return own * strength, rest * strength[..., None] + paper
