"""The researcher decides on raters' prompts by keys, on two sizes: blurred first, then approved or hidden."""

import time

import pytest
from playwright.sync_api import Browser
from tests.collect.conftest import Serve
from tests.collect.session.test_live import with_painter

from beholder.collect.live.room import Allowance
from beholder.study.kinds.write_prompt import WritePromptQuestion
from beholder.study.question import Design

TEXTS = ("three blue cats, in the snow, photo style", "two red cubes above a white moon, at sunset, sketch style")


@pytest.mark.parametrize("size", [(1280, 800), (390, 844)])
def test_prompts_are_decided_on_by_keys(chromium: Browser, serve: Serve, size: tuple[int, int]) -> None:
    question = WritePromptQuestion(name="attack", target="dune", design=Design(raters=2, trials=3))
    served = serve(question, prepare=with_painter)
    room = served.service.live
    assert room is not None
    room.agree("ann")
    names = [room.ask("ann", f"t{n}", text, ["dune"], Allowance(1, 9, 99))[0] for n, text in enumerate(TEXTS)]
    until = time.monotonic() + 60
    while any(room.result("ann", name)["status"] == "waiting" for name in names) and time.monotonic() < until:
        time.sleep(0.05)
    context = chromium.new_context(viewport={"width": size[0], "height": size[1]})
    page = context.new_page()
    page.set_default_timeout(60_000)
    token = served.rows("select value from secrets where name = 'researcher'")[0][0]
    page.goto(f"{served.address}/researcher?token={token}")
    page.wait_for_selector("a[href='#moderation']")
    page.locator("a[href='#moderation']").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector(".moderation__row")
    assert page.locator(".moderation__row").count() == 2
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    blur = "getComputedStyle(document.querySelector('.moderation__image img')).filter"
    assert "blur" in page.evaluate(blur)
    page.locator("#content").focus()
    page.keyboard.press("Tab")  # the first image
    assert page.evaluate(blur) == "none"
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # approve
    page.wait_for_function("() => document.querySelectorAll('.moderation__row').length === 1")
    page.locator("button", has_text="Hide").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("text=Nothing waits.")
    page.fill("#banned", "Nasty, vile")
    page.locator("button", has_text="Save the list").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("text=2 words are banned")
    context.close()
    with room.database.reading() as connection:
        rows = connection.exec_driver_sql("select text, moderation from attempts order by at").all()
    assert [tuple(row) for row in rows] == [(TEXTS[0], "approved"), (TEXTS[1], "hidden")]
