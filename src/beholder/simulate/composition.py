"""Badly composed pictures, and the haze by which a generator's pictures can be known."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy.ndimage import uniform_filter

from beholder.simulate.backdrop import Pixels
from beholder.simulate.scene import Placed, Scene

CAST = np.array([0.60, 0.68, 0.58], dtype=np.float32)
"""The colour that haze tinges a picture with."""


def compose_badly(scene: Scene, name: str, severity: float, rng: np.random.Generator) -> Scene:
    """Return the scene with one of the :data:`COMPOSITIONS` flaws, ``severity`` in (0, 1]."""
    side = 1 if rng.random() < 0.5 else -1
    return COMPOSITIONS[name](scene, severity, side)


def _crop(scene: Scene, severity: float, side: int) -> Scene:
    """Push everything sideways until the outermost object is cut by the frame, by up to its radius."""
    outermost = max(scene.objects, key=lambda placed: side * placed.x + placed.radius)
    inside = 0.5 - side * (outermost.x - 0.5) - outermost.radius
    return _moved(scene, side * (inside + (0.3 + 0.7 * severity) * outermost.radius), 0.0, 1.0)


def _crowd(scene: Scene, severity: float, side: int) -> Scene:
    """Draw everything together towards a lower corner."""
    return _moved(scene, side * (0.1 + 0.16 * severity), 0.05 * severity, 1 - 0.4 * severity)


def _moved(scene: Scene, dx: float, dy: float, spread: float) -> Scene:
    def moved(placed: Placed) -> Placed:
        return replace(placed, x=0.5 + (placed.x - 0.5) * spread + dx, y=0.62 + (placed.y - 0.62) * spread + dy)

    return replace(scene, objects=tuple(map(moved, scene.objects)), missing=tuple(map(moved, scene.missing)))


def _tilt(scene: Scene, severity: float, side: int) -> Scene:
    """Turn the horizon by 3° to 15°."""
    return replace(scene, view=replace(scene.view, tilt=side * float(np.deg2rad(3 + 12 * severity))))


def _flatten(scene: Scene, severity: float, _side: int) -> Scene:
    """Take contrast away, up to two thirds of it."""
    return replace(scene, contrast=1 - 0.66 * severity)


COMPOSITIONS: dict[str, Callable[[Scene, float, int], Scene]] = {
    "cropped": _crop,
    "crowded": _crowd,
    "tilted horizon": _tilt,
    "flat contrast": _flatten,
}
"""What can be wrong with a composition."""


def haze(pixels: Pixels, strength: float) -> Pixels:
    """Return the picture smoothed too much and tinged a little, by ``strength`` in [0, 1]."""
    width = smoothing_width(pixels.shape[0])
    smooth = uniform_filter(pixels, size=(width, width, 1), mode="nearest")
    blended = pixels + (smooth - pixels) * np.float32(0.85 * strength)
    blended += (CAST - blended) * np.float32(0.22 * strength)
    return blended


def smoothing_width(size: int) -> int:
    """Return the side of the square over which haze averages, in pixels."""
    return max(3, 2 * round(size / 96) + 1)
