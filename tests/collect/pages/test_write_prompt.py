"""A prompt of one's own, by keys alone and on a phone: warned, refused where it must be, claimed with a tag."""

import pytest
from tests.collect.mock_server import Mock
from tests.collect.pages.visiting import Open


def test_a_claim_by_keys_alone(open_page: Open, mock: Mock) -> None:
    page = open_page(kind="write-prompt", from_="trial", trials=2)
    page.wait_for_selector("#live-warning")
    page.keyboard.press("Enter")  # the button has the focus
    page.wait_for_selector("textarea:focus")
    page.keyboard.type("a forbidden cat")
    page.keyboard.press("Enter")
    page.wait_for_selector(".live__said:has-text('not allowed')")
    page.fill("textarea", "an unpaintable cat")
    page.keyboard.press("Enter")
    page.wait_for_selector(".live__said:has-text('no such object')")
    assert page.locator(".answer[disabled]").count() == 2  # there is nothing to judge yet
    page.fill("textarea", "three blue cats")
    page.keyboard.press("Enter")
    page.wait_for_selector(".answer:not([disabled])")
    page.wait_for_timeout(150)
    page.locator(".ask__question").focus()
    page.keyboard.press("1")  # it failed, but how?
    page.wait_for_selector(".live__said:has-text('what went wrong')")
    page.locator(".word--tag").first.focus()
    page.keyboard.press("Enter")
    page.locator(".words:not([hidden]) .word:not(.word--tag)").nth(1).focus()
    page.keyboard.press("Space")
    page.locator(".ask__question").focus()
    page.wait_for_timeout(150)
    page.keyboard.press("1")
    page.wait_for_timeout(300)
    (answer,) = mock.visit.answers
    assert answer["said"] == [{"aspect": "claim", "choice": "fails"}]
    assert answer["marks"] == [
        {"aspect": "missing-object", "kind": "tag"},
        {"aspect": "missing-object", "kind": "word", "word": 1},
    ]
    assert mock.visit.prompts == ["an unpaintable cat", "three blue cats"]


@pytest.mark.parametrize("language", ["en", "de"])
def test_all_is_within_reach_on_a_phone(open_page: Open, mock: Mock, language: str) -> None:
    page = open_page(kind="write-prompt", from_="trial", phone=True, lang=language)
    page.wait_for_selector("#live-warning")
    page.locator(".live__warning button").click()
    page.fill("textarea", "three blue cats on a very long wooden table in the snow")
    page.locator(".live__send button").click()
    page.wait_for_selector(".answer:not([disabled])")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.wait_for_timeout(150)
    page.locator(".answer").nth(1).click()
    page.wait_for_timeout(300)
    assert mock.visit.answers[0]["said"] == [{"aspect": "claim", "choice": "holds"}]
