import re
from collections.abc import Mapping
from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

from beholder.report.site.templating import TEMPLATES
from beholder.report.site.theme import DARK, LIGHT, PALETTE, chart_config, in_daylight

THEMES = pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2 defines it."""
    channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(colour: str, other: str) -> float:
    low, high = sorted((luminance(colour), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_contrast_of_black_and_white() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)


@THEMES
@pytest.mark.parametrize("ground", ["paper", "panel"])
@pytest.mark.parametrize("text", ["ink", "soft", "accent", "warn"])
def test_text_reads_at_aa(theme: Mapping[str, str], ground: str, text: str) -> None:
    assert contrast(theme[text], theme[ground]) >= 4.5


@THEMES
@pytest.mark.parametrize("name", PALETTE)
def test_generators_show_at_aa(theme: Mapping[str, str], name: str) -> None:
    assert contrast(theme[name], theme["paper"]) >= 3


@THEMES
def test_numbers_read_on_the_strongest_tint(theme: Mapping[str, str]) -> None:
    mixed = "#" + "".join(
        f"{round(0.62 * int(theme['tint'][p : p + 2], 16) + 0.38 * int(theme['paper'][p : p + 2], 16)):02x}"
        for p in (1, 3, 5)
    )
    assert contrast(theme["ink"], mixed) >= 4.5


@THEMES
@pytest.mark.parametrize(
    ("text", "ground"),
    [("paper", "accent"), ("ink", "better"), ("ink", "line"), ("ink", "worse"), ("paper", "warn")],
)
def test_proportions_read_on_their_bars(theme: Mapping[str, str], text: str, ground: str) -> None:
    assert contrast(theme[text], theme[ground]) >= 4.5


def test_both_themes_name_the_same_colours() -> None:
    assert list(LIGHT) == list(DARK)


def test_every_variable_of_the_stylesheet_is_known() -> None:
    css = (TEMPLATES / "report.css").read_text(encoding="utf-8")
    assert set(re.findall(r"var\(--([a-z0-9]+)\)", css)) <= {*LIGHT, "sans", "serif"}


COLOUR_BLINDNESS = {
    "none": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
"""How linear RGB appears (Machado, Oliveira and Fernandes, 2009, severity 1)."""

TO_LMS = np.array([[0.4122, 0.5363, 0.0514], [0.2119, 0.6807, 0.1074], [0.0883, 0.2817, 0.6300]])
TO_LAB = np.array([[0.2105, 0.7936, -0.0041], [1.9780, -2.4286, 0.4506], [0.0259, 0.7828, -0.8087]])
JUST_NOTICEABLE = 0.02
"""Of the distance in OKLab."""


def perceived(colour: str, blindness: str) -> NDArray[np.float64]:
    """The colour in OKLab as a reader with this colour blindness sees it."""
    channels = np.array([int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)])
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    seen_by_cones = TO_LMS @ np.clip(COLOUR_BLINDNESS[blindness] @ linear, 0, 1)
    return np.asarray(TO_LAB @ np.cbrt(seen_by_cones), np.float64)


@THEMES
@pytest.mark.parametrize("blindness", COLOUR_BLINDNESS)
def test_the_colours_of_generators_differ_for_every_reader(theme: Mapping[str, str], blindness: str) -> None:
    colours = [perceived(theme[name], blindness) for name in PALETTE]
    assert min(float(np.linalg.norm(a - b)) for a, b in combinations(colours, 2)) > 5 * JUST_NOTICEABLE


def test_a_drawing_that_stands_alone_has_no_variables() -> None:
    assert in_daylight('fill="var(--g0)" stroke="var(--ink)"') == f'fill="{LIGHT["g0"]}" stroke="{LIGHT["ink"]}"'
    assert "var(--ink)" in str(chart_config())
