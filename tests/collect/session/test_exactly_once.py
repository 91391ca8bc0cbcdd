"""An answer is taken once, to the trial that was asked; whatever else comes writes nothing."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from beholder.collect.session.answers import MOST_ATTEMPTS
from beholder.study.kinds.catalogue import AnyQuestion
from beholder.study.kinds.pair import PairQuestion
from beholder.study.kinds.ranking import RankingQuestion
from beholder.study.kinds.rating import RatingQuestion
from beholder.study.kinds.realism import RealismQuestion
from beholder.study.kinds.rich_feedback import RichFeedbackQuestion
from beholder.study.kinds.side_by_side import SideBySideQuestion
from beholder.study.kinds.sweep import SweepQuestion
from beholder.study.kinds.timed_realism import TimedRealismQuestion
from beholder.study.question import Aspect, Design

Serve = Callable[..., Any]
Json = dict[str, Any]

DESIGN = Design(raters=2, trials=4)
REALISM = RealismQuestion(name="q", design=DESIGN)
TIMED = TimedRealismQuestion(name="q", design=DESIGN)


def code(reply: httpx.Response) -> tuple[int, str]:
    return reply.status_code, reply.json()["detail"]["code"]


def test_the_same_key_twice_is_one_answer_and_one_reply(serve: Serve) -> None:
    served = serve(REALISM)
    visitor = served.visitor().begin()
    body = visitor.body()
    first, second = (visitor.post("answer", **body) for _ in range(2))
    assert first.status_code == second.status_code == 200
    assert first.json() == second.json()
    assert served.count("responses") == 1


def test_a_late_copy_is_answered_with_where_the_session_is_now(serve: Serve) -> None:
    served = serve(REALISM)
    visitor = served.visitor().begin()
    body = visitor.body()
    visitor.post("answer", **body)
    visitor.answer()
    late = visitor.post("answer", **body)
    assert late.status_code == 200
    assert late.json()["state"]["progress"]["done"] == 2
    assert served.count("responses") == 2


def test_a_late_copy_of_the_last_answer_finds_the_end(serve: Serve) -> None:
    served = serve(REALISM, collect={"debrief": False})
    visitor = served.visitor().begin()
    while visitor.state["step"] == "trial":
        body = visitor.body()
        visitor.post("answer", **body)
    again = visitor.post("answer", **body)
    assert again.json()["state"]["done"]["outcome"] == "complete"
    assert served.count("responses") == 4


def test_feedback_is_told_again_with_the_copy(serve: Serve) -> None:
    served = serve(RealismQuestion(name="q", design=Design(raters=1, trials=2, training=2)))
    visitor = served.visitor().begin()
    body = visitor.body()
    first, second = (visitor.post("answer", **body).json()["feedback"] for _ in range(2))
    assert first == second
    assert first["expected"] in ("real", "generated")


def test_many_copies_at_once_from_two_browsers(serve: Serve) -> None:
    served = serve(REALISM)
    first, second = served.visitor(), served.visitor()
    first.begin(PROLIFIC_PID="p")
    second.enter(PROLIFIC_PID="p")
    body = first.body()
    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(lambda v: v.client.post("/api/answer", json=body), [first, second] * 8))
    assert {reply.status_code for reply in replies} == {200}
    assert len({reply.text for reply in replies}) == 1
    assert served.count("responses") == 1


def test_two_tabs_that_answer_differently_at_once_leave_one_answer(serve: Serve) -> None:
    served = serve(REALISM)
    first, second = served.visitor(), served.visitor()
    first.begin(PROLIFIC_PID="p")
    second.enter(PROLIFIC_PID="p")
    bodies = [first.body(), second.body()] * 4
    bodies = [body | {"key": letter * 8} for body, letter in zip(bodies, "abcdefgh", strict=True)]
    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(lambda body: first.client.post("/api/answer", json=body), bodies))
    assert sorted(reply.status_code for reply in replies) == [200] + [409] * 7
    assert served.count("responses") == 1


def test_a_reply_that_never_arrived(serve: Serve) -> None:
    """The page waits no longer than a moment, hears nothing, and sends the same again."""
    served = serve(REALISM)
    visitor = served.visitor().begin()
    body = visitor.body()
    with served.service.database.writing():  # the answer must wait in the server
        with pytest.raises(httpx.ReadTimeout):
            visitor.client.post("/api/answer", json=body, timeout=0.3)
        assert served.count("responses") == 0
    reply = visitor.post("answer", **body)
    assert reply.status_code == 200
    assert reply.json()["state"]["progress"]["done"] == 1
    assert served.count("responses") == 1


class TestRefused:
    def test_another_key_for_an_answered_trial(self, serve: Serve) -> None:
        served = serve(REALISM)
        visitor = served.visitor().begin()
        body = visitor.body()
        visitor.post("answer", **body)
        before = served.counts()
        assert code(visitor.post("answer", **(body | {"key": "another-key"}))) == (409, "other-trial")
        assert served.counts() == before

    def test_a_used_key_for_another_trial(self, serve: Serve) -> None:
        served = serve(REALISM)
        visitor = served.visitor().begin()
        key = visitor.body()["key"]
        visitor.answer(key=key)
        before = served.counts()
        assert code(visitor.answer(key=key)) == (409, "key-used")
        assert code(visitor.answer(key=key, trial="0" * 32)) == (409, "key-used")
        assert served.counts() == before
        assert visitor.answer().status_code == 200

    def test_a_forged_trial_another_attempt_a_trial_to_come(self, serve: Serve) -> None:
        served = serve(REALISM)
        visitor, other = served.visitor().begin(), served.visitor().begin()
        before = served.counts()
        assert code(visitor.answer(trial="f" * 32)) == (409, "other-trial")
        assert code(visitor.answer(trial=other.trial["trial"])) == (409, "other-trial")
        assert code(visitor.answer(attempt=2)) == (409, "other-attempt")
        assert visitor.answer(attempt=0).status_code == 422
        assert code(visitor.post("skip", trial=other.trial["trial"], attempt=1, reason="other")) == (
            409,
            "other-trial",
        )
        assert served.counts() == before

    def test_an_answer_before_its_time(self, serve: Serve) -> None:
        served = serve(REALISM)
        ahead, visitor = served.visitor().begin(), served.visitor()
        body = ahead.body()
        visitor.enter()
        for _ in range(3):
            assert code(visitor.post("answer", **body)) == (409, "no-trial")
            visitor.step()
        assert served.count("responses") == 0

    def test_steps_out_of_order(self, serve: Serve) -> None:
        served = serve(REALISM)
        visitor = served.visitor()
        visitor.enter()
        for path in ("begin", "break", "debrief"):
            assert code(visitor.post(path)) == (409, "other-step")
        visitor.walk("trial")
        for path in ("begin", "break", "debrief"):
            assert code(visitor.post(path)) == (409, "other-step")
        consent = {"agreed": True, "hash": "", "version": "1", "language": "en"}
        assert code(visitor.post("consent", **consent)) == (409, "other-step")

    @pytest.mark.parametrize("ms", [499.0, 501.0, 100.0, 0.0])
    def test_an_exposure_that_was_not_asked_for(self, serve: Serve, ms: float) -> None:
        served = serve(TIMED)
        visitor = served.visitor().begin()
        assert visitor.trial["exposure_ms"] == 500
        body = visitor.body()
        before = served.counts()
        forged = body | {"exposure": body["exposure"] | {"intended_ms": ms}}
        assert code(visitor.post("answer", **forged)) == (409, "other-exposure")
        assert code(visitor.post("answer", **(body | {"exposure": None}))) == (422, "no-exposure")
        spoiled = forged | {"spoiled": True, "said": []}
        assert code(visitor.post("answer", **spoiled)) == (409, "other-exposure")
        assert served.counts() == before


class TestSpoiled:
    def test_a_spoiled_trial_is_asked_again_at_the_same_exposure(self, serve: Serve) -> None:
        served = serve(TIMED)
        visitor = served.visitor().begin()
        token = visitor.trial["trial"]
        reply = visitor.answer(spoiled=True, spoiled_reason="dropped frames", said=[], marks=[])
        assert reply.json()["feedback"] is None
        assert (visitor.trial["trial"], visitor.trial["attempt"], visitor.trial["exposure_ms"]) == (token, 2, 500)
        assert visitor.answer(attempt=1).status_code == 409
        visitor.answer()
        assert visitor.trial["attempt"] == 1
        assert served.rows("select attempt, valid from responses order by attempt") == [(1, 0), (2, 1)]

    def test_a_spoiled_answer_moves_no_staircase_and_tells_nothing(self, serve: Serve) -> None:
        served = serve(TIMED)
        visitor = served.visitor().begin()
        reply = visitor.answer(spoiled=True)
        assert reply.json()["feedback"] is None
        assert visitor.trial["exposure_ms"] == 500
        assert served.rows("select valid from responses") == [(0,)]

    def test_nobody_is_stuck_on_a_trial_that_always_spoils(self, serve: Serve) -> None:
        served = serve(TIMED)
        visitor = served.visitor().begin()
        token = visitor.trial["trial"]
        for attempt in range(1, MOST_ATTEMPTS + 1):
            assert (visitor.trial["trial"], visitor.trial["attempt"]) == (token, attempt)
            assert visitor.answer(spoiled=True, said=[], marks=[]).status_code == 200
        assert visitor.trial["trial"] != token
        assert served.rows("select reason from skips") == [("spoiled",)]
        assert visitor.walk().state["done"]["outcome"] == "complete"

    def test_spoiled_is_no_way_to_write_anything(self, serve: Serve) -> None:
        served = serve(TIMED)
        visitor = served.visitor().begin()
        bad = [{"aspect": "realism", "choice": "perhaps"}]
        assert code(visitor.answer(spoiled=True, said=bad)) == (422, "not-allowed")
        assert served.count("responses") == 0


SCALES = (Aspect(name="quality", text="Quality"), Aspect(name="fit", text="Fit"))
QUESTIONS: dict[str, AnyQuestion] = {
    "realism": REALISM,
    "timed-realism": TIMED,
    "pair": PairQuestion(name="q", ties=False, design=DESIGN),
    "side-by-side-5": SideBySideQuestion(name="q", design=DESIGN),
    "ranking": RankingQuestion(name="q", images=3, design=DESIGN),
    "rating": RatingQuestion(name="q", aspects=SCALES, design=DESIGN),
    "continuous": RatingQuestion(name="q", aspects=SCALES[:1], points=0, design=DESIGN),
    "rich-feedback": RichFeedbackQuestion(name="q", design=DESIGN),
    "sweep": SweepQuestion(name="q", images=6, design=DESIGN),
}


def answered(aspect: str, **values: object) -> Json:
    return {"said": [{"aspect": aspect, **values}]}


def rated(*values: float | None) -> Json:
    names = ("plausibility", "alignment", "aesthetics", "overall")
    return {"said": [{"aspect": name, "value": value} for name, value in zip(names, values, strict=True)]}


def marked(**mark: object) -> Json:
    return rated(1, 1, 1, 1) | {"marks": [mark]}


POINT = {"aspect": "implausibility", "kind": "point", "image": 0, "x": 0.5, "y": 0.5}
WORD = {"aspect": "misalignment", "kind": "word", "word": 0}
PRESS = {"aspect": "hit", "kind": "press", "at_ms": 100.0}

DISALLOWED: list[tuple[str, Json]] = [
    ("realism", answered("realism", choice="perhaps")),
    ("realism", answered("realism", value=1)),
    ("realism", answered("realism", choice="real", value=1)),
    ("realism", answered("realism")),
    ("realism", answered("quality", choice="real")),
    ("realism", {"said": []}),
    ("realism", {"said": [{"aspect": "realism", "choice": "real"}] * 2}),
    ("realism", answered("realism", choice="real") | {"marks": [POINT]}),
    ("timed-realism", answered("realism", choice="left")),
    ("pair", answered("preference", choice="tie")),
    ("pair", answered("preference", choice="LEFT")),
    ("side-by-side-5", answered("preference", choice="much better")),
    ("ranking", answered("preference", ranking=[1, 2])),
    ("ranking", answered("preference", ranking=[1, 2, 4])),
    ("ranking", answered("preference", ranking=[1, 2, 3, 3])),
    ("ranking", answered("preference", choice="1 2 3")),
    ("rating", {"said": [{"aspect": "quality", "value": 3}]}),
    ("rating", {"said": [{"aspect": "quality", "value": 0}, {"aspect": "fit", "value": 3}]}),
    ("rating", {"said": [{"aspect": "quality", "value": 6}, {"aspect": "fit", "value": 3}]}),
    ("rating", {"said": [{"aspect": "quality", "value": 2.5}, {"aspect": "fit", "value": 3}]}),
    ("continuous", answered("quality", value=100.1)),
    ("rich-feedback", rated(1, 1, 1, None)),
    ("rich-feedback", rated(1, 1, 1, 9)),
    ("rich-feedback", marked(**POINT | {"aspect": "quality"})),
    ("rich-feedback", marked(**POINT | {"image": 1})),
    ("rich-feedback", marked(**POINT | {"x": None})),
    ("rich-feedback", marked(**WORD | {"word": 5})),  # "a red cube number 3": words 0 to 4
    ("rich-feedback", marked(**WORD | {"word": None})),
    ("rich-feedback", marked(**WORD | {"image": 57})),
    ("rich-feedback", marked(**PRESS)),
    ("rich-feedback", rated(1, 1, 1, 1) | {"marks": [POINT] * 201}),
    ("sweep", answered("realism", value=1)),
    ("sweep", answered("realism", value=-1)),
    ("sweep", answered("realism", value=1) | {"marks": [PRESS | {"at_ms": 5601.0}]}),
    ("sweep", answered("realism", value=1) | {"marks": [PRESS | {"aspect": "miss"}]}),
    ("sweep", answered("realism", value=1) | {"marks": [PRESS | {"image": 57}]}),
    ("sweep", answered("realism", value=2) | {"marks": [PRESS]}),
]


@pytest.mark.parametrize("name", QUESTIONS)
def test_answers_that_a_kind_does_not_allow_write_nothing(serve: Serve, name: str) -> None:
    served = serve(QUESTIONS[name], limited=False)
    visitor = served.visitor().begin()
    before = served.counts()
    for kind, changes in DISALLOWED:
        if kind == name:
            reply = visitor.answer(**changes)
            assert code(reply) == (422, "not-allowed"), (changes, reply.text)
    assert served.counts() == before
    assert visitor.answer().status_code == 200


def test_all_faults_are_told_at_once(serve: Serve) -> None:
    served = serve(QUESTIONS["rich-feedback"])
    visitor = served.visitor().begin()
    message = visitor.answer(**(rated(0, 9, 1, 1) | {"marks": [POINT | {"image": 1}, PRESS]})).json()["detail"][
        "message"
    ]
    for part in ("plausibility: found '0'", "alignment: found '9'", "a point that is not", "a press mark"):
        assert part in message
    malformed = visitor.post("answer", trial="x", attempt=0, key="?", said="no", seconds=-1, more=1)
    assert code(malformed) == (422, "malformed")
    for part in ("trial", "attempt", "key", "said", "seconds", "more"):
        assert f"body.{part}:" in malformed.json()["detail"]["message"]


def test_marks_come_back_as_they_were_made(serve: Serve) -> None:
    served = serve(QUESTIONS["rich-feedback"])
    visitor = served.visitor().begin()
    assert visitor.answer(**(rated(2, 3, 4, 5) | {"marks": [POINT, WORD | {"word": 4}]})).status_code == 200
    ((marks,),) = served.rows("select marks from responses")
    assert '"x": 0.5' in marks
    assert '"word": 4' in marks
