"""A browser and the stand-in server; a page that fails its test on any error in its console."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[3]))

from tests.collect.mock_server import Mock, paint_pictures, serving
from tests.collect.pages.visiting import Open

EXPECTED = ("503", "409", "401", "404")
"""Answers of the server that a test asks for; the browser writes them to its console."""


@pytest.fixture(scope="session")
def browser(chromium: Any) -> Any:  # noqa: ANN401
    return chromium


@pytest.fixture(scope="session")
def server() -> Iterator[Mock]:
    with serving(Mock(paint_pictures(12, 64), 64)) as mock:
        yield mock


@pytest.fixture
def mock(server: Mock) -> Mock:
    server.reset()
    return server


@pytest.fixture(scope="session")
def contexts(browser: Any) -> dict[tuple[bool, bool], Any]:  # noqa: ANN401
    """A desk and a phone, each light and dark; kept, so that scripts are compiled once."""
    return {
        (phone, dark): browser.new_context(
            viewport={"width": 390, "height": 844} if phone else {"width": 1280, "height": 800},
            has_touch=phone,
            is_mobile=phone,
            color_scheme="dark" if dark else "light",
            locale="en-GB",
        )
        for phone in (False, True)
        for dark in (False, True)
    }


@pytest.fixture
def open_page(contexts: dict[tuple[bool, bool], Any], mock: Mock) -> Iterator[Open]:
    complaints: list[str] = []

    def listen(page: Any) -> None:  # noqa: ANN401
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)

    def open_page(*, phone: bool = False, dark: bool = False, **wishes: str | int) -> Any:  # noqa: ANN401
        page = contexts[phone, dark].new_page()
        page.set_default_timeout(20_000)
        listen(page)
        query = "&".join(f"{name.rstrip('_')}={value}" for name, value in wishes.items())
        page.goto(f"{mock.url}/?{query}")
        page.wait_for_selector("h1")
        return page

    yield open_page
    for context in contexts.values():
        for page in context.pages:
            page.evaluate("localStorage.clear()")
            page.close()
        context.clear_cookies()
    assert [text for text in complaints if not any(code in text for code in EXPECTED)] == []
