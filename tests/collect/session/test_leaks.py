"""Nothing leaks: whatever a browser receives tells neither truth nor role nor origin of an image."""

import io
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from PIL import Image

from beholder.collect.session.trial_view import image_token
from beholder.study.kinds.catalogue import AnyQuestion
from beholder.study.kinds.pair import PairQuestion
from beholder.study.kinds.realism import RealismQuestion
from beholder.study.kinds.rich_feedback import RichFeedbackQuestion
from beholder.study.kinds.timed_realism import TimedRealismQuestion
from beholder.study.question import Design

Serve = Callable[..., Any]
Served = Any  # of conftest.py
Json = dict[str, Any]

TOLD = {
    "step",
    "study",
    "progress",
    "resume",
    "consent",
    "check",
    "instructions",
    "trial",
    "break",
    "debrief",
    "done",
}
TRIAL = {
    "trial",
    "attempt",
    "kind",
    "text",
    "images",
    "prompt",
    "words",
    "instruction",
    "feedback",
    "exposure_ms",
    "settings",
    "options",
    "prefetch",
    "phase",
    "skips_left",
    "break_offered",
}

QUESTIONS: dict[str, AnyQuestion] = {
    "realism": RealismQuestion(
        name="q", design=Design(raters=3, trials=6, training=2, qualification=2, gold_every=3, attention_every=3)
    ),
    "timed-realism": TimedRealismQuestion(
        name="q", design=Design(raters=2, trials=6, attention_every=3, blocks=2)
    ),
    "pair": PairQuestion(
        name="q", design=Design(raters=2, trials=8, gold_every=4, attention_every=4, repeats=2, training=1)
    ),
    "rich-feedback": RichFeedbackQuestion(name="q", design=Design(raters=2, trials=4)),
}


def secrets_of(served: Served) -> Iterator[str]:
    """All words that would give something away."""
    yield from ("gold", "attention", "repeat", "generator", "sha256", "expected", "collect.sqlite", "made-by")
    yield from ("zephyr", "quasar", "nimbus", ".png", ".jpg", "real/")
    for (trial,) in served.rows("select trial from trials"):
        yield trial
    for image, path, digest in served.rows("select image, path, sha256 from pictures"):
        yield from (image, path.rsplit("/", 1)[-1], digest)
    for session, person in served.rows("select session, person from sessions"):
        yield from (session, person)


def values_of(content: object, path: str = "") -> Iterator[tuple[str, object]]:
    if isinstance(content, dict):
        for name, value in content.items():
            yield from values_of(value, f"{path}.{name}")
    elif isinstance(content, list):
        for value in content:
            yield from values_of(value, path)
    else:
        yield path, content


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_whole_session_tells_nothing(serve: Serve, name: str) -> None:
    served = serve(QUESTIONS[name])
    visitor = served.visitor().begin()
    images = []
    while visitor.state["step"] != "done":
        if visitor.state["step"] == "trial":
            assert set(visitor.trial) == TRIAL
            assert visitor.trial["phase"] in ("training", "qualification", "test")
            for picture in visitor.trial["images"]:
                images.append(visitor.client.get(f"/api/image/{picture['token']}"))
        visitor.step()
    words = set(secrets_of(served))
    assert len(words) > 80
    for reply in visitor.replies:
        body = reply.json()
        feedback = body.pop("feedback", None)  # allowed where training or the protocol has it so
        assert feedback is None or name == "timed-realism" or "phase" in json.dumps(body)
        assert set(body.get("state", body)) <= TOLD
        headers = {key: value for key, value in reply.headers.items() if key != "set-cookie"}
        content = json.dumps(body) + json.dumps(headers)
        assert [word for word in words if word in content] == []
    for reply in images:
        assert reply.status_code == 200
        assert {key for key in reply.headers if key not in SAFE_HEADERS} == set()


SAFE_HEADERS = {
    "date",
    "server",
    "content-length",
    "content-type",
    "cache-control",
    "accept-ranges",
    "content-security-policy",
    "x-content-type-options",
    "referrer-policy",
    "permissions-policy",
}


def test_the_right_answer_is_told_after_the_answer_only_and_only_in_training(serve: Serve) -> None:
    served = serve(QUESTIONS["realism"])
    visitor = served.visitor().begin()
    while visitor.state["step"] == "trial":
        phase = visitor.trial["phase"]
        assert visitor.trial["instruction"] is None or visitor.trial["instruction"] in visitor.trial["options"]
        reply = visitor.answer().json()
        assert (reply["feedback"] is not None) == (phase == "training")


def test_images_are_alike_in_everything_but_their_pixels(serve: Serve) -> None:
    served = serve(RealismQuestion(name="q", design=Design(raters=3, trials=8)))
    truth = dict(served.rows("select image, real from pictures"))
    kinds = set()
    for _ in range(2):
        visitor = served.visitor().begin()
        plan = json.loads(served.rows("select plan from sessions order by started desc limit 1")[0][0])
        for trial in plan:
            ((images,),) = served.rows(f"select images from trials where trial = '{trial}'")
            reply = visitor.client.get(f"/api/image/{visitor.trial['images'][0]['token']}")
            assert reply.headers["content-type"] == "image/webp"
            content = reply.content
            assert content[:4] == b"RIFF"
            assert content[12:16] == b"VP8 "  # plain lossy WebP: no extended header, so no EXIF, XMP or ICC
            for trace in (b"EXIF", b"XMP ", b"ICCP", b"made-by"):
                assert trace not in content
            with Image.open(io.BytesIO(content)) as image:
                assert image.format == "WEBP"
                assert image.mode == "RGB"
                assert not image.getexif()
                assert set(image.info) <= {"loop", "background", "timestamp", "duration"}
                assert (image.width, image.height) == tuple(
                    visitor.trial["images"][0][side] for side in ("width", "height")
                )
                assert max(image.size) == 40  # the smallest image's longest side, for all
            kinds.add(truth[json.loads(images)[0]])
            visitor.answer()
    assert kinds == {0, 1}


def test_tokens_are_of_one_session_and_of_a_few_trials(serve: Serve) -> None:
    served = serve(RealismQuestion(name="q", design=Design(raters=3, trials=8, raters_per_item=3)))
    first, second = served.visitor().begin(), served.visitor().begin()
    tokens = [visitor.trial["images"][0]["token"] for visitor in (first, second)]
    tokens += [token for visitor in (first, second) for token in visitor.trial["prefetch"]]
    assert len(set(tokens)) == len(tokens)
    assert len(first.trial["prefetch"]) == 3
    for token in second.trial["prefetch"]:
        assert second.client.get(f"/api/image/{token}").status_code == 200
        assert first.client.get(f"/api/image/{token}").status_code == 404
    names = set()
    while first.state["step"] == "trial":
        names.add(first.trial["trial"])
        first.answer()
    assert not names & {second.trial["trial"]}


@pytest.mark.parametrize("name", ["pair", "realism", "timed-realism"])
def test_no_token_of_an_image_repeats_across_the_trials_of_a_session(serve: Serve, name: str) -> None:
    """A repeated trial or an attention check shows images again: by their tokens nobody can tell."""
    served = serve(QUESTIONS[name])
    visitor = served.visitor().begin()
    tokens: dict[str, set[str]] = {}
    foretold: set[str] = set()
    while visitor.state["step"] != "done":
        if visitor.state["step"] == "trial":
            tokens[visitor.trial["trial"]] = {image["token"] for image in visitor.trial["images"]}
            foretold |= set(visitor.trial["prefetch"])
        visitor.step()
    images = [image for (names,) in served.rows(_SHOWN) for image in json.loads(names)]
    assert len(set(images)) < len(images)  # some do come again
    shown_once = set().union(*tokens.values())
    assert len(shown_once) == sum(map(len, tokens.values())) == len(images)
    assert foretold < shown_once


_SHOWN = "select trials.images from trials join responses on responses.trial = trials.trial"


def test_images_of_far_trials_are_not_found(serve: Serve) -> None:
    served = serve(RealismQuestion(name="q", design=Design(raters=1, trials=10)))
    visitor = served.visitor().begin()
    first = visitor.trial["images"][0]["token"]
    tokens = []
    while visitor.state["step"] == "trial":
        tokens.append(visitor.trial["images"][0]["token"])
        if len(tokens) < 3:  # this trial and the previous one are available
            assert visitor.client.get(f"/api/image/{first}").status_code == 200
        else:
            assert visitor.client.get(f"/api/image/{first}").status_code == 404
        visitor.answer()
    assert visitor.client.get(f"/api/image/{tokens[-1]}").status_code == 200  # until the end
    visitor.walk()
    assert visitor.client.get(f"/api/image/{tokens[-1]}").status_code == 404


def test_images_wait_for_the_consent(serve: Serve) -> None:
    served = serve(RealismQuestion(name="q", design=Design(raters=1, trials=4)))
    phone, desk = served.visitor(), served.visitor()
    link = phone.enter().json()["resume"]
    desk.enter(link)
    token = _token_of_first(served)
    assert phone.client.get(f"/api/image/{token}").status_code == 404
    phone.walk("trial")
    assert phone.trial["images"][0]["token"] == token
    assert desk.client.get(f"/api/image/{token}").status_code == 200


def _token_of_first(served: Served) -> str:
    ((session, plan),) = served.rows("select session, plan from sessions")
    first = json.loads(plan)[0]
    ((images,),) = served.rows(f"select images from trials where trial = '{first}'")
    return image_token(served.service.catalogue.secret("token"), session, first, json.loads(images)[0])


def test_errors_tell_nothing_either(serve: Serve) -> None:
    served = serve(QUESTIONS["realism"])
    visitor = served.visitor().begin()
    words = set(secrets_of(served)) - {"real/", "expected"}
    replies = [
        visitor.answer(said=[{"aspect": "realism", "choice": "x"}]),
        visitor.answer(trial="0" * 32),
        visitor.answer(attempt=9),
        visitor.post("answer", nonsense=1),
        visitor.client.get("/api/image/nothing"),
        visitor.client.get("/api/nothing"),
        visitor.client.get("/openapi.json"),
    ]
    for reply in replies[:-1]:
        assert 400 <= reply.status_code < 500
        assert [word for word in words if word in reply.text] == []
