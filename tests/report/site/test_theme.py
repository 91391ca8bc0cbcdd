import re
from collections.abc import Mapping

import pytest

from beholder.report.site.templating import TEMPLATES
from beholder.report.site.theme import DARK, LIGHT, PALETTE, chart_config, colours, in_daylight

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


def test_generators_have_colours_of_their_own_or_one_together() -> None:
    assert len(set(colours(["a", "b", "c"]).values())) == 3
    assert len(set(colours([str(n) for n in range(20)]).values())) == 1


def test_a_drawing_that_stands_alone_has_no_variables() -> None:
    assert in_daylight('fill="var(--g0)" stroke="var(--ink)"') == f'fill="{LIGHT["g0"]}" stroke="{LIGHT["ink"]}"'
    assert "var(--ink)" in str(chart_config())
