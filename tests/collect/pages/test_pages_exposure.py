"""Timed images: what was shown is known to the frame, and a trial that went wrong says so."""

from typing import Any

import pytest
from tests.collect.mock_server import Mock
from tests.collect.pages.visiting import Open

FIELDS = {
    *("intended_ms", "intended_frames", "shown_ms", "shown_frames", "dropped_frames", "frame_ms"),
    *("onset_ms", "offset_ms", "blurred", "pixel_ratio", "viewport"),
}


PATIENCE_MS = 40_000
"""A busy machine drops frames, and a trial with a dropped frame is shown again."""

IMAGE_IS_SHOWN = """() => {
  const canvas = document.querySelector("canvas");
  const context = canvas.getContext("2d");
  const [red, green, blue] = context.getImageData(canvas.width / 2, canvas.height * 0.8, 1, 1).data;
  return red !== 119 || green !== 119 || blue !== 119;
}"""


def start(page: Any) -> None:  # noqa: ANN401
    page.wait_for_selector(".start button")
    page.wait_for_timeout(130)
    page.keyboard.press(" ")


def answer(page: Any, key: str) -> None:  # noqa: ANN401
    page.wait_for_selector(".answer:not([disabled])", timeout=PATIENCE_MS)
    page.wait_for_timeout(130)
    page.keyboard.press(key)


def test_exposures_are_right_or_flagged(open_page: Open, mock: Mock) -> None:
    page = open_page(kind="timed-realism", from_="trial", trials=99, countdown=60, exposure=100)
    page.evaluate(
        "setInterval(() => document.querySelector('.answer:not([disabled]), .start button')?.click(), 40)"
    )
    page.wait_for_selector("text=2 of", timeout=PATIENCE_MS)
    page.wait_for_timeout(2000)
    for answer in mock.visit.answers:
        exposure = answer["exposure"]
        assert set(exposure) == FIELDS
        off = abs(exposure["shown_ms"] - 100) > exposure["frame_ms"]
        assert answer["spoiled"] or not off
        assert answer["spoiled"] == (exposure["dropped_frames"] > 0)
        assert exposure["intended_frames"] == pytest.approx(100 / exposure["frame_ms"], abs=0.51)
        assert answer["said"] == [] if answer["spoiled"] else answer["said"][0]["aspect"] == "realism"


def test_a_blur_while_the_image_is_shown_spoils_the_trial(open_page: Open, mock: Mock) -> None:
    page = open_page(kind="timed-realism", from_="trial", countdown=20, exposure=60_000)
    start(page)
    page.wait_for_function(IMAGE_IS_SHOWN)
    page.evaluate("window.dispatchEvent(new Event('blur'))")
    page.wait_for_selector("text=it will come again")
    (answer,) = mock.visit.answers
    assert (answer["spoiled"], answer["spoiled_reason"], answer["said"]) == (True, "blurred", [])
    assert answer["exposure"]["blurred"] is True
    page.wait_for_selector(".start button")  # not by itself: the person was away
    assert mock.visit.attempt == 2


def test_a_blur_in_the_countdown_costs_nothing(open_page: Open, mock: Mock) -> None:
    page = open_page(kind="timed-realism", from_="trial", countdown=60_000)
    start(page)
    page.wait_for_selector(".start", state="detached")
    page.wait_for_timeout(1500)  # the frame rate is measured
    page.evaluate("window.dispatchEvent(new Event('blur'))")
    page.wait_for_selector(".start button")
    assert mock.visit.answers == []


def test_the_answer_is_asked_after_the_masks(open_page: Open, mock: Mock) -> None:
    page = open_page(kind="timed-realism", from_="trial", countdown=200, exposure=50, feedback="generated")
    start(page)
    page.keyboard.press("j")  # too early
    answer(page, "j")
    page.wait_for_selector("text=Right: Generated")
    page.wait_for_selector("text=2 of 3")
    assert mock.visit.answers[-1]["said"] == [{"aspect": "realism", "choice": "generated"}]


def test_a_viewing_period_hides_the_image(open_page: Open, mock: Mock) -> None:
    page = open_page(kind="realism", from_="trial", viewing=300)
    start(page)
    answer(page, "f")
    page.wait_for_selector("text=2 of 3")
    exposure = mock.visit.answers[-1]["exposure"]
    assert exposure["intended_ms"] == 300
    assert exposure["shown_ms"] == pytest.approx(300, abs=2 * exposure["frame_ms"])


def test_presses_in_a_sweep_are_timed_from_its_start(open_page: Open, mock: Mock) -> None:
    page = open_page(kind="sweep", from_="trial", images=12)
    while not mock.visit.answers or mock.visit.answers[-1]["spoiled"]:
        before = len(mock.visit.answers)
        start(page)
        page.wait_for_function(IMAGE_IS_SHOWN)
        page.keyboard.press(" ")
        page.wait_for_timeout(300)
        page.keyboard.press(" ")
        page.wait_for_selector("text=/2 of 3|it will come again/")
        assert len(mock.visit.answers) == before + 1
    answer = mock.visit.answers[-1]
    assert answer["said"] == [{"aspect": "realism", "value": 2}]
    first, second = answer["marks"]
    assert (first["aspect"], first["kind"]) == ("hit", "press")
    assert 0 < first["at_ms"] < 1200
    assert second["at_ms"] - first["at_ms"] >= 300
    assert answer["exposure"]["intended_ms"] == 1200
    assert answer["exposure"]["shown_ms"] == pytest.approx(1200, abs=60)
