"""The arena's pages in a browser: agreed, voted and gone on by keys alone, on two sizes, in both languages."""

import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from sqlalchemy import text
from tests.collect.arena.generator_sections import add_generators

from beholder.collect.arena.application import create_arena
from beholder.collect.arena.catalogue import load_images
from beholder.collect.arena.schema import arena_url
from beholder.study.kinds.pair import PairQuestion


@pytest.fixture
def address(painted_study: Callable[..., Path]) -> Iterator[tuple[str, Any]]:
    folder = painted_study(PairQuestion(name="preference"), seed=2, draws=200)
    add_generators(folder, load_images(folder).entries)
    app = create_arena(folder, arena_url(folder), own_prompts=True)
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(20)
        config = uvicorn.Config(app, log_level="error", lifespan="off", ws="none")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}", app.state.service
        server.should_exit = True
        thread.join(20)
    app.state.service.live.close()
    app.state.service.database.engine.dispose()


@pytest.mark.parametrize(("width", "height", "language"), [(1280, 800, "en"), (390, 844, "de")])
def test_a_vote_by_keys_from_consent_to_board(
    chromium: Any,  # noqa: ANN401
    address: tuple[str, Any],
    width: int,
    height: int,
    language: str,
) -> None:
    base, service = address
    context = chromium.new_context(viewport={"width": width, "height": height}, locale=language)
    page = context.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto(f"{base}/")
    page.wait_for_selector(".button--primary")
    assert page.evaluate("document.documentElement.lang") == language
    assert _is_within(page)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    for key in ("f", "b"):
        page.wait_for_selector(".answer:not([disabled])")
        page.wait_for_timeout(500)  # nobody votes sooner
        assert _is_within(page)
        assert page.locator(".picture img").count() == 2
        page.keyboard.press(key)
        page.wait_for_selector(".revealed__name")
        assert set(page.locator(".revealed__name").all_inner_texts()) != {""}
        assert page.locator('.revealed__name[data-won="true"]').count() == (1 if key == "f" else 0)
        page.keyboard.press("Enter")
    page.wait_for_selector(".answer:not([disabled])")
    with service.database.reading() as connection:
        outcomes = [row.outcome for row in connection.execute(text("select outcome from votes order by at"))]
    assert outcomes == ["left", "both-bad"]
    service.renew()
    page.goto(f"{base}/board")
    page.wait_for_selector("tbody tr")
    assert page.locator("tbody tr").count() == len(service.draw.entries)
    assert _is_within(page)
    assert faults == []
    context.close()


@pytest.mark.parametrize(("width", "height", "language"), [(1280, 800, "de"), (390, 844, "en")])
def test_a_prompt_of_ones_own_by_keys_and_the_open_pair_afterwards(
    chromium: Any,  # noqa: ANN401
    address: tuple[str, Any],
    width: int,
    height: int,
    language: str,
) -> None:
    base, service = address
    context = chromium.new_context(viewport={"width": width, "height": height}, locale=language)
    page = context.new_page()
    page.goto(f"{base}/")
    page.wait_for_selector(".button--primary")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_selector(".answer:not([disabled])")
    prompt = page.locator(".ask__prompt q").inner_text()
    assert _tab_to(page, ".arena__write")
    page.keyboard.press("Enter")
    page.wait_for_selector("#own-text:focus")  # who comes to write can write at once
    assert _is_within(page)
    page.keyboard.type("three blue cats, in the snow, photo style")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.locator(".ask__prompt q", has_text="three blue cats").wait_for()
    page.wait_for_selector(".answer:not([disabled])")
    page.wait_for_timeout(500)  # nobody votes sooner
    page.keyboard.press("j")
    page.wait_for_selector(".revealed__name")
    page.keyboard.press("Enter")
    page.locator(".ask__prompt q", has_text=prompt).wait_for()
    page.wait_for_selector(".answer:not([disabled])")
    assert page.locator(".picture img").count() == 2
    with service.database.reading() as connection:
        numbers = [row.number for row in connection.execute(text("select number from ballots order by number"))]
    assert numbers == [0, 1]  # the pair that was open, and the own one
    context.close()


def _tab_to(page: Any, selector: str) -> bool:  # noqa: ANN401
    """Press Tab until what is meant has the focus; whether that came about."""
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return True
    return False


def _is_within(page: Any) -> bool:  # noqa: ANN401
    """Nothing makes the page scroll sideways."""
    return bool(page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"))
