"""Each kind of question, answered by keys and by pointer: what is sent is what the server's kinds take."""

from typing import Any

import pytest
from tests.collect.mock_server import Mock, question_for
from tests.collect.pages.visiting import Open, ready

from beholder.study.kinds.catalogue import KINDS


def aspects_sent(page: Any, mock: Mock) -> Any:  # noqa: ANN401
    page.wait_for_selector("text=2 of 3")
    assert mock.visit.answers[-1]["spoiled"] is False
    return mock.visit.answers[-1]["said"]


CHOICES = {
    "realism": {"f": "real", "ArrowRight": "generated"},
    "pair": {"ArrowLeft": "left", "j": "right", "t": "tie", "ArrowDown": "tie"},
    "side-by-side-5": {"d": "left-much", "2": "left", "3": "same", "t": "same", "j": "right", "5": "right-much"},
    "choice": {"1": "tone-1", "9": "tone-9", "0": "tone-10", "s": "several", "c": "cannot-tell"},
}


@pytest.mark.parametrize("kind", CHOICES)
def test_a_key_chooses(open_page: Open, mock: Mock, kind: str) -> None:
    keys = CHOICES[kind]
    page = open_page(kind=kind, from_="trial", trials=len(keys) + 1)
    for number, key in enumerate(keys):
        page.wait_for_selector(f"text={number + 1} of")
        ready(page)
        page.keyboard.press(key)
    page.wait_for_selector(f"text={len(keys) + 1} of")
    aspect = KINDS[kind].aspects(question_for({"kind": kind}))[0]
    assert [answer["said"] for answer in mock.visit.answers] == [
        [{"aspect": aspect, "choice": choice}] for choice in keys.values()
    ]
    assert all(0.1 <= answer["seconds"] < 8 for answer in mock.visit.answers)


def test_a_button_chooses(open_page: Open, mock: Mock) -> None:
    page = open_page(kind="pair", from_="trial", phone=True)
    ready(page)
    page.get_by_role("button", name="B is better").tap()
    assert aspects_sent(page, mock) == [{"aspect": "preference", "choice": "right"}]


def test_without_ties_there_is_none(open_page: Open) -> None:
    page = open_page(kind="pair", from_="trial", ties=0)
    ready(page)
    assert page.locator(".answer").evaluate_all("all => all.map(one => one.dataset.choice)") == ["left", "right"]


def test_ranking_by_taps_from_best_to_worst(open_page: Open, mock: Mock) -> None:
    page = open_page(kind="ranking", from_="trial", phone=True)
    page.wait_for_selector(".rankcard img")
    page.wait_for_timeout(130)
    for place in (2, 0, 3, 1):
        page.locator(".rankcard").nth(place).tap()
    page.get_by_role("button", name="Next").tap()
    assert aspects_sent(page, mock) == [{"aspect": "preference", "ranking": [2, 4, 1, 3]}]


def test_ranking_by_keys(open_page: Open, mock: Mock) -> None:
    page = open_page(kind="ranking", from_="trial")
    page.wait_for_selector(".rankcard img")
    page.wait_for_timeout(130)
    for keys in (["ArrowRight", "3"], ["ArrowRight", "1"], ["ArrowRight", "2"], ["ArrowRight", "4"]):
        for key in keys:
            page.keyboard.press(key)
    page.keyboard.press("Backspace")
    page.keyboard.press("4")
    page.get_by_role("button", name="Next").press("Enter")
    assert aspects_sent(page, mock) == [{"aspect": "preference", "ranking": [3, 1, 2, 4]}]


def test_ranking_by_dragging_onto_ranks(open_page: Open, mock: Mock) -> None:
    page = open_page(kind="ranking", from_="trial")
    page.wait_for_selector(".rankcard img")
    page.wait_for_timeout(130)
    for image, rank in ((0, 3), (1, 2), (2, 1), (3, 0)):
        drag(page, f".rankcard >> nth={image}", f".slot >> nth={rank}")
    drag(page, ".slot >> nth=0", ".slot >> nth=1")
    page.get_by_role("button", name="Next").click()
    assert aspects_sent(page, mock) == [{"aspect": "preference", "ranking": [4, 3, 1, 2]}]


def drag(page: Any, source: str, target: str) -> None:  # noqa: ANN401
    start, end = (page.locator(place).bounding_box() for place in (source, target))
    page.mouse.move(start["x"] + start["width"] / 2, start["y"] + start["height"] / 2)
    page.mouse.down()
    page.mouse.move(end["x"] + end["width"] / 2, end["y"] + end["height"] / 2, steps=4)
    page.mouse.up()
    page.wait_for_timeout(30)


def test_rating_by_digits(open_page: Open, mock: Mock) -> None:
    page = open_page(kind="rating", from_="trial")
    page.wait_for_selector(".scale:not([disabled])")
    page.wait_for_timeout(130)
    for key in ("4", "1", "5", "Enter"):
        page.keyboard.press(key)
    assert aspects_sent(page, mock) == [
        {"aspect": "quality", "value": 4},
        {"aspect": "beauty", "value": 1},
        {"aspect": "match", "value": 5},
    ]


def test_a_continuous_scale_wants_each_slider_moved(open_page: Open, mock: Mock) -> None:
    page = open_page(kind="rating", from_="trial", points=0)
    page.wait_for_selector(".scale:not([disabled])")
    submit = page.get_by_role("button", name="Next")
    for slider in page.locator(".slider").all():
        assert submit.is_disabled()
        slider.press("End")
    submit.click()
    assert [aspect["value"] for aspect in aspects_sent(page, mock)] == [100, 100, 100]


def test_rich_feedback_by_pointer(open_page: Open, mock: Mock) -> None:
    page = open_page(kind="rich-feedback", from_="trial")
    page.wait_for_selector(".sheet img")
    page.wait_for_timeout(130)
    box = page.locator(".picture__face").bounding_box()

    def click(x: float, y: float) -> None:
        page.mouse.click(box["x"] + x * box["width"], box["y"] + y * box["height"])

    click(0.25, 0.5)
    click(0.8, 0.8)
    click(0.8, 0.8)  # away again
    page.get_by_role("button", name="Not as in the text").click()
    click(0.5, 0.25)
    page.get_by_role("button", name="orange").click()
    for name in ("plausibility", "alignment", "aesthetics", "overall"):
        page.locator(f"input[name=aspect-{name}][value='2']").check()
    page.get_by_role("button", name="Next").click()
    assert [aspect["value"] for aspect in aspects_sent(page, mock)] == [2, 2, 2, 2]
    first, second, third = mock.visit.answers[0]["marks"]
    assert first == {"aspect": "implausibility", "kind": "point", "image": 0, "x": pytest.approx(0.25, abs=0.01),
                     "y": pytest.approx(0.5, abs=0.01)}  # fmt: skip
    assert (second["aspect"], second["x"]) == ("misalignment", pytest.approx(0.5, abs=0.01))
    assert third == {"aspect": "misalignment", "kind": "word", "word": 2}


def test_rich_feedback_by_keys(open_page: Open, mock: Mock) -> None:
    page = open_page(kind="rich-feedback", from_="trial")
    page.wait_for_selector(".sheet img")
    page.wait_for_timeout(130)
    page.keyboard.press("Shift+ArrowLeft")
    page.keyboard.press("Enter")
    page.keyboard.press("w")
    page.keyboard.press("+")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.keyboard.press("Shift+ArrowDown")
    page.keyboard.press("Enter")
    page.keyboard.press("u")
    for key in ("1", "2", "3", "4", "n"):
        page.keyboard.press(key)
    assert [aspect["value"] for aspect in aspects_sent(page, mock)] == [1, 2, 3, 4]
    marks = mock.visit.answers[0]["marks"]
    assert [(mark["aspect"], mark["x"], mark["y"]) for mark in marks] == [
        ("implausibility", 0.4, 0.5),
        ("misalignment", 0.4, 0.5133),
    ]


def test_points_are_found_again_when_enlarged(open_page: Open, mock: Mock) -> None:
    page = open_page(kind="rich-feedback", from_="trial")
    page.wait_for_selector(".sheet img")
    page.wait_for_timeout(130)
    box = page.locator(".picture__face").bounding_box()
    page.get_by_role("button", name="Enlarge").click()
    page.get_by_role("button", name="Enlarge").click()  # twofold, the middle stays in the middle
    page.mouse.click(box["x"] + 0.75 * box["width"], box["y"] + 0.5 * box["height"])
    for key in ("1", "1", "1", "1", "n"):
        page.keyboard.press(key)
    page.wait_for_selector("text=2 of 3")
    (mark,) = mock.visit.answers[0]["marks"]
    assert (mark["x"], mark["y"]) == (pytest.approx(0.625, abs=0.01), pytest.approx(0.5, abs=0.01))


def test_keys_before_the_images_and_held_keys_do_not_count(open_page: Open, mock: Mock) -> None:
    page = open_page(kind="pair", from_="trial")
    ready(page)
    page.evaluate("document.dispatchEvent(new KeyboardEvent('keydown', {key: 'f', repeat: true, bubbles: true}))")
    page.keyboard.press("j")
    page.wait_for_selector("text=2 of 3")
    page.wait_for_selector(".picture img")
    page.keyboard.press("j")  # within 100 ms of the images
    page.wait_for_timeout(300)
    choices = [answer["said"][0]["choice"] for answer in mock.visit.answers]
    assert choices[0] == "right"
    assert all(answer["seconds"] >= 0.1 for answer in mock.visit.answers)


def test_no_token_in_sight(open_page: Open) -> None:
    page = open_page(kind="pair", from_="trial")
    ready(page)
    html = page.evaluate("document.documentElement.outerHTML")
    assert 'alt="Image A"' in html
    assert "x0" not in html
    assert "/api/image" not in html
