"""A rater and a researcher of a panel at a real browser, by keyboard, on a desk and on a phone.

The rater follows the personal link, takes a prototype round, gives feedback and votes, comes back to the own page,
rates and flags the study, is excluded, and answers. The researcher reads all of it, and decides.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from unittest.mock import patch

import pytest
from playwright.sync_api import Browser, Page
from sqlalchemy import select
from tests.collect.conftest import encode_once
from tests.collect.panel.conftest import ServedPanel, rename

from beholder.care.governance import Role
from beholder.collect.database.address import default_url
from beholder.collect.database.schema import persons, prototype_feedback, sessions
from beholder.collect.display import served_images
from beholder.collect.exchange.load import load
from beholder.collect.panel.board import seat_board
from beholder.collect.panel.opening import open_study
from beholder.collect.panel.schema import open_panel, raters, ratings
from beholder.collect.panel.server.application import create_panel_app
from beholder.collect.prototype.rounds import new_round
from beholder.collect.researcher.actions import exclude
from beholder.collect.simulate.rehearsal import listening
from beholder.design.stage import run as design
from beholder.study.kinds.realism import RealismQuestion
from beholder.study.question import Design

SIZES = {"desk": (1280, 800), "phone": (390, 844)}
WIDE = "document.documentElement.scrollWidth > window.innerWidth"
# in one call: fields that are re-rendered between two calls have lost their labels
UNNAMED = """() => [...document.querySelectorAll("input, select, textarea")]
  .filter((field) => !field.labels?.length && !field.getAttribute("aria-label"))
  .map((field) => field.outerHTML)"""
UNREADABLE = """() => {
  const parse = (colour) => (colour.match(/[\\d.]+/g) ?? []).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((c) => c / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, at) => sum + c * [0.2126, 0.7152, 0.0722][at], 0);
  const behind = (element) => {
    for (let one = element; one; one = one.parentElement) {
      const colour = parse(getComputedStyle(one).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };
  return [...document.querySelectorAll("body *")].filter((element) => element.checkVisibility()
    && [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim())).map((element) => {
    const style = getComputedStyle(element);
    const [low, high] = [light(parse(style.color)), light(behind(element))].sort((a, b) => a - b);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.6 && Number(style.fontWeight) >= 700);
    return [element.textContent.trim().slice(0, 40), (high + 0.05) / (low + 0.05), large ? 3 : 4.5];
  }).filter(([, ratio, least]) => ratio < least);
}"""
ROUND = "faces-prototype-1"


@pytest.fixture
def prototype_panel(study_folder: Callable[..., Path], tmp_path: Path) -> Iterator[ServedPanel]:
    """A panel in which a prototype round of a study is open."""
    with ExitStack() as stack:
        folder = study_folder(RealismQuestion(name="q", design=Design(raters=4, trials=4)), name="faces")
        rename(folder, "faces")
        room = new_round(folder)
        design(room)
        load(room, default_url(room))
        database = open_panel(tmp_path / "panel", create=True)
        with database.writing() as connection:
            open_study(connection, room, researcher="ada", now=1.0)
        database.engine.dispose()
        with patch.object(served_images, "encode", encode_once):
            app = create_panel_app(tmp_path / "panel", None, {ROUND: (room, default_url(room))})
        address = stack.enter_context(listening(app))
        stack.callback(app.state.service.database.engine.dispose)
        yield ServedPanel(tmp_path / "panel", address, app.state.service, {ROUND: room}, stack, app)


@pytest.mark.parametrize("size", SIZES)
def test_the_whole_way_by_keyboard(prototype_panel: ServedPanel, chromium: Browser, size: str) -> None:
    width, height = SIZES[size]
    context = chromium.new_context(viewport={"width": width, "height": height}, locale="en-GB")
    page, complaints = context.new_page(), list[str]()
    page.set_default_timeout(90_000)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(prototype_panel.address + prototype_panel.link())
    _take_and_judge(page)
    _give_feedback(page)
    _say_on_the_own_page(page)
    _propose_and_vote(page, prototype_panel)
    _exclude(prototype_panel)
    _appeal(page)
    _in_german(page)
    _researcher_decides(page, prototype_panel)
    page.goto(prototype_panel.address)
    page.wait_for_selector("text=was accepted: it was us")
    context.close()
    assert complaints == []
    service = prototype_panel.service.services[ROUND]
    with service.database.reading() as connection:
        (row,) = connection.execute(select(prototype_feedback)).all()
        (session,) = connection.execute(select(sessions)).all()
    assert (row.vote, row.clear, row.text, len(row.trials)) == ("revise", 2, "what is real?", 1)
    assert session.status == "complete"
    assert 0 < session.active_seconds < 120
    with prototype_panel.service.database.reading() as connection:
        assert [(rating.giver, rating.rating) for rating in connection.execute(select(ratings))] == [("rater", 3)]


def _take_and_judge(page: Page) -> None:
    page.wait_for_selector("text=Studies for you")
    assert page.url.endswith("/")  # the link is not in the list of visited pages
    _check(page)
    page.get_by_role("button", name="Take part").press("Enter")
    page.wait_for_url(f"**/s/{ROUND}/")
    for name in ("I agree and want", "Continue", "Start"):
        page.locator(f"button:not([disabled]):has-text('{name}')").press("Enter")
    for _ in range(2):
        page.wait_for_selector(".answer:not([disabled])")
        page.wait_for_timeout(200)
        page.keyboard.press("ArrowLeft")
        page.wait_for_timeout(300)


def _give_feedback(page: Page) -> None:
    page.wait_for_selector("text=Your verdict on this study")
    _check(page)
    page.get_by_role("button", name="Send and finish").press("Enter")
    assert "Was it clear" in page.inner_text(".form__missing")
    page.locator("input[name=clear]").nth(1).press("Space")
    page.locator("input[name=trials]").first.press("Space")
    page.locator("input[name=examples][value=yes]").press("Space")
    page.locator("input[name=pay]").nth(3).press("Space")
    page.locator("input[name=vote][value=revise]").press("Space")
    page.locator("#change").press_sequentially("what is real?")
    assert float(page.input_value("#minutes")) > 0
    page.get_by_role("button", name="Send and finish").press("Enter")
    page.wait_for_selector("text=Thank you")
    page.get_by_role("link", name="To your own page").press("Enter")


def _say_on_the_own_page(page: Page) -> None:
    page.wait_for_selector("text=What you took part in")
    page.locator(f"#rate-{ROUND}-3").press("Space")
    page.wait_for_selector("text=Saved.")
    page.locator(f"#flagging-{ROUND} summary").press("Enter")
    page.get_by_role("button", name="Flag the study").press("Enter")
    page.wait_for_selector("text=You flagged this study")
    _check(page)


def _propose_and_vote(page: Page, panel: ServedPanel) -> None:
    page.locator("#proposing summary").press("Enter")
    page.locator("#proposal-title").press_sequentially("Longer breaks")
    page.locator("#proposal-text").press_sequentially("Five minutes after each block.")
    page.locator("#propose").press("Enter")
    page.wait_for_selector("text=1. Longer breaks")
    assert page.locator("#vote-1-send").count() == 0  # no seat yet
    with panel.service.database.writing() as connection:
        rater = str(connection.scalar(select(raters.c.rater)))
        board: dict[str, Role] = {rater: "rater", "r1": "rater", "r2": "rater", "eve": "independent"}
        board |= {"s1": "researcher", "s2": "researcher", "s3": "researcher"}
        seat_board(connection, board, now=2.0)
    page.reload()
    page.wait_for_selector("text=You sit on the board")
    page.locator("input[name=vote-1][value=yes]").press("Space")
    page.locator("#vote-1-reason").press_sequentially("eyes tire")
    page.locator("#vote-1-send").press("Enter")
    page.wait_for_selector("text=you, for it: eyes tire")
    page.locator("#open-log summary").press("Enter")
    page.wait_for_selector("#open-log >> text=board seated")
    _check(page)


def _exclude(panel: ServedPanel) -> None:
    service = panel.service.services[ROUND]
    with service.database.writing() as connection:
        person, now = str(connection.scalar(select(persons.c.person))), service.now()
        exclude(connection, service.catalogue, service.study, person, reason="too fast", now=now, who="ada")


def _appeal(page: Page) -> None:
    page.reload()
    page.wait_for_selector("text=Reason: too fast")
    page.locator(f"#appeal-{ROUND}").press_sequentially("I looked at each of them.")
    page.get_by_role("button", name="Send the answer").press("Enter")
    page.wait_for_selector("text=Your answer is being read")
    _check(page)


def _in_german(page: Page) -> None:
    page.locator("#language").select_option("de")
    page.wait_for_selector("text=Woran Sie teilgenommen haben")
    _check(page)
    page.locator("#language").select_option("en")
    page.wait_for_selector("text=What you took part in")


def _researcher_decides(page: Page, panel: ServedPanel) -> None:
    """Walk the researcher's pages in German, which has the longer words, and look at some in English."""
    token = panel.service.catalogue.secret("researcher")
    page.goto(f"{panel.address}/researcher?token={token}")
    page.wait_for_selector("main .facts")
    for part in ("overview", "rules"):
        _open_part(page, part)
    page.locator("#language").select_option("de")
    page.wait_for_selector("nav >> text=Einsprüche (1)")
    for part in ("overview", "raters", "pay", "rules", "books", "appeals"):
        _open_part(page, part)
    page.get_by_role("button", name="Stattgeben …").press("Enter")
    page.locator("#dialog-reason").press_sequentially("it was us")
    _check(page)
    page.locator("dialog").get_by_role("button", name="Stattgeben").press("Enter")
    page.wait_for_selector("text=stattgegeben durch link")
    study = panel.service.services[ROUND].catalogue.secret("researcher")
    page.goto(f"{panel.address}/s/{ROUND}/researcher?token={study}")
    page.wait_for_selector("text=Probelauf, Runde 1")  # the choice is remembered
    page.wait_for_selector("text=unklar für 1 Person")
    _check(page)
    for part in ("overview", "raters", "comments", "data"):
        _open_part(page, part)
    page.locator("#language").select_option("en")
    page.locator("a[href='#prototype']").press("Enter")
    page.wait_for_selector("text=1 rater found it unclear")
    _check(page)


def _open_part(page: Page, part: str) -> None:
    page.locator(f"a[href='#{part}']").press("Enter")
    page.wait_for_selector(f"a[href='#{part}'][aria-current='page']")
    page.wait_for_selector("main .card")
    _check(page)


def _check(page: Page) -> None:
    """Nothing scrolls sideways, every text can be read (WCAG AA), and every field has a name."""
    assert not page.evaluate(WIDE)
    assert page.evaluate(UNREADABLE) == []
    assert page.evaluate(UNNAMED) == []
