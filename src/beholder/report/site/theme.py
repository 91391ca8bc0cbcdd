"""The theme of the report: type, light and dark colours, and the same for every chart.

Charts name their colours as CSS variables (``var(--ink)``), so that one drawing serves the light page, the dark
page and print. A file that stands alone gets the colours of the light page written in (:func:`in_daylight`).
"""

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

SERIF = 'Charter, "Bitstream Charter", "Iowan Old Style", Palatino, Georgia, "Liberation Serif", serif'
SANS = '"Helvetica Neue", Helvetica, Arial, "Liberation Sans", sans-serif'

LIGHT: Mapping[str, str] = MappingProxyType(
    {
        "paper": "#fdfcfa",
        "panel": "#f4f1ec",
        "ink": "#1d2126",
        "soft": "#565c64",
        "line": "#d9d4cc",
        "grid": "#e8e4dd",
        "accent": "#0b5c8a",
        "tint": "#4b93bd",
        "warn": "#9a3412",
        "better": "#8dbcd8",
        "worse": "#e3a98c",
        "g0": "#0b6aa8",
        "g1": "#c2500a",
        "g2": "#0a7f68",
        "g3": "#8d4a94",
        "g4": "#8f6a00",
        "g5": "#2b3a67",
        "g6": "#a8324a",
        "g7": "#4d7a1e",
    }
)
"""Ink and soft read at 4.5 : 1 or better on paper and panel; the colours of generators show at 3 : 1 or better."""

DARK: Mapping[str, str] = MappingProxyType(
    {
        "paper": "#15181c",
        "panel": "#1e2227",
        "ink": "#e9e6e1",
        "soft": "#a9aeb5",
        "line": "#3a4047",
        "grid": "#2b3036",
        "accent": "#7cc0ec",
        "tint": "#3f86b3",
        "warn": "#f2a27c",
        "better": "#2d5f80",
        "worse": "#86492f",
        "g0": "#5fb2ea",
        "g1": "#f08a4b",
        "g2": "#3fc2a0",
        "g3": "#c996d4",
        "g4": "#d9b13b",
        "g5": "#9fb0e6",
        "g6": "#ee7f92",
        "g7": "#9ccb5c",
    }
)

PALETTE = tuple(name for name in LIGHT if re.fullmatch(r"g\d", name))
"""Variables of the colours that identify generators."""

TEXT_SIZE = 12.5
"""Of labels in charts, in pixels: that of the small print beside them."""


def var(name: str) -> str:
    """A colour by its variable."""
    return f"var(--{name})"


def colours(generators: Sequence[str]) -> dict[str, str]:
    """A colour for each generator, the same on the whole page; one for all where there are more than colours."""
    if len(generators) > len(PALETTE):
        return dict.fromkeys(generators, var("accent"))
    return {generator: var(name) for generator, name in zip(generators, PALETTE, strict=False)}


def in_daylight(svg: str) -> str:
    """A drawing that stands alone: the colours of the light page in place of the variables."""
    return re.sub(r"var\(--([a-z0-9]+)\)", lambda match: LIGHT[match[1]], svg)


def chart_config() -> dict[str, Any]:
    """Vega-Lite's configuration: the type of the page, hairline axes, no frame."""
    label = {"labelFont": SANS, "labelFontSize": TEXT_SIZE, "labelColor": var("ink")}
    title = {"titleFont": SANS, "titleFontSize": TEXT_SIZE, "titleColor": var("soft"), "titleFontWeight": "normal"}
    axis = {
        **label,
        **title,
        "domain": False,
        "ticks": False,
        "gridColor": var("grid"),
        "labelPadding": 6,
        "titlePadding": 10,
    }
    return {
        "aria": False,
        "background": "transparent",
        "font": SANS,
        "padding": 2,
        "view": {"stroke": None},
        "axis": axis,
        "text": {"font": SANS, "fontSize": TEXT_SIZE, "color": var("ink")},
    }
