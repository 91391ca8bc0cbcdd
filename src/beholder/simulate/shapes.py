"""Signed distance functions: the shapes of the synthetic world.

A shape maps the coordinates of points to their distance from its edge, negative inside. Coordinates are those
of the object: x to the right, y down, the object within [−1, 1]². Covering a pixel is then
``clip(½ − distance in pixels, 0, 1)``, which is smooth at every resolution (see :func:`coverage`).
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

Field = NDArray[np.float32]
"""A number at every pixel."""

Shape = Callable[[Field, Field], Field]
"""x and y of the points → their signed distance from the edge."""


def coverage(distance: Field) -> Field:
    """Return the fraction of each pixel that the shape covers, from the distance of its middle in pixels."""
    covered: Field = np.clip(np.float32(0.5) - distance, 0, 1)
    return covered


def circle(x0: float, y0: float, radius: float) -> Shape:
    """Return a disk."""
    return lambda x, y: np.hypot(x - np.float32(x0), y - np.float32(y0)) - np.float32(radius)


def ellipse(x0: float, y0: float, rx: float, ry: float, turn: float = 0.0) -> Shape:
    """Return an ellipse turned by ``turn`` radians: k(k − 1)/|∇|, close to the distance near the edge."""
    cos, sin = np.float32(np.cos(turn)), np.float32(np.sin(turn))

    def distance(x: Field, y: Field) -> Field:
        dx, dy = x - np.float32(x0), y - np.float32(y0)
        u, v = (cos * dx + sin * dy) / np.float32(rx), (cos * dy - sin * dx) / np.float32(ry)
        k = np.hypot(u, v)
        slope = np.hypot(u / np.float32(rx), v / np.float32(ry))
        signed: Field = k * (k - 1) / np.maximum(slope, np.float32(1e-4))
        return np.maximum(signed, np.float32(-min(rx, ry)))

    return distance


def box(x0: float, y0: float, half_width: float, half_height: float, rounding: float = 0.0) -> Shape:
    """Return a rectangle with rounded corners."""

    def distance(x: Field, y: Field) -> Field:
        qx = np.abs(x - np.float32(x0)) - np.float32(half_width - rounding)
        qy = np.abs(y - np.float32(y0)) - np.float32(half_height - rounding)
        outside = np.hypot(np.maximum(qx, 0), np.maximum(qy, 0))
        signed: Field = outside + np.minimum(np.maximum(qx, qy), 0) - np.float32(rounding)
        return signed

    return distance


def line(x0: float, y0: float, x1: float, y1: float, radius: float) -> Shape:
    """Return a stroke with round ends, ``radius`` thick to each side."""
    bx, by = x1 - x0, y1 - y0
    length = bx * bx + by * by

    def distance(x: Field, y: Field) -> Field:
        dx, dy = x - np.float32(x0), y - np.float32(y0)
        along = np.clip((dx * np.float32(bx) + dy * np.float32(by)) / np.float32(length), 0, 1)
        return np.hypot(dx - np.float32(bx) * along, dy - np.float32(by) * along) - np.float32(radius)

    return distance


def polygon(points: Sequence[tuple[float, float]], rounding: float = 0.0) -> Shape:
    """Return a closed polygon, exact, grown by ``rounding``."""

    def distance(x: Field, y: Field) -> Field:
        shape = np.broadcast_shapes(x.shape, y.shape)
        nearest, inside = np.full(shape, np.inf, dtype=np.float32), np.zeros(shape, dtype=np.bool_)
        for (x0, y0), (x1, y1) in zip(points, [*points[1:], points[0]], strict=True):
            ex, ey = np.float32(x1 - x0), np.float32(y1 - y0)
            dx, dy = x - np.float32(x0), y - np.float32(y0)
            along = np.clip((dx * ex + dy * ey) / (ex * ex + ey * ey), 0, 1)
            nearest = np.minimum(nearest, (dx - ex * along) ** 2 + (dy - ey * along) ** 2)
            crosses = (y >= np.float32(y0)) != (y >= np.float32(y1))
            inside ^= crosses & ((dx * ey < dy * ex) == (ey > 0))
        return np.where(inside, -np.sqrt(nearest), np.sqrt(nearest)) - np.float32(rounding)

    return distance


def star(points: int, y0: float, outer: float, inner: float, rounding: float = 0.0) -> Shape:
    """Return a star about (0, y0) with its first point up."""
    angles = np.arange(2 * points) * np.pi / points
    radii = np.where(np.arange(2 * points) % 2 == 0, outer, inner)
    tips = [(float(r * np.sin(a)), float(y0 - r * np.cos(a))) for a, r in zip(angles, radii, strict=True)]
    return polygon(tips, rounding)


def ring(x0: float, y0: float, radius: float, thickness: float) -> Shape:
    """Return a circular band, ``thickness`` to each side of ``radius``."""
    round_ = circle(x0, y0, radius)
    return lambda x, y: np.abs(round_(x, y)) - np.float32(thickness)


def union(*shapes: Shape) -> Shape:
    """Return what any of the shapes covers."""

    def distance(x: Field, y: Field) -> Field:
        nearest = shapes[0](x, y)
        for shape in shapes[1:]:
            nearest = np.minimum(nearest, shape(x, y))
        return nearest

    return distance


def common(first: Shape, second: Shape) -> Shape:
    """Return what both shapes cover."""
    return lambda x, y: np.maximum(first(x, y), second(x, y))


def without(first: Shape, second: Shape) -> Shape:
    """Return what the first shape covers and the second does not."""
    return lambda x, y: np.maximum(first(x, y), -second(x, y))
