"""The researcher's page in a real browser: signing in, pausing, previewing, and all of it fit for a phone."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page
from tests.collect.conftest import Serve, Served

from beholder.collect.researcher.accounts import add_account
from beholder.study.kinds.pair import PairQuestion
from beholder.study.question import Design

PARTS = ("overview", "raters", "comments", "data")


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    """A page that fails the test where its console has an error, a breach of the content policy among them."""
    context = chromium.new_context(viewport={"width": 390, "height": 844})
    opened = context.new_page()
    faults: list[str] = []
    opened.on("pageerror", lambda error: faults.append(str(error)))
    opened.on(
        "console",
        lambda message: (
            faults.append(message.text) if message.type == "error" and "401" not in message.text else None
        ),
    )
    yield opened
    context.close()
    assert faults == []


@pytest.fixture
def served(serve: Serve) -> Served:
    served = serve(PairQuestion(name="q", design=Design(raters=3, trials=6, attention_every=3)))
    served.visitor().begin().walk()
    served.visitor().begin().answer()
    return served


def sign_in(page: Page, served: Served) -> None:
    token = served.rows("select value from secrets where name = 'researcher'")[0][0]
    page.goto(f"{served.address}/researcher?token={token}")
    page.wait_for_selector(".cells li")


def test_every_part_fits_a_phone(page: Page, served: Served) -> None:
    sign_in(page, served)
    assert page.url == f"{served.address}/researcher"
    assert page.inner_text("#title") == "A test"
    for part in PARTS:
        page.click(f"a[href='#{part}']")
        page.wait_for_selector(f"a[href='#{part}'][aria-current='page']")
        page.wait_for_selector("main > *")
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, part
    assert page.inner_text("main").count("zephyr") == 0  # the current part shows links, files and actions


def test_pausing_asks_for_a_reason_and_notes_it(page: Page, served: Served) -> None:
    sign_in(page, served)
    page.click("#control button")
    page.fill("dialog textarea", "lunch")
    page.click("dialog button[type=submit]")
    page.wait_for_selector("#status[data-paused=true]")
    assert served.rows("select value from control where name = 'paused'") == [("yes",)]
    page.click("a[href='#data']")
    page.wait_for_selector("text=lunch")


def test_a_rater_is_excluded_by_the_keyboard(page: Page, served: Served) -> None:
    sign_in(page, served)
    page.click("a[href='#raters']")
    page.wait_for_selector("text=Exclude…")
    page.locator("button", has_text="Exclude…").last.focus()
    page.keyboard.press("Enter")
    page.keyboard.type("a machine")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=excluded: a machine")
    assert served.rows("select count(*) from persons where excluded")[0][0] == 1


def test_an_account_that_may_only_look(page: Page, served: Served) -> None:
    with served.service.database.writing() as connection:
        add_account(connection, "vera.with-a-long-name@example.org", "view", "a long enough password")
    page.goto(f"{served.address}/researcher", wait_until="networkidle")
    page.fill("#name", "vera.with-a-long-name@example.org")
    page.fill("#password", "a long enough password")
    page.keyboard.press("Enter")
    page.wait_for_selector(".cells li")
    assert "view" in page.inner_text(".account")
    assert page.inner_text(".account__name") == "vera.with-a-long-name@example.org"
    for part in PARTS:
        page.click(f"a[href='#{part}']")
        page.wait_for_selector(f"a[href='#{part}'][aria-current='page']")
        page.wait_for_selector("main > *")
        for words in ("Pause", "Add slots…", "Exclude…", "End session…", "Make invitations…"):
            assert page.get_by_text(words, exact=True).count() == 0, (part, words)
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, part
    page.click("#sign-out")
    page.wait_for_selector("#password")
    assert served.count("logins") == 0


def test_a_preview_says_what_it_is(page: Page, served: Served) -> None:
    sign_in(page, served)
    before = served.counts()
    page.goto(f"{served.address}/researcher/preview/q")
    page.wait_for_selector("text=Preview: your answers are not stored")
    page.wait_for_selector("h1")
    assert served.counts() == before
