"""Prompts that raters write, through the server: warned, limited, made by a worker process, moderated, claimed."""

import threading
import time
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select
from tests.collect.conftest import Serve

from beholder.collect.live.forget import forget_authors
from beholder.collect.live.makers import Made, Makers, Order
from beholder.collect.live.moderation import ban_words, decide, moderation_queue
from beholder.collect.live.room import Allowance, LiveRoom
from beholder.collect.live.schema import attempts
from beholder.errors import RefusedError, StudyError
from beholder.generators.checked import check_image
from beholder.study.kinds.kind import Mark, Response
from beholder.study.kinds.write_prompt import WRITE_PROMPT, WritePromptQuestion
from beholder.study.question import Design
from beholder.study.study import FILE_NAME
from beholder.workers.messages import ImageRequest

ALLOWANCE = Allowance(tries=2, most=3, longest=40)
PIXEL = (
    b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x02\x00\x00\x00\x90wS\xde\x00\x00\x00\x0c"
    b"IDATx\x9cc\xf8\xcf\xc0\x00\x00\x03\x01\x01\x00\xc9\xfe\x92\xef\x00\x00\x00\x00IEND\xaeB`\x82"
)


def painted(order: Order) -> Made:
    if "fail" in order.prompt:
        return Made("failed", "it failed")
    return Made("made", image=check_image(PIXEL, ImageRequest(prompt=order.prompt)))


def settled(room: LiveRoom, author: str, attempt: str) -> dict[str, Any]:
    for _ in range(200):
        view = room.result(author, attempt)
        if view["status"] != "waiting":
            return view
        time.sleep(0.02)
    raise TimeoutError(attempt)


@pytest.fixture
def room(tmp_path: Path) -> LiveRoom:
    return LiveRoom(tmp_path, {"painter": painted})


def code_of(refused: pytest.ExceptionInfo[RefusedError]) -> str:
    return refused.value.code


def test_nobody_asks_before_the_warning(room: LiveRoom) -> None:
    with pytest.raises(RefusedError) as refused:
        room.ask("ann", "t", "a red cat", ["painter"], ALLOWANCE)
    assert code_of(refused) == "not-agreed"


def test_limits_count_prompts_and_not_failures(room: LiveRoom) -> None:
    room.agree("ann")
    room.agree("ann")
    (failed,) = room.ask("ann", "t1", "fail please", ["painter"], ALLOWANCE)
    assert settled(room, "ann", failed)["status"] == "failed"
    for text in ("a red cat", "a  blue\n cat"):
        (name,) = room.ask("ann", "t1", text, ["painter"], ALLOWANCE)
        assert settled(room, "ann", name)["status"] == "made"
    assert room.last_made("ann", "t1").text == "a blue cat"  # type: ignore[union-attr]
    with pytest.raises(RefusedError) as refused:  # two of two in this trial
        room.ask("ann", "t1", "a pink cat", ["painter"], ALLOWANCE)
    assert code_of(refused) == "no-tries"
    (name,) = room.ask("ann", "t2", "a pink cat", ["painter"], ALLOWANCE)
    settled(room, "ann", name)
    with pytest.raises(RefusedError) as refused:  # three of three in all
        room.ask("ann", "t2", "a green cat", ["painter"], ALLOWANCE)
    assert code_of(refused) == "no-more"
    with pytest.raises(RefusedError) as refused:  # nobody else's
        room.result("bob", name)
    assert code_of(refused) == "no-attempt"


@pytest.mark.parametrize(("text", "code"), [("x", "length"), ("y" * 41, "length"), ("a NASTY, cat", "banned")])
def test_what_is_not_allowed_is_not_made(room: LiveRoom, text: str, code: str) -> None:
    room.agree("ann")
    with room.database.writing() as connection:
        assert ban_words(connection, ["Nasty!", "vile thing"]) == ["nasty", "thing", "vile"]
    with pytest.raises(RefusedError) as refused:
        room.ask("ann", "t", text, ["painter"], ALLOWANCE)
    assert code_of(refused) == code
    with room.database.reading() as connection:
        assert connection.execute(select(attempts)).all() == []


def test_the_queue_is_moderated_and_a_ban_hides_what_waits(room: LiveRoom) -> None:
    room.agree("ann")
    names = [
        room.ask("ann", f"t{n}", text, ["painter"], ALLOWANCE)[0]
        for n, text in enumerate(("a cat", "a nasty cat"))
    ]
    for name in names:
        settled(room, "ann", name)
    with room.database.writing() as connection:
        assert [row["attempt"] for row in moderation_queue(connection)] == names
        ban_words(connection, ["nasty"])
        assert decide(connection, names[:1], "approved") == 1
        assert moderation_queue(connection) == []
        assert [row["moderation"] for row in moderation_queue(connection, everything=True)] == [
            "approved",
            "hidden",
        ]
        with pytest.raises(RefusedError):
            decide(connection, ["nobody"], "approved")


def test_a_full_queue_says_so_and_a_maker_that_raises_is_a_failure() -> None:
    go, made = threading.Event(), list[tuple[str, str]]()

    def slow(order: Order) -> Made:
        go.wait(10)
        raise ValueError(order.attempt)

    makers = Makers({"slow": slow}, lambda name, result: made.append((name, result.status)))
    for number in range(9):  # one is being made, eight wait
        makers.require_room("slow")
        makers.order("slow", Order(str(number), "p", 0))
        time.sleep(0.05 if number == 0 else 0)
    with pytest.raises(RefusedError, match="waiting already"):
        makers.require_room("slow")
    with pytest.raises(RefusedError, match="no target"):
        makers.require_room("other")
    go.set()
    makers.close()
    for _ in range(100):
        if len(made) == 9:
            break
        time.sleep(0.02)
    assert [status for _, status in made] == ["failed"] * 9


def with_painter(folder: Path) -> None:
    file = folder / FILE_NAME
    section = '\n[[generators]]\nname = "dune"\nkind = "painter"\npolicy = "dune"\nwidth = 64\nheight = 64\n'
    file.write_text(file.read_text(encoding="utf-8") + section, encoding="utf-8")


def test_a_target_that_is_not_there_is_named_before_the_start(serve: Serve) -> None:
    with pytest.raises(StudyError, match="target = 'dune' is no \\[\\[generators"):
        serve(WritePromptQuestion(name="attack", target="dune", design=Design(raters=1, trials=1)))


def test_a_rater_writes_waits_and_claims(serve: Serve) -> None:
    question = WritePromptQuestion(name="attack", target="dune", design=Design(raters=2, trials=3))
    served = serve(question, prepare=with_painter)
    rater = served.visitor().begin()
    claim = Response(
        WRITE_PROMPT.pick("fails").answers, (Mark("missing-object", "tag"), Mark("missing-object", "word", word=1))
    )
    assert "target" not in rater.trial["settings"]
    assert rater.answer(claim).json()["detail"]["code"] == "no-result"
    token = rater.trial["trial"]
    prompt = {"trial": token, "text": "three blue cats, in the snow, photo style"}
    assert rater.client.post("/api/live", json=prompt).json()["refused"] == "not-agreed"
    rater.client.post("/api/live/agree")
    attempt = rater.client.post("/api/live", json=prompt).json()["attempts"][0]
    for _ in range(600):
        view = rater.client.get(f"/api/live/result/{attempt}").json()
        if view["status"] != "waiting":
            break
        time.sleep(0.05)
    assert view["status"] == "made"
    assert view["words"] == ["three", "blue", "cats", "in", "the", "snow", "photo", "style"]
    image = rater.client.get(f"/api/live/image/{attempt}")
    assert image.headers["content-type"] == "image/webp"
    assert (
        served.visitor().begin().client.get(f"/api/live/image/{attempt}").status_code == 404
    )  # its author's alone
    assert rater.answer(Response(claim.answers)).status_code == 422  # a claim needs a tag
    outside = (Mark("missing-object", "tag"), Mark("missing-object", "word", word=8))
    assert rater.answer(Response(claim.answers, outside)).status_code == 422
    assert rater.answer(claim).status_code == 200
    refused = rater.client.post("/api/live", json=prompt).json()["detail"]["code"]
    assert refused == "not-current"


def test_who_withdraws_takes_their_prompts_along(room: LiveRoom) -> None:
    for author in ("ann", "bob"):
        room.agree(author)
        (name,) = room.ask(author, "t", "a red cat", ["painter"], ALLOWANCE)
        settled(room, author, name)
    image = room.folder / str(room.last_made("ann", "t").path)  # type: ignore[union-attr]
    assert forget_authors(room.folder, ["ann"]) == 1
    assert image.is_file()  # bob has the same one
    assert forget_authors(room.folder, ["bob", "nobody"]) == 1
    assert not image.exists()
    assert room.standing("ann", "t", ALLOWANCE) == {"agreed": False, "left": 2, "last": None}
