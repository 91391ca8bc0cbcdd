"""The report as a reader opens it: without a network, on a wide screen and on a telephone."""

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from beholder.report.stage import PAGE, run

MakeStudy = Callable[..., Path]

LONG = "a-very-long-generator-name-with-guidance-7.5-and-50-steps-and-no-break-2025"


@pytest.fixture(scope="session")
def browser(chromium: Browser) -> Browser:
    return chromium


@pytest.fixture(scope="module")
def report(make_study: MakeStudy) -> Path:
    folder = make_study(["alpha", LONG, '<script>window.hacked = "yes"</script>'])
    run(folder)
    return folder / PAGE


@pytest.fixture(scope="module")
def crowded(make_study: MakeStudy) -> Path:
    folder = make_study(
        [f"{LONG}-{n}" if n % 7 == 3 else f"generator-{n}" for n in range(30)],
        protocols=["hpd-pairs"],
    )
    run(folder)
    return folder / PAGE


@pytest.fixture(scope="module")
def kinds(every_kind: Path) -> Path:
    return every_kind / PAGE


def opened(browser: Browser, path: Path, width: int) -> tuple[Page, list[str], list[str]]:
    """The page once all charts are drawn, with what it complained of and what it asked the network for."""
    context = browser.new_context(viewport={"width": width, "height": 900}, offline=True)
    page = context.new_page()
    complaints: list[str] = []
    requests: list[str] = []
    page.on("console", lambda m: complaints.append(m.text) if m.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda r: None if r.url.startswith(("data:", "file:")) else requests.append(r.url))
    page.goto(path.as_uri())
    page.wait_for_selector("html[data-ready]", state="attached", timeout=30_000)
    return page, complaints, requests


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("which", ["report", "crowded", "kinds"])
def test_every_chart_is_drawn_and_nothing_overflows(
    browser: Browser, request: pytest.FixtureRequest, which: str, width: int
) -> None:
    page, complaints, requests = opened(browser, request.getfixturevalue(which), width)
    assert complaints == []
    assert requests == []
    charts = page.locator("[data-chart]").count()
    assert charts >= 6
    assert page.locator("[data-drawn] svg").count() == charts
    assert page.evaluate("document.documentElement.scrollWidth") == width
    wider = (
        "[...document.querySelectorAll('.plot svg')].filter(s => s.getBoundingClientRect().right > innerWidth + 1)"
    )
    assert page.evaluate(f"{wider}.length") == 0
    assert page.evaluate("window.hacked") is None


def test_charts_are_set_in_the_type_of_the_page(browser: Browser, report: Path) -> None:
    page, _, _ = opened(browser, report, 1280)
    fonts = "s => [...new Set([...document.querySelectorAll(s)].map(e => getComputedStyle(e).fontFamily))]"
    assert page.evaluate(f"({fonts})('.plot text')") == page.evaluate(f"({fonts})('table td')")


@pytest.mark.parametrize("which", ["report", "kinds"])
def test_a_reader_without_sight_has_landmarks_and_words(
    browser: Browser, request: pytest.FixtureRequest, which: str
) -> None:
    page, _, _ = opened(browser, request.getfixturevalue(which), 1280)
    assert page.locator("main").count() == page.locator("h1").count() == 1
    assert page.evaluate(
        "[...document.querySelectorAll('.plot')].every(p => p.getAttribute('aria-label').length > 20)"
    )
    assert page.evaluate("[...document.images].every(i => i.alt && i.naturalWidth > 0)")
    levels = page.evaluate("[...document.querySelectorAll('h1, h2, h3')].map(h => +h.tagName[1])")
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_without_scripts_the_still_drawings_remain(browser: Browser, report: Path) -> None:
    page = browser.new_context(java_script_enabled=False, viewport={"width": 390, "height": 800}).new_page()
    page.goto(report.as_uri())
    assert page.locator(".still svg").count() == page.locator("[data-chart]").count()
    box = page.locator(".still svg").first.bounding_box()
    assert box is not None
    assert box["width"] <= 390
