"""Cards of images as a model and raters see them, and the page that shows them."""

import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Browser

from beholder.feedback.image_feedback import AspectScore, ImageFeedback
from beholder.images.background import DEFAULT_BACKGROUND
from beholder.images.sources import ArrayImage
from beholder.models.explained import Explained
from beholder.report.sections.explained import build_card
from beholder.report.site.explained_page import render_page, write_page

PROMPT = "a <red> cat"


def corner() -> ImageFeedback:
    """A model that sees something wrong in the top left corner, and finds the second word misaligned."""
    heatmap = np.full((6, 6), 0.02, np.float32)
    heatmap[:2, :2] = 0.9
    scores = {"plausibility": AspectScore(0.5, 0.25, 0.75, "held-out"), "overall": AspectScore(0.4)}
    maps = {"implausibility": heatmap, "misalignment": np.full((6, 6), 0.3, np.float32)}
    return ImageFeedback(scores, maps, np.array([0.1, 0.8, np.nan]))


def three_raters() -> ImageFeedback:
    heatmap = np.zeros((6, 6), np.float32)
    heatmap[:2, :2] = 2 / 3
    scores = {"plausibility": AspectScore(0.25, 0.0, 0.5, "people")}
    return ImageFeedback(
        scores, {"implausibility": heatmap, "misalignment": heatmap * 0}, np.array([0, 1, 1 / 3]), 3
    )


def test_a_card_with_raters_and_the_model_side_by_side() -> None:
    card = build_card("x.png", PROMPT, Image.new("RGB", (60, 30)), corner(), three_raters(), side=32)
    assert [side.who for side in card.sides] == ["model", "3 raters"]
    extents = {side.who: {aspect: extent for aspect, (_, extent) in side.layers.items()} for side in card.sides}
    assert extents["model"]["implausibility"] == "11 % of the area, top left"  # 4 of 36
    assert extents["model"]["misalignment"] == "nowhere likely; at most 30 %, centre"
    assert extents["3 raters"] == {
        "implausibility": "11 % of the area, top left",
        "misalignment": "nothing marked",
    }
    assert [[word.text for word in side.words if word.struck] for side in card.sides] == [["<red>"], ["<red>"]]
    assert [word.note for word in card.sides[1].words] == ["", "100 % of 3 raters", "33 % of 3 raters"]
    assert [(row.aspect, row.model is None, row.raters is None) for row in card.scores] == [
        ("plausibility", False, False),
        ("overall", False, True),
    ]
    assert card.aspects == ("implausibility", "misalignment")


def test_what_a_model_lacks_is_left_out() -> None:
    bare = ImageFeedback({"overall": AspectScore(0.4)}, {}, None)
    card = build_card("x.png", PROMPT, None, bare, None, side=32)
    assert card.aspects == ()
    assert card.source is None
    html = render_page([card], ["m@1"])
    assert "a &lt;red&gt; cat" in html
    assert "This model has no prediction interval" in html
    assert "</s> misaligned" in html  # the key
    assert html.count("<img") == 0


def page(folder: Path) -> Path:
    pixels = np.random.default_rng(0).integers(0, 256, (40, 60, 3), dtype=np.uint8)
    hacked = '<script>window.hacked = "yes"</script>'
    picture = ArrayImage(f"out/a-very-long-name-with-guidance-7.5-and-50-steps-and-no-break/{hacked}.png", pixels)
    explained = [
        Explained(picture, PROMPT, corner(), three_raters()),
        Explained(picture, "", corner_without_words(), None, "raters were asked about another prompt"),
    ]
    write_page(folder / "page.html", explained, ["one@abc", "two@def"], DEFAULT_BACKGROUND)
    return folder / "page.html"


def corner_without_words() -> ImageFeedback:
    return ImageFeedback(corner().scores, corner().heatmaps, np.empty(0))


class Tags(HTMLParser):
    """Tags that are opened and not closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del attrs
        if tag not in ("meta", "link", "img"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Nothing is left open by ``<path/>``."""

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_one_sound_file(tmp_path: Path) -> None:
    html = page(tmp_path).read_text(encoding="utf-8")
    tags = Tags()
    tags.feed(html)
    assert tags.open == []
    assert not re.search(r"(?:src|href)=\"(?!data:)", html)
    assert "<script>" not in html
    assert html.count("<img") == 1 + 4 + 1 + 2
    assert "scores of several models are averaged" in html.lower()
    assert "one@abc and two@def" in html
    assert "probability 80 %" in html
    assert "raters were asked about another prompt" in html


@pytest.mark.parametrize("width", [1280, 400])
def test_the_page_fits_the_screen(chromium: Browser, tmp_path: Path, width: int) -> None:
    context = chromium.new_context(viewport={"width": width, "height": 900}, offline=True)
    opened = context.new_page()
    complaints: list[str] = []
    opened.on("console", lambda m: complaints.append(m.text) if m.type in ("error", "warning") else None)
    opened.goto(page(tmp_path).as_uri())
    assert opened.evaluate("document.documentElement.scrollWidth") == width
    assert opened.evaluate("[...document.images].every(i => i.alt && i.naturalWidth > 0)")
    assert opened.evaluate("window.hacked") is None
    sizes = opened.evaluate("[...document.querySelectorAll('.beside img')].map(i => Math.round(i.clientWidth))")
    assert min(sizes) >= 150  # large enough to see something
    assert complaints == []
    context.close()
