"""The audit page as a reader walks it by keyboard, on a wide screen and on a telephone."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from beholder.audit.catalogue import AUDITS
from beholder.report.audit_page.stage import write_audit_page
from beholder.study.kinds.pair import PairQuestion
from beholder.tables.catalogue import TABLES
from beholder.tables.provenance import Provenance
from beholder.tables.store import Store

FOCUSABLE = 'a[href], button, summary, input, select, textarea, [tabindex="0"]'

VISIBLE = f"""() => [...document.querySelectorAll('{FOCUSABLE}')].filter(e => e.checkVisibility())
    .map(e => e.outerHTML.slice(0, 120))"""
"""What can be reached as the page stands: parts of what is folded cannot."""

FOCUSED = """() => {
    const e = document.activeElement;
    return {html: e.outerHTML.slice(0, 120), ring: getComputedStyle(e).outlineStyle !== 'none'};
}"""

INSIDE = """() => {
    const box = document.activeElement.getBoundingClientRect();
    return box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth;
}"""
"""Whether what has the focus is on the screen, once the page has scrolled there."""


@pytest.fixture
def audit_page(painted_study: Callable[..., Path]) -> Path:
    """The page of 40 gaps and one choice of practitioners."""
    folder = painted_study(PairQuestion(name="preference"), seed=2, draws=200)
    severities = ("problem", "caution", "clear", "undecided")
    gaps = [
        {"audit": "slice-gap", "number": number, "subject": f"entry-{number % 5}", "measure": "preference"}
        | {"slice": f"tag: {number}", "figure": -0.5 + number / 40, "low": -0.8, "high": 0.8, "level": 0.95}
        | {"baseline": 0.5, "prompts": 30, "raters": 12, "severity": severities[number % 4]}
        | {"finding": f"entry-{number % 5} is worse on prompts of tag {number}, by the preferences of raters."}
        for number in range(40)
    ]
    chances = [
        dict[str, object](
            profile=profile,
            entry=f"entry-{number}",
            utility=0.2 * number,
            se=0.1,
            chance_best=number / 10,
            weights='{"preference": 1.0}',
            left_out='["speed"]',
        )
        for profile in ("artist", "advertiser")
        for number in range(5)
    ]
    frames = {"audits": TABLES["audits"].frame(gaps), "audit_profiles": TABLES["audit_profiles"].frame(chances)}
    Store(folder).write(frames, Provenance("audit", {}, 0, {}))
    return write_audit_page(folder, {name: audit.about for name, audit in AUDITS.items()})


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844)])
def test_everything_is_reached_by_keys(chromium: Browser, audit_page: Path, width: int, height: int) -> None:
    context = chromium.new_context(viewport={"width": width, "height": height}, offline=True)
    page = context.new_page()
    page.goto(audit_page.as_uri())
    assert _reached(page) == page.evaluate(VISIBLE)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")

    page.keyboard.press("Control+Home")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("Tab")  # the first stop skips the contents
    page.keyboard.press("Enter")
    assert page.evaluate("location.hash") == "#short"

    page.locator("summary").first.focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.querySelector('details').open")
    page.keyboard.press("Tab")
    assert (
        page.evaluate("document.activeElement.getAttribute('aria-label')")
        == "All figures of Slices of the prompts"
    )
    page.keyboard.press("End")
    page.wait_for_function("document.activeElement.scrollTop > 0")  # a long table scrolls by keys
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    context.close()


def _reached(page: Page) -> list[str]:
    """What the Tab key stops at, from the top; each stop is on the screen and shows that it has the focus."""
    stops: list[str] = []
    for _ in range(200):
        page.keyboard.press("Tab")
        focus = page.evaluate(FOCUSED)
        if focus["html"].startswith("<body") or focus["html"] in stops:
            break
        page.wait_for_function(INSIDE)
        assert focus["ring"], focus["html"]
        stops.append(focus["html"])
    return stops
