"""The colours of the synthetic world: those a prompt can name, and the light and ground of each setting."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

Rgb = tuple[float, float, float]

COLOUR_RGB: Mapping[str, Rgb] = MappingProxyType(
    {
        "red": (0.86, 0.13, 0.14),
        "orange": (0.98, 0.52, 0.05),
        "yellow": (0.99, 0.85, 0.15),
        "green": (0.13, 0.60, 0.25),
        "blue": (0.13, 0.33, 0.84),
        "purple": (0.51, 0.20, 0.72),
        "pink": (0.98, 0.54, 0.74),
        "white": (0.96, 0.96, 0.95),
        "black": (0.14, 0.14, 0.16),
    }
)
PAPER: Rgb = (0.965, 0.95, 0.91)


@dataclass(frozen=True, slots=True)
class Light:
    """How a setting is lit and what lies under the objects."""

    ambient: Rgb  # multiplies what is painted
    shadow: float  # how dark shadows are
    sky: tuple[Rgb, Rgb]  # at the top, at the horizon
    ground: tuple[Rgb, Rgb]  # at the horizon, at the bottom


LIGHTS: Mapping[str, Light] = MappingProxyType(
    {
        "in a meadow": Light(
            (1.0, 1.0, 0.98),
            0.45,
            ((0.36, 0.62, 0.92), (0.82, 0.92, 0.98)),
            ((0.56, 0.73, 0.36), (0.33, 0.56, 0.20)),
        ),
        "in the desert": Light(
            (1.03, 1.0, 0.94),
            0.42,
            ((0.45, 0.68, 0.88), (0.98, 0.90, 0.74)),
            ((0.93, 0.78, 0.52), (0.84, 0.62, 0.36)),
        ),
        "on a wooden table": Light(
            (1.0, 0.98, 0.95),
            0.5,
            ((0.62, 0.66, 0.66), (0.83, 0.84, 0.80)),
            ((0.62, 0.42, 0.25), (0.74, 0.52, 0.31)),
        ),
        "under a night sky": Light(
            (0.68, 0.74, 0.94),
            0.5,
            ((0.03, 0.05, 0.16), (0.17, 0.21, 0.42)),
            ((0.10, 0.16, 0.24), (0.07, 0.11, 0.17)),
        ),
        "in the snow": Light(
            (0.97, 0.99, 1.03),
            0.3,
            ((0.60, 0.72, 0.85), (0.87, 0.91, 0.95)),
            ((0.90, 0.93, 0.97), (0.80, 0.86, 0.94)),
        ),
        "on a beach": Light(
            (1.02, 1.0, 0.97),
            0.4,
            ((0.30, 0.66, 0.92), (0.80, 0.93, 0.97)),
            ((0.95, 0.87, 0.69), (0.89, 0.77, 0.55)),
        ),
        "at sunset": Light(
            (1.0, 0.87, 0.80),
            0.5,
            ((0.30, 0.20, 0.44), (1.0, 0.62, 0.34)),
            ((0.42, 0.27, 0.30), (0.22, 0.14, 0.21)),
        ),
        "on a tiled floor": Light(
            (1.0, 1.0, 1.0),
            0.42,
            ((0.72, 0.78, 0.76), (0.86, 0.89, 0.86)),
            ((0.84, 0.82, 0.77), (0.93, 0.91, 0.86)),
        ),
    }
)
"""Every setting of the grammar, as light."""
