"""Raters at a real browser on the real server: every question kind, desk by keyboard alone, phone by touch.

Each walks from the link to the last page and reloads after the first answer; what they answered must be in the
database exactly once.
"""

from collections.abc import Callable
from typing import Any

import pytest

from beholder.study.kinds.catalogue import AnyQuestion
from beholder.study.kinds.pair import PairQuestion
from beholder.study.kinds.ranking import RankingQuestion
from beholder.study.kinds.rating import RatingQuestion
from beholder.study.kinds.realism import RealismQuestion
from beholder.study.kinds.rich_feedback import RichFeedbackQuestion
from beholder.study.kinds.side_by_side import SideBySideQuestion
from beholder.study.kinds.sweep import SweepQuestion
from beholder.study.kinds.timed_realism import TimedRealismQuestion
from beholder.study.question import Design

TRIALS = Design(raters=2, trials=2)

QUESTIONS: dict[str, AnyQuestion] = {
    "realism": RealismQuestion(name="q", design=TRIALS),
    "timed-realism": TimedRealismQuestion(name="q", design=TRIALS, countdown_ms=100, feedback=False),
    "pair": PairQuestion(name="q", design=TRIALS),
    "side-by-side-5": SideBySideQuestion(name="q", design=TRIALS),
    "ranking": RankingQuestion(name="q", design=TRIALS, images=3),
    "rating": RatingQuestion(name="q", design=TRIALS),
    "rich-feedback": RichFeedbackQuestion(name="q", design=TRIALS),
    "sweep": SweepQuestion(name="q", design=Design(raters=2, trials=1), images=6, each_ms=150),
}


def _choose_by_key(page: Any) -> None:  # noqa: ANN401
    page.wait_for_selector(".answer:not([disabled])")
    page.wait_for_timeout(150)
    page.keyboard.press("ArrowLeft")


def _choose_by_touch(page: Any) -> None:  # noqa: ANN401
    page.wait_for_selector(".answer:not([disabled])")
    page.wait_for_timeout(150)
    page.locator(".answer").first.tap()


def _rank_by_key(page: Any) -> None:  # noqa: ANN401
    page.wait_for_selector(".rankcard img")
    page.wait_for_timeout(150)
    for rank in ("1", "2", "3"):
        page.keyboard.press("ArrowRight")
        page.keyboard.press(rank)
    page.get_by_role("button", name="Next").press("Enter")


def _rank_by_touch(page: Any) -> None:  # noqa: ANN401
    page.wait_for_selector(".rankcard img")
    page.wait_for_timeout(150)
    for place in range(3):
        page.locator(".rankcard").nth(place).tap()
    page.get_by_role("button", name="Next").tap()


def _rate_by_key(page: Any) -> None:  # noqa: ANN401
    page.wait_for_selector(".scale:not([disabled])")
    page.wait_for_timeout(150)
    for scale in page.locator(".scale").all():
        scale.locator("input").nth(3).press("Space")
    page.get_by_role("button", name="Next").press("Enter")


def _rate_by_touch(page: Any) -> None:  # noqa: ANN401
    page.wait_for_selector(".scale:not([disabled])")
    page.wait_for_timeout(150)
    for scale in page.locator(".scale").all():
        scale.locator("label").nth(3).tap()
    page.get_by_role("button", name="Next").tap()


def _sweep_by_key(page: Any) -> None:  # noqa: ANN401
    page.keyboard.press("Space")


def _sweep_by_touch(page: Any) -> None:  # noqa: ANN401
    page.locator("main button").last.tap()


WAYS: dict[str, tuple[Callable[[Any], None], Callable[[Any], None]]] = {
    "realism": (_choose_by_key, _choose_by_touch),
    "timed-realism": (_choose_by_key, _choose_by_touch),
    "pair": (_choose_by_key, _choose_by_touch),
    "side-by-side-5": (_choose_by_key, _choose_by_touch),
    "ranking": (_rank_by_key, _rank_by_touch),
    "rating": (_rate_by_key, _rate_by_touch),
    "rich-feedback": (_rate_by_key, _rate_by_touch),
    "sweep": (_sweep_by_key, _sweep_by_touch),
}


@pytest.mark.parametrize("phone", [False, True], ids=["desk-by-keys", "phone-by-touch"])
@pytest.mark.parametrize("kind", QUESTIONS)
def test_the_whole_way(serve: Any, chromium: Any, kind: str, *, phone: bool) -> None:  # noqa: ANN401
    served = serve(QUESTIONS[kind])
    size = {"width": 390, "height": 844} if phone else {"width": 1280, "height": 800}
    context = chromium.new_context(viewport=size, has_touch=phone, is_mobile=phone, locale="en-GB")
    page = context.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(served.address)
    press = _tap if phone else _enter
    press(page, "I agree")
    press(page, "Continue")
    press(page, "Start")
    reloaded = False
    for _ in range(40):
        done = served.rows("select count(*) from responses where valid")[0][0]
        if done and not reloaded:
            page.reload()
            reloaded = True
        if _step(served) == "debrief":
            break
        _answer(page, kind, phone=phone)
        _until(served, page, done)
    page.wait_for_selector("text=Almost done")
    for scale in page.locator("fieldset").all():
        if phone:
            scale.locator("label").nth(3).tap()
        else:
            scale.locator("input").nth(3).press("Space")
    press(page, "Finish")
    page.wait_for_selector("text=Thank you")
    trials = QUESTIONS[kind].design.trials
    assert served.rows("select status from sessions") == [("complete",)]
    assert served.rows("select count(distinct trial), sum(valid) from responses") == [(trials, trials)]
    assert reloaded
    assert not complaints
    context.close()


def _answer(page: Any, kind: str, *, phone: bool) -> None:  # noqa: ANN401
    """Answer one trial; one that runs by itself is started, as often as a lost frame asks for it."""
    if kind not in ("timed-realism", "sweep"):
        WAYS[kind][1 if phone else 0](page)
        return
    start = page.locator(".start button")
    for _ in range(600):
        if start.count() and start.first.is_visible():
            page.wait_for_timeout(150)
            if phone:
                page.evaluate("document.querySelector('.start button')?.click()")
            else:
                page.keyboard.press(" ")
            if kind == "sweep":
                page.wait_for_timeout(2500)
                return
        if page.locator(".answer:not([disabled])").count():
            WAYS[kind][1 if phone else 0](page)
            return
        page.wait_for_timeout(100)


def _until(served: Any, page: Any, before: int) -> None:  # noqa: ANN401
    """Wait until the answer is in; a spoiled trial is simply asked again."""
    for _ in range(60):
        counted = served.rows("select count(*) from responses")[0][0]
        valid = served.rows("select count(*) from responses where valid")[0][0]
        if valid > before or counted > before:
            return
        page.wait_for_timeout(100)


def _step(served: Any) -> str:  # noqa: ANN401
    place, plan = served.rows("select place, json_array_length(plan) from sessions")[0]
    return "debrief" if place >= plan else "trial"


def _enter(page: Any, name: str) -> None:  # noqa: ANN401
    page.wait_for_selector(f"button:not([disabled]) >> text={name}")
    page.get_by_role("button", name=name).first.press("Enter")


def _tap(page: Any, name: str) -> None:  # noqa: ANN401
    page.wait_for_selector(f"button:not([disabled]) >> text={name}")
    page.get_by_role("button", name=name).first.tap()
