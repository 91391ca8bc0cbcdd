"""The theme of the report: type, light and dark colours, and the same for every chart.

Charts name their colours as CSS variables (``var(--ink)``), so that one drawing serves the light page, the dark
page and print. A file that stands alone gets the colours of the light page written in (:func:`in_daylight`).
"""

import re
from collections.abc import Mapping
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
        "g0": "#2044ab",
        "g1": "#c5770f",
        "g2": "#4f9c8e",
        "g3": "#6c1456",
        "g4": "#785b25",
        "g5": "#9466d8",
    }
)
"""Ink and soft read at 4.5 : 1 or better on paper and panel; the colours of generators show at 3 : 1 or better,
and were chosen by a search that keeps them distinct for readers with and without each kind of colour blindness."""

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
        "g0": "#90bce9",
        "g1": "#e9884d",
        "g2": "#acfaea",
        "g3": "#a16d8f",
        "g4": "#f7d22a",
        "g5": "#627fef",
    }
)

PALETTE = tuple(name for name in LIGHT if re.fullmatch(r"g\d", name))
"""Variables of the colours that identify generators."""

TEXT_SIZE = 12.5
"""Of labels in charts, in pixels: that of the small print beside them."""


def var(name: str) -> str:
    """A colour by its variable."""
    return f"var(--{name})"


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
