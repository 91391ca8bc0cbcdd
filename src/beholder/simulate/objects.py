"""How each object of the synthetic world is composed: patches of paint, from back to front.

Every object fills about [−.95, .95]² and stands on y = :data:`FOOT`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from beholder.simulate.shapes import (
    Shape,
    box,
    circle,
    common,
    ellipse,
    line,
    polygon,
    ring,
    star,
    union,
    without,
)

FOOT = 0.9
"""The y on which every object stands, in its own coordinates."""

Rgb = tuple[float, float, float]

_NONE: Rgb = (0.0, 0.0, 0.0)
_INK: Rgb = (0.09, 0.08, 0.10)
_CREAM: Rgb = (0.96, 0.92, 0.83)
_SNOW: Rgb = (0.97, 0.97, 0.96)
_WOOD: Rgb = (0.47, 0.31, 0.19)
_LEAF: Rgb = (0.27, 0.55, 0.24)
_GLASS: Rgb = (0.72, 0.87, 0.95)
_LIGHT: Rgb = (1.0, 0.90, 0.55)
_STEEL: Rgb = (0.52, 0.54, 0.58)


@dataclass(frozen=True, slots=True)
class Patch:
    """One shape in one paint: ``own`` times the colour asked for, plus ``rgb``."""

    shape: Shape
    own: float = 1.0
    rgb: Rgb = _NONE
    bulge: float = 0.3  # how far from the edge the surface still curves; 0.02 is flat
    shine: float = 0.35
    ink: bool = True  # outlined in cartoons and sketches


def _fixed(shape: Shape, rgb: Rgb, *, bulge: float = 0.15, shine: float = 0.1, ink: bool = True) -> Patch:
    return Patch(shape, 0.0, rgb, bulge, shine, ink)


def _eye(x: float, y: float, radius: float) -> tuple[Patch, ...]:
    return (
        _fixed(circle(x, y, radius), _SNOW, bulge=radius, ink=False),
        _fixed(circle(x + radius * 0.15, y + radius * 0.05, radius * 0.62), _INK, bulge=0.02, ink=False),
        _fixed(circle(x - radius * 0.15, y - radius * 0.3, radius * 0.22), _SNOW, bulge=0.02, ink=False),
    )


def _heart() -> Shape:
    t = np.linspace(0, 2 * np.pi, 36, endpoint=False)
    x = np.sin(t) ** 3
    y = -(13 * np.cos(t) - 5 * np.cos(2 * t) - 2 * np.cos(3 * t) - np.cos(4 * t)) / 16
    return polygon([(float(0.92 * px), float(0.9 * py - 0.05)) for px, py in zip(x, y, strict=True)])


def _ball() -> tuple[Patch, ...]:
    body = circle(0, 0.02, 0.88)
    band = without(ellipse(0.12, 0.25, 1.15, 0.62, 0.5), ellipse(0.26, 0.52, 1.1, 0.62, 0.5))
    return (
        Patch(body, bulge=0.88, shine=0.8),
        _fixed(common(body, band), _SNOW, bulge=0.3, shine=0.3),
    )


def _cube() -> tuple[Patch, ...]:
    top = polygon([(0, -0.88), (0.8, -0.5), (0, -0.08), (-0.8, -0.5)], 0.02)
    left = polygon([(-0.8, -0.48), (0, -0.06), (0, 0.88), (-0.8, 0.42)], 0.02)
    right = polygon([(0.8, -0.48), (0, -0.06), (0, 0.88), (0.8, 0.42)], 0.02)
    return (
        Patch(right, 0.58, bulge=0.04, shine=0.1),
        Patch(left, 0.86, bulge=0.04, shine=0.1),
        Patch(top, 0.86, (0.16, 0.16, 0.16), bulge=0.04, shine=0.1),
    )


def _cone() -> tuple[Patch, ...]:
    turns = np.linspace(0, np.pi, 9)
    hem = [(float(0.68 * np.cos(t)), float(0.72 + 0.17 * np.sin(t))) for t in turns]
    side = polygon([(0, -0.9), *hem], 0.02)
    stripe = without(ellipse(0, 0.2, 0.75, 0.26), ellipse(0, -0.06, 0.75, 0.24))
    return Patch(side, bulge=0.34, shine=0.5), _fixed(common(side, stripe), _SNOW, bulge=0.5, shine=0.3)


def _mug() -> tuple[Patch, ...]:
    cup = box(-0.14, 0.16, 0.62, 0.74, 0.2)
    return (
        Patch(ring(0.52, 0.1, 0.34, 0.1), 0.92, bulge=0.1, shine=0.6),
        Patch(cup, bulge=0.34, shine=0.5),
        Patch(ellipse(-0.14, -0.56, 0.62, 0.19), 0.8, (0.2, 0.2, 0.2), bulge=0.08, shine=0.5),
        _fixed(ellipse(-0.14, -0.54, 0.52, 0.13), (0.27, 0.16, 0.10), bulge=0.03),
    )


def _house() -> tuple[Patch, ...]:
    return (
        _fixed(box(0.44, -0.62, 0.11, 0.26), (0.55, 0.33, 0.28), bulge=0.03),
        Patch(box(0, 0.38, 0.66, 0.52), bulge=0.05, shine=0.1),
        Patch(polygon([(0, -0.9), (0.88, -0.06), (-0.88, -0.06)], 0.04), 0.55, (0.03, 0.02, 0.02), bulge=0.07),
        _fixed(box(-0.02, 0.58, 0.15, 0.32, 0.04), _WOOD, bulge=0.04),
        _fixed(box(-0.42, 0.32, 0.14, 0.15, 0.02), _LIGHT, bulge=0.02),
        _fixed(box(0.4, 0.32, 0.14, 0.15, 0.02), _LIGHT, bulge=0.02),
    )


def _tree() -> tuple[Patch, ...]:
    crown = union(
        circle(-0.4, -0.05, 0.42), circle(0.42, -0.08, 0.4), circle(0, -0.48, 0.44), circle(0.02, -0.1, 0.46)
    )
    trunk = polygon([(-0.1, 0.1), (0.1, 0.1), (0.2, 0.9), (-0.2, 0.9)])
    return (
        _fixed(trunk, _WOOD, bulge=0.12),
        Patch(crown, 0.88, bulge=0.4, shine=0.1),
        Patch(circle(-0.16, -0.46, 0.2), 0.9, (0.1, 0.1, 0.1), bulge=0.2, shine=0.0, ink=False),
        Patch(circle(0.34, -0.16, 0.15), 0.9, (0.1, 0.1, 0.1), bulge=0.15, shine=0.0, ink=False),
        Patch(circle(-0.42, -0.08, 0.15), 0.9, (0.1, 0.1, 0.1), bulge=0.15, shine=0.0, ink=False),
    )


def _fish() -> tuple[Patch, ...]:
    body = ellipse(-0.18, 0.2, 0.72, 0.5)
    stripes = union(ellipse(0.14, 0.2, 0.07, 0.6), ellipse(-0.16, 0.2, 0.07, 0.6))
    return (
        Patch(polygon([(0.3, 0.2), (0.9, -0.3), (0.78, 0.2), (0.9, 0.72)], 0.04), 0.8, bulge=0.12),
        Patch(polygon([(-0.34, -0.2), (0.1, -0.66), (0.28, -0.08)], 0.05), 0.7, bulge=0.1),
        Patch(polygon([(-0.2, 0.6), (0.12, 0.86), (0.14, 0.56)], 0.04), 0.7, bulge=0.1),
        Patch(body, bulge=0.5, shine=0.7),
        Patch(common(body, stripes), 0.6, (0.28, 0.28, 0.28), bulge=0.3, ink=False),
        *_eye(-0.54, 0.06, 0.13),
    )


def _bird() -> tuple[Patch, ...]:
    orange: Rgb = (0.93, 0.56, 0.12)
    legs = union(line(-0.08, 0.6, -0.1, 0.86, 0.04), line(0.16, 0.6, 0.16, 0.86, 0.04))
    return (
        _fixed(legs, orange, ink=False),
        Patch(polygon([(0.4, 0.2), (0.94, -0.16), (0.9, 0.22), (0.5, 0.44)], 0.03), 0.7, bulge=0.08),
        _fixed(polygon([(-0.7, -0.5), (-0.96, -0.3), (-0.66, -0.24)], 0.02), orange, bulge=0.08),
        Patch(union(ellipse(0.04, 0.22, 0.6, 0.44, 0.2), circle(-0.4, -0.36, 0.38)), bulge=0.42, shine=0.3),
        Patch(ellipse(0.2, 0.16, 0.38, 0.22, 0.45), 0.72, (0.02, 0.02, 0.02), bulge=0.2, shine=0.1),
        *_eye(-0.5, -0.44, 0.11),
    )


def _cat() -> tuple[Patch, ...]:
    pink: Rgb = (0.94, 0.58, 0.60)
    ears = union(
        polygon([(-0.78, -0.85), (-0.2, -0.5), (-0.72, -0.1)], 0.04),
        polygon([(0.78, -0.85), (0.2, -0.5), (0.72, -0.1)], 0.04),
    )
    inner = union(
        polygon([(-0.68, -0.66), (-0.36, -0.46), (-0.64, -0.26)]),
        polygon([(0.68, -0.66), (0.36, -0.46), (0.64, -0.26)]),
    )
    whiskers = union(
        *(line(s * 0.4, 0.36 + 0.1 * k, s * 0.95, 0.28 + 0.2 * k, 0.018) for s in (-1, 1) for k in (0, 1))
    )
    smile = common(union(ring(-0.11, 0.45, 0.11, 0.024), ring(0.11, 0.45, 0.11, 0.024)), box(0, 0.65, 0.5, 0.2))
    return (
        Patch(ears, bulge=0.14),
        _fixed(inner, pink, bulge=0.05, ink=False),
        Patch(ellipse(0, 0.14, 0.82, 0.72), bulge=0.6, shine=0.3),
        Patch(ellipse(0, 0.5, 0.4, 0.26), 0.45, (0.5, 0.49, 0.47), bulge=0.2, shine=0.0, ink=False),
        *_eye(-0.34, 0.02, 0.19),
        *_eye(0.34, 0.02, 0.19),
        _fixed(polygon([(-0.1, 0.26), (0.1, 0.26), (0, 0.38)], 0.02), pink, bulge=0.06, ink=False),
        _fixed(union(smile, whiskers), (0.3, 0.27, 0.27), bulge=0.02, shine=0.0, ink=False),
    )


def _flower() -> tuple[Patch, ...]:
    angles = np.arange(6) * np.pi / 3 + 0.3
    petals = [
        Patch(
            ellipse(float(0.36 * np.cos(a)), float(-0.32 + 0.36 * np.sin(a)), 0.3, 0.21, float(a)),
            bulge=0.2,
            shine=0.1,
        )
        for a in angles
    ]
    return (
        _fixed(line(0, -0.2, 0.02, 0.86, 0.055), _LEAF),
        _fixed(ellipse(-0.24, 0.54, 0.28, 0.12, 0.6), _LEAF),
        _fixed(ellipse(0.28, 0.64, 0.28, 0.12, -0.6), _LEAF),
        *petals,
        _fixed(circle(0, -0.32, 0.19), (0.62, 0.38, 0.13), bulge=0.2),
    )


def _car() -> tuple[Patch, ...]:
    cabin = polygon([(-0.5, 0.04), (-0.32, -0.4), (0.26, -0.4), (0.54, 0.04)], 0.08)
    glass = union(
        polygon([(-0.37, 0.0), (-0.25, -0.31), (-0.06, -0.31), (-0.06, 0.0)], 0.02),
        polygon([(0.05, 0.0), (0.05, -0.31), (0.21, -0.31), (0.39, 0.0)], 0.02),
    )
    wheels = [
        patch
        for x in (-0.48, 0.5)
        for patch in (
            _fixed(circle(x, 0.64, 0.26), (0.13, 0.13, 0.14), bulge=0.1),
            _fixed(circle(x, 0.64, 0.12), (0.75, 0.76, 0.78), bulge=0.1, shine=0.4, ink=False),
        )
    ]
    return (
        Patch(cabin, 0.92, bulge=0.12, shine=0.5),
        _fixed(glass, _GLASS, bulge=0.03, shine=0.3),
        Patch(box(0, 0.34, 0.94, 0.3, 0.2), bulge=0.24, shine=0.8),
        _fixed(ellipse(0.86, 0.26, 0.07, 0.09), _LIGHT, ink=False),
        *wheels,
    )


def _boat() -> tuple[Patch, ...]:
    return (
        _fixed(box(0.0, -0.15, 0.035, 0.72), _WOOD, bulge=0.03, ink=False),
        _fixed(polygon([(0.08, -0.84), (0.76, 0.28), (0.08, 0.28)], 0.02), _SNOW, bulge=0.12),
        Patch(polygon([(-0.08, -0.66), (-0.08, 0.28), (-0.56, 0.28)], 0.02), 0.6, (0.3, 0.3, 0.3), bulge=0.1),
        Patch(polygon([(-0.9, 0.42), (0.92, 0.42), (0.6, 0.86), (-0.56, 0.86)], 0.04), bulge=0.18, shine=0.4),
        _fixed(
            polygon([(-0.88, 0.42), (0.9, 0.42), (0.84, 0.52), (-0.82, 0.52)], 0.01), _CREAM, bulge=0.03, ink=False
        ),
    )


def _lamp() -> tuple[Patch, ...]:
    return (
        _fixed(box(0, 0.3, 0.055, 0.5), _STEEL, bulge=0.05, shine=0.6),
        Patch(union(ellipse(0, 0.78, 0.44, 0.13), ellipse(0, 0.7, 0.2, 0.1)), 0.7, bulge=0.12),
        _fixed(ellipse(0, 0.06, 0.56, 0.12), _LIGHT, bulge=0.04),
        Patch(polygon([(-0.3, -0.86), (0.3, -0.86), (0.68, 0.04), (-0.68, 0.04)], 0.03), bulge=0.3, shine=0.2),
        _fixed(
            polygon([(-0.64, -0.06), (0.64, -0.06), (0.68, 0.05), (-0.68, 0.05)], 0.01),
            _CREAM,
            bulge=0.03,
            ink=False,
        ),
    )


def _moon() -> tuple[Patch, ...]:
    crescent = without(circle(-0.02, 0.0, 0.9), circle(0.42, -0.14, 0.74))
    craters = ((-0.62, 0.1, 0.1), (-0.4, 0.5, 0.13), (-0.56, -0.34, 0.07))
    return (
        Patch(crescent, bulge=0.3, shine=0.3),
        *(Patch(circle(x, y, r), 0.8, bulge=0.02, shine=0.0, ink=False) for x, y, r in craters),
    )


def _mushroom() -> tuple[Patch, ...]:
    cap = without(ellipse(0, 0.08, 0.9, 0.96), box(0, 1.1, 1.5, 0.98, 0.1))
    spots = union(
        circle(-0.4, -0.32, 0.15), circle(0.14, -0.56, 0.17), circle(0.52, -0.14, 0.13), circle(-0.06, -0.1, 0.11)
    )
    return (
        _fixed(union(box(0, 0.4, 0.26, 0.48, 0.18), ellipse(0, 0.74, 0.32, 0.16)), _CREAM, bulge=0.26),
        Patch(cap, bulge=0.5, shine=0.6),
        _fixed(common(cap, spots), _SNOW, bulge=0.08, ink=False),
    )


PATCHES: Mapping[str, tuple[Patch, ...]] = MappingProxyType(
    {
        "ball": _ball(),
        "bird": _bird(),
        "boat": _boat(),
        "car": _car(),
        "cat": _cat(),
        "cone": _cone(),
        "cube": _cube(),
        "fish": _fish(),
        "flower": _flower(),
        "heart": (Patch(_heart(), bulge=0.55, shine=0.7),),
        "house": _house(),
        "lamp": _lamp(),
        "moon": _moon(),
        "mug": _mug(),
        "mushroom": _mushroom(),
        "star": (Patch(star(5, 0.08, 0.92, 0.43, 0.06), bulge=0.42, shine=0.4),),
        "tree": _tree(),
    }
)
"""Every object of the grammar, as patches from back to front."""
