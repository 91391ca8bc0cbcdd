"""The site as a reader opens it: from a folder, by keyboard, on a phone, in the dark, and without scripts."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import polars as pl
import pytest
from playwright.sync_api import Browser, Page

from beholder.tables.store import Store

Scheme = Literal["light", "dark"]

DARK_ENOUGH = 4.5
"""Contrast of text with its background, by WCAG AA."""

CONTRAST = """
(selectors) => {
  const parse = (text) => text.match(/[\\d.]+/g).slice(0, 3).map(Number);
  const light = (rgb) => {
    const [r, g, b] = rgb.map((c) => c / 255).map((c) => (c <= .04045 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4));
    return .2126 * r + .7152 * g + .0722 * b;
  };
  const behind = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const colour = getComputedStyle(e).backgroundColor;
      if (!/, 0\\)$|transparent/.test(colour)) return parse(colour);
    }
    return [255, 255, 255];
  };
  return selectors.map((selector) => {
    const element = document.querySelector(selector);
    const [a, b] = [light(parse(getComputedStyle(element).color)), light(behind(element))].sort();
    return [selector, (b + .05) / (a + .05)];
  });
}
"""


def opened(
    browser: Browser, address: str, width: int = 1280, *, scheme: Scheme = "light", scripts: bool = True
) -> tuple[Page, list[str], list[str]]:
    """The page, with what it complained of and what it asked for outside of its folder."""
    context = browser.new_context(
        viewport={"width": width, "height": 900}, offline=True, color_scheme=scheme, java_script_enabled=scripts
    )
    page = context.new_page()
    complaints: list[str] = []
    requests: list[str] = []
    page.on("console", lambda m: complaints.append(m.text) if m.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda r: None if r.url.startswith("file:") else requests.append(r.url))
    page.goto(address)
    return page, complaints, requests


@pytest.fixture
def front(chromium: Browser, site: Path) -> Iterator[Page]:
    page, complaints, requests = opened(chromium, (site / "index.html").as_uri())
    page.wait_for_selector("html[data-ready]", state="attached")
    yield page
    assert complaints == []
    assert requests == []
    page.context.close()


def order(page: Page, table: str = "#board table") -> list[str]:
    return [text.strip() for text in page.locator(f"{table} tbody tr:visible th a:not(.flag)").all_inner_texts()]


def test_no_page_complains_asks_elsewhere_or_overflows(chromium: Browser, site: Path) -> None:
    prompt = next(path for path in sorted(site.glob("prompts/*.html")) if path.name != "index.html")
    pages = [
        *(site / name for name in ("index.html", "methods.html", "data.html", "prompts/index.html")),
        *(site / "entries" / "aurora.html", site / "slices" / "tag-negation.html", prompt),
    ]
    page, complaints, requests = opened(chromium, pages[0].as_uri(), 390)
    for path in pages:
        page.set_viewport_size({"width": 390, "height": 900})
        page.goto(path.as_uri())
        assert (path, complaints, requests) == (path, [], [])
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, path
        page.set_viewport_size({"width": 1280, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= 1280, path
    page.context.close()


def test_columns_are_sorted_by_keyboard_alone(front: Page) -> None:
    assert order(front) == ["aurora", "borealis", "cirrus", "dune", "ember"]
    head = front.locator("#board thead th", has_text="blockiness")
    head.locator("button").focus()
    front.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "ascending"  # lower is better: the best first
    assert order(front)[0] == "ember"
    front.keyboard.press("Space")
    assert head.get_attribute("aria-sort") == "descending"
    assert order(front)[-1] == "ember"
    front.keyboard.press("Shift+Tab")
    assert front.evaluate("document.activeElement.closest('th').textContent").startswith("preference")


def test_a_slice_shows_its_own_numbers_and_stays_in_the_address(front: Page, board_study: Path) -> None:
    board = Store(board_study).read("board")
    own = board.filter(
        (pl.col("slice") == "painting") & (pl.col("measure") == "opinion: quality") & (pl.col("entry") == "dune")
    ).row(0, named=True)
    front.locator("#slice").select_option(label=f"painting ({own['prompts']})")
    cell = front.locator("#board tbody tr", has_text="dune").locator("td").nth(1)
    assert f"{own['value']:.2f}" in cell.inner_text()
    assert f"{own['low']:.2f} to {own['high']:.2f}" in cell.inner_text()
    address = front.url
    assert address.endswith("#slice=style%3A+painting")
    front.goto("about:blank")
    front.goto(address)
    front.wait_for_selector("html[data-ready]", state="attached")
    assert f"{own['value']:.2f}" in cell.inner_text()
    front.locator("#slice").select_option(label="negation (3)")
    assert "3 prompts: too few for numbers" in cell.inner_text()


def test_entries_and_measures_are_filtered(front: Page) -> None:
    front.locator("#filter").fill("E")
    assert order(front) == ["borealis", "dune", "ember"]
    assert front.locator("#status").inner_text() == "3 of 5 entries"
    front.locator("#filter").fill("")
    front.locator("#front-only").check()
    assert order(front) == ["aurora", "cirrus", "dune", "ember"]
    front.locator("#measure").select_option(label="sharpness")
    assert front.locator("#board thead th:visible").all_inner_texts()[1].startswith("sharpness")
    assert front.locator("#board thead th:visible").count() == 2


def test_utilities_in_the_browser_are_those_of_the_table(front: Page, board_study: Path) -> None:
    table = {row["entry"]: row["utility"] for row in Store(board_study).read("utilities").to_dicts()}
    rows = front.locator(".utilities tbody tr")
    for row in rows.all():
        entry, text = row.get_attribute("data-entry"), row.locator(".utility").inner_text()
        assert float(text.replace("−", "-")) == pytest.approx(table[str(entry)], abs=0.0051)
    for name, weight in (
        ("opinion: alignment", 0),
        ("opinion: quality", 0),
        ("preference", 0),
        ("blockiness", 80),
    ):
        front.locator(f'input[data-measure="{name}"]').fill(str(weight))
    assert front.locator("#winner").inner_text() == "With these weights: ember."
    assert rows.first.get_attribute("data-entry") == "ember"
    strip = front.locator('input[data-measure="sharpness"] ~ .strip')
    assert re.search(r"ember from 0 to \d+, aurora from \d+ to 100", str(strip.get_attribute("aria-label")))
    front.locator("#reset").click()
    assert front.locator("#winner").inner_text() == "With these weights: aurora."


def test_the_script_draws_the_chart_that_the_template_drew(front: Page) -> None:
    drawing = """() => [...document.querySelectorAll("#chart :is(.front, .shape, .whisker, .grid text)")]
      .map((e) => [...["class", "d", "transform", "x"].map((name) => e.getAttribute(name)), e.textContent])"""
    before = front.evaluate(drawing)
    front.locator("#x-measure").dispatch_event("change")
    after = front.evaluate(drawing)
    assert len(before) > 15

    def numbers(row: list[object]) -> list[float]:
        return [
            float(n)
            for n in re.findall(r"-?[\d.]+", f"{row[1]} {row[2]} {row[3]}".replace("H", " ").replace("V", " "))
        ]

    for old, new in zip(before, after, strict=True):
        assert old[0] == new[0]
        assert old[4].strip() == new[4].strip()
        assert numbers(old) == pytest.approx(numbers(new), abs=0.11)
    front.locator("#x-measure").select_option(label="sharpness")
    assert "by sharpness and" in str(front.locator("#chart").get_attribute("aria-label"))


def test_prompts_are_searched(chromium: Browser, site: Path) -> None:
    page, complaints, requests = opened(chromium, (site / "prompts" / "index.html").as_uri())
    page.locator("#search input").fill("BOLD quoted")
    page.wait_for_function("document.querySelector('#search output').textContent === '1 found'")
    page.locator("#found a").click()
    assert page.locator("h1").inner_text() == "</script><b>bold</b> & 'quoted'"
    assert (complaints, requests) == ([], [])
    page.context.close()


def test_numbers_are_readable_without_scripts(chromium: Browser, site: Path) -> None:
    page, _, _ = opened(chromium, (site / "index.html").as_uri(), scripts=False)
    assert page.locator("form:visible").count() == 0
    assert page.locator("#board tbody td:visible").count() == 45  # 5 entries by 6 measures and 3 costs
    assert page.locator("#chart .shape").count() == 5
    page.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_enough_contrast(chromium: Browser, site: Path, scheme: Scheme) -> None:
    page, _, _ = opened(chromium, (site / "index.html").as_uri(), scheme=scheme)
    selectors = ["h1", ".facts dt", ".findings li:nth-child(2)", ".notice", "#board small", "#board .fig b"]
    selectors += ["#board .top .fig i", "#board td:not(.top) .fig i", ".claims .holds b", ".claims .refuted b"]
    selectors += [".bar a", ".who a", "footer a", "#reset", "#board thead small"]
    poor = [(name, ratio) for name, ratio in page.evaluate(CONTRAST, selectors) if ratio < DARK_ENOUGH]
    assert poor == []
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(21, 24, 28)"
    assert dark == (scheme == "dark")
    page.context.close()
