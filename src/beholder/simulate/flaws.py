"""Implausible regions of an image: melted, duplicated, torn or noisy.

A flaw acts on a round or square *spot* of a finished picture and returns the mask outside which no pixel was
touched. Everything random is drawn before pixels are counted, so a flaw looks the same at every resolution.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import uniform_filter

from beholder.errors import UserError
from beholder.simulate.backdrop import Pixels
from beholder.simulate.render import Labels
from beholder.simulate.scene import Scene
from beholder.simulate.shapes import Field

Mask = NDArray[np.bool_]
"""True where something is the case; (size, size)."""


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a flaw strikes, in unit coordinates, and the object (number in the labels) it strikes."""

    x: float
    y: float
    radius: float
    label: int = -1


def draw_spot(scene: Scene, rng: np.random.Generator) -> Spot:
    """Draw an object of the scene and a spot on it, most often near its edge and partly within the frame."""
    label = int(rng.integers(len(scene.objects)))
    placed = scene.objects[label]
    angle, far, scale = rng.uniform(0, 2 * np.pi), rng.uniform(0.1, 0.6), rng.uniform(0.65, 1.15)
    x = placed.x + far * placed.radius * float(np.cos(angle))
    y = placed.y + far * placed.radius * float(np.sin(angle))
    x, y = (min(max(value, 0.08), 0.92) for value in (x, y))
    return Spot(x, y, max(0.07, scale * placed.radius), label)


def spoil(
    name: str, pixels: Pixels, labels: Labels, spot: Spot, severity: float, rng: np.random.Generator
) -> tuple[Pixels, Mask]:
    """Return the picture with one of the :data:`FLAWS` at the spot, and the mask of what may have changed."""
    if name not in FLAWS:
        raise UserError(f"flaw is {name!r}, expected one of {', '.join(FLAWS)}")
    if not 0 < severity <= 1:
        raise UserError(f"severity of a flaw is {severity}, expected more than 0 and at most 1")
    size = pixels.shape[0]
    reach = spot.radius * size
    rows = slice(max(int(spot.y * size - reach), 0), min(int(np.ceil(spot.y * size + reach)) + 1, size))
    columns = slice(max(int(spot.x * size - reach), 0), min(int(np.ceil(spot.x * size + reach)) + 1, size))
    v = (np.arange(rows.start, rows.stop, dtype=np.float32) + np.float32(0.5 - spot.y * size)) / np.float32(reach)
    u = (np.arange(columns.start, columns.stop, dtype=np.float32) + np.float32(0.5 - spot.x * size)) / np.float32(
        reach
    )
    struck = _Struck(pixels, labels == spot.label, rows, columns, u[None, :], v[:, None], reach)
    changed, inside = FLAWS[name](struck, severity, rng)
    spoiled, mask = pixels.copy(), np.zeros((size, size), dtype=np.bool_)
    mask[rows, columns] = inside
    spoiled[rows, columns] = np.where(inside[..., None], np.clip(changed, 0, 1), pixels[rows, columns])
    return spoiled, mask


@dataclass(frozen=True, slots=True)
class _Struck:
    """The window about a spot, with coordinates in radii of the spot: u right (1, w), v down (h, 1)."""

    pixels: Pixels  # the whole picture
    of_object: Mask  # the whole picture: where the struck object shows
    rows: slice
    columns: slice
    u: Field
    v: Field
    reach: float  # radius of the spot in pixels

    def outwards(self) -> float:
        """Return the direction in which the struck object ends, in radians from u towards v."""
        visible = self.of_object[self.rows, self.columns]
        u, v = (self.u * visible).sum(), (self.v * visible).sum()
        return float(np.arctan2(-v, -u))

    def object_shifted(self, du: float, dv: float) -> Field:
        """Return where the struck object would show, with a soft edge, if it were moved by (du, dv) radii."""
        size = self.pixels.shape[0]
        rows = np.arange(self.rows.start, self.rows.stop) - round(dv * self.reach)
        columns = np.arange(self.columns.start, self.columns.stop) - round(du * self.reach)
        there = np.ix_(np.clip(rows, 0, size - 1), np.clip(columns, 0, size - 1))
        visible: Field = self.of_object[there].astype(np.float32)
        if not visible.any():  # hidden behind other objects: the whole window is used
            visible[...] = 1
        return np.asarray(uniform_filter(visible, 3), dtype=np.float32)

    def shifted(self, du: Field, dv: Field) -> Pixels:
        """Return the window as seen with each pixel moved by (du, dv) radii, blended between pixels."""
        size = self.pixels.shape[0]
        x = np.arange(self.columns.start, self.columns.stop, dtype=np.float32)[None, :] - du * np.float32(
            self.reach
        )
        y = np.arange(self.rows.start, self.rows.stop, dtype=np.float32)[:, None] - dv * np.float32(self.reach)
        x, y = np.clip(x, 0, size - 1.001), np.clip(y, 0, size - 1.001)
        left, top = x.astype(np.intp), y.astype(np.intp)
        across, down = (x - left)[..., None], (y - top)[..., None]
        flat, at = self.pixels.reshape(-1, 3), top * size + left
        upper = flat[at] * (1 - across) + flat[at + 1] * across
        lower = flat[at + size] * (1 - across) + flat[at + size + 1] * across
        blended: Pixels = (upper * (1 - down) + lower * down).astype(np.float32)
        return blended


def _melt(struck: _Struck, severity: float, rng: np.random.Generator) -> tuple[Pixels, Mask]:
    """Let the spot droop: rows slide down by up to ⁹⁄₁₀ of the radius, in uneven drips, and sway."""
    phases = rng.uniform(0, 2 * np.pi, 3).astype(np.float32)
    far = np.hypot(struck.u, struck.v)
    hold = np.clip(1 - far * far, 0, 1)  # 1 in the middle, 0 at the rim
    drips = 0.62 + 0.38 * np.sin(struck.u * 9 + phases[0])
    du = np.float32(0.34 * severity) * hold * np.sin(struck.v * 6 + phases[1])
    dv = np.float32(0.9 * severity) * hold * drips
    return struck.shifted(du, dv), far < 1


def _duplicate(struck: _Struck, severity: float, rng: np.random.Generator) -> tuple[Pixels, Mask]:
    """Lay a second, paler copy of the object over the spot, moved outwards by half to ⁹⁄₁₀ of the radius."""
    angle = struck.outwards() + rng.uniform(-0.6, 0.6)
    far = 0.5 + 0.4 * severity
    du, dv = np.float32(far * np.cos(angle)), np.float32(far * np.sin(angle))
    ghost = struck.object_shifted(float(du), float(dv))
    alpha = ghost * (np.hypot(struck.u, struck.v) < 1) * np.float32(0.4 + 0.6 * severity)
    copy = struck.shifted(np.full(alpha.shape, du), np.full(alpha.shape, dv))
    copy += (np.float32(0.5) - copy) * np.float32(0.22)
    window = struck.pixels[struck.rows, struck.columns]
    return window + (copy - window) * alpha[..., None], alpha > 0


def _tear(struck: _Struck, severity: float, rng: np.random.Generator) -> tuple[Pixels, Mask]:
    """Cut the spot into five slabs and push them apart along the cuts."""
    angle = rng.uniform(-0.5, 0.5) + (np.pi / 2 if rng.random() < 0.3 else 0)
    pushes = rng.uniform(0.55, 1.0, 5) * np.where(np.arange(5) % 2 == 0, 1, -1) * (1 if rng.random() < 0.5 else -1)
    cos, sin = np.float32(np.cos(angle)), np.float32(np.sin(angle))
    along, across = cos * struck.u + sin * struck.v, cos * struck.v - sin * struck.u
    slab = np.clip(np.floor((across + 0.85) / 0.34), 0, 4).astype(np.intp)
    push = (np.float32(0.55 * severity) * pushes.astype(np.float32))[slab]
    inside = (np.abs(along) < 0.85) & (np.abs(across) < 0.85) & (np.hypot(struck.u, struck.v) < 1)
    return struck.shifted(push * cos, push * sin), inside


def _scramble(struck: _Struck, severity: float, rng: np.random.Generator) -> tuple[Pixels, Mask]:
    """Swap small blocks of the spot about and add coloured noise to them."""
    blocks = 8
    moves = rng.uniform(-1, 1, (2, blocks, blocks)).astype(np.float32) * np.float32(0.8 * severity)
    noise = rng.uniform(-1, 1, (4 * blocks, 4 * blocks, 3)).astype(np.float32) * np.float32(0.28 * severity)
    row = np.clip(((struck.v + 1) * (blocks / 2)).astype(np.intp), 0, blocks - 1)
    column = np.clip(((struck.u + 1) * (blocks / 2)).astype(np.intp), 0, blocks - 1)
    middle_u, middle_v = (column + 0.5) * (2 / blocks) - 1, (row + 0.5) * (2 / blocks) - 1
    inside = np.hypot(middle_u, middle_v) < 0.95
    fine_row = np.clip(((struck.v + 1) * (2 * blocks)).astype(np.intp), 0, 4 * blocks - 1)
    fine_column = np.clip(((struck.u + 1) * (2 * blocks)).astype(np.intp), 0, 4 * blocks - 1)
    moved = struck.shifted(moves[0][row, column], moves[1][row, column])
    return moved + noise[fine_row, fine_column], inside


FLAWS: dict[str, Callable[[_Struck, float, np.random.Generator], tuple[Pixels, Mask]]] = {
    "melted": _melt,
    "duplicated": _duplicate,
    "torn": _tear,
    "noisy": _scramble,
}
"""What can be implausible about a region: each flaw changes a window and says where."""
