"""The report as a reader opens it: without a network, on a wide screen and on a telephone."""

import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import Browser, Page

from beholder.report.site.images_page import IMAGES_PAGE
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


def unfold(page: Page) -> None:
    """Unfold all parts, and wait until their charts are drawn."""
    page.get_by_role("button", name="Unfold all").click()
    page.evaluate("for (const part of document.querySelectorAll('details:not(.export)')) part.open = true")
    page.wait_for_function(
        "document.querySelectorAll('[data-drawn=yes]').length === document.querySelectorAll('[data-chart]').length"
    )


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
    unfold(page)
    assert page.locator("[data-drawn=yes] .live svg").count() == charts
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


@pytest.mark.parametrize(("width", "most"), [(1280, 9_000), (390, 16_000)])
def test_long_parts_are_folded_until_a_reader_asks_for_them(
    browser: Browser, report: Path, width: int, most: int
) -> None:
    page, _, _ = opened(browser, report, width)
    folded = page.evaluate("document.documentElement.scrollHeight")
    assert folded < most
    assert page.locator("details.fold[open]").count() == 0
    unfold(page)
    assert page.evaluate("document.documentElement.scrollHeight") > 1.5 * folded
    page.get_by_role("button", name="Fold all", exact=True).click()
    assert page.locator("details.fold[open]").count() == 0


def test_the_contents_lead_to_every_part_and_stay_in_view(browser: Browser, report: Path) -> None:
    page, _, _ = opened(browser, report, 1280)
    parts = page.evaluate("[...document.querySelectorAll('main > section')].map(s => `#${s.id}`)")
    links = page.evaluate("[...document.querySelectorAll('.contents a')].map(a => a.getAttribute('href'))")
    assert [link for link in links if link.startswith("#")] == parts
    page.get_by_role("link", name="Reproducibility").click()
    page.wait_for_function("scrollY > 1000")
    assert page.locator(".contents").bounding_box()["y"] == 0  # type: ignore[index]
    page.wait_for_selector(".contents a[aria-current][href='#basis']")


def test_no_table_is_cut_on_a_desktop(browser: Browser, request: pytest.FixtureRequest) -> None:
    for which in ("layer6_like", "kinds"):
        page, _, _ = opened(browser, request.getfixturevalue(which), 1280)
        unfold(page)
        cut = "[...document.querySelectorAll('.scroll')].filter(s => s.scrollWidth > s.clientWidth + 1)"
        assert page.evaluate(f"{cut}.map(s => s.getAttribute('aria-label'))") == []


@pytest.fixture(scope="module")
def layer6_like(make_study: MakeStudy) -> Path:
    folder = make_study(["aurora", "borealis", "cirrus", "dune", "ember"])
    run(folder)
    return folder / PAGE


COPIED = """
window.copied = [];
Object.defineProperty(navigator, "clipboard", { value: { writeText: async (text) => window.copied.push(text) } });
"""


def exporting(browser: Browser, path: Path) -> Page:
    context = browser.new_context(viewport={"width": 1280, "height": 900}, offline=True, accept_downloads=True)
    context.add_init_script(COPIED)
    page = context.new_page()
    page.goto(path.as_uri())
    page.wait_for_selector("html[data-ready][data-exports]", state="attached", timeout=30_000)
    return page


def test_every_chart_and_table_can_be_copied(browser: Browser, report: Path) -> None:
    page = exporting(browser, report)
    charts, tables = page.locator("[data-chart]").count(), page.locator("main table").count()
    assert page.locator(".export").count() == charts + tables
    menu = page.locator("figure", has=page.locator("[data-chart=preference-ratings]")).locator(".export").first
    menu.locator("summary").click()
    for name in ("CSV", "LaTeX", "Markdown"):
        menu.get_by_title(f"Copy as {name}").click()
    page.wait_for_function("copied.length === 3")
    comma, latex, markdown = page.evaluate("copied")
    assert comma.splitlines()[0] == (
        "generator,rank,Bradley–Terry rating (log odds),low,high,naive low,naive high,ground truth,raters,answers"
    )
    assert comma.splitlines()[1] == "alpha,1,1,0.95,1.05,0.975,1.025,1,10,1000"
    assert latex.startswith("\\begin{tabular}{l")
    assert latex.count("\\\\\n") == 4
    assert markdown.splitlines()[1] == "|---|---|---|---|---|---|---|---|---|---|"
    assert "\\<script\\>" in markdown


def test_a_table_is_copied_with_plain_numbers(browser: Browser, report: Path) -> None:
    page = exporting(browser, report)
    menu = page.locator("#preference .board + .export")
    menu.locator("summary").click()
    menu.get_by_role("button", name="CSV").click()
    page.wait_for_function("copied.length === 1")
    rows = page.evaluate("copied[0]").splitlines()
    assert rows[0].startswith("rank,generator,Bradley–Terry rating,95 % CI,")
    assert rows[1].startswith("1,alpha,+1.00,") or rows[1].startswith("1,alpha,1.00,")
    assert ",1000," in rows[1]  # 1,000 answers


def test_charts_are_downloaded_as_svg_and_png(browser: Browser, report: Path, tmp_path: Path) -> None:
    page = exporting(browser, report)
    menu = page.locator("figure", has=page.locator("[data-chart=preference-ratings]")).locator(".export").first
    menu.locator("summary").click()
    for kind in ("SVG", "PNG"):
        with page.expect_download() as download:
            menu.get_by_role("button", name=kind).click()
        assert download.value.suggested_filename == f"preference-ratings.{kind.lower()}"
        download.value.save_as(tmp_path / kind)
    drawing = (tmp_path / "SVG").read_text(encoding="utf-8")
    assert drawing.startswith("<svg")
    assert "var(" not in drawing
    assert re.search(r"alpha", drawing)
    with Image.open(tmp_path / "PNG") as picture:
        assert picture.width > 1500
        assert len(picture.convert("RGB").getcolors(1 << 24) or []) > 20  # not a blank sheet


@pytest.fixture(scope="module")
def single_images(every_kind: Path) -> Path:
    return every_kind / IMAGES_PAGE


@pytest.mark.parametrize("width", [1280, 390])
def test_single_images_are_filtered_and_opened(browser: Browser, single_images: Path, width: int) -> None:
    page, complaints, requests = opened(browser, single_images, width)
    assert (complaints, requests) == ([], [])
    assert page.evaluate("document.documentElement.scrollWidth") == width
    total = page.evaluate("JSON.parse(document.getElementById('content').textContent).images.length")
    assert page.locator(".tile").count() == min(total, 60)  # not all at once
    assert page.locator("#count").inner_text() == f"{total} of {total} images"
    page.get_by_label("Order").select_option("divided")
    page.locator("#disagreement").fill("50")
    divided = int(page.locator("#count").inner_text().split()[0])
    assert 0 < divided < total
    page.get_by_label("Generator").select_option(index=1)
    fewer = int(page.locator("#count").inner_text().split()[0])
    assert fewer < divided
    page.get_by_label("Generator").select_option("")
    page.locator("#disagreement").fill("0")
    page.get_by_label("Prompt").fill("zebra-that-is-nowhere")
    assert page.locator(".tile").count() == 0
    page.get_by_label("Prompt").fill("")
    page.locator(".tile").first.click()
    detail = page.locator("dialog[open]")
    assert "votes" in detail.inner_text()
    assert page.evaluate("document.querySelector('dialog img').naturalWidth") > 0
    first = page.locator("#detail-head").inner_text()
    page.keyboard.press("ArrowRight")
    assert page.locator("#detail-head").inner_text() != first
    page.get_by_role("button", name="close").click()
    assert page.locator("dialog[open]").count() == 0


def test_an_image_has_an_address_of_its_own_and_shows_its_marks(browser: Browser, single_images: Path) -> None:
    page, _, _ = opened(browser, single_images, 1280)
    records = "JSON.parse(document.getElementById('content').textContent).images"
    marked = page.evaluate(f"{records}.find(image => image[8].some(mark => mark.length === 4))[0]")
    page.evaluate("id => { location.hash = encodeURIComponent(id) }", marked)
    page.wait_for_selector("dialog[open] circle", state="attached")
    assert page.locator("#detail-head").inner_text() == marked
