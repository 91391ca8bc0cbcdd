"""The whole way of a person through the pages: every protocol and kind, every outcome."""

import hashlib
import json
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

from beholder.collect.exchange.export import collected_tables
from beholder.study.kinds.catalogue import KINDS, AnyQuestion
from beholder.study.kinds.pair import PairQuestion
from beholder.study.kinds.rating import RatingQuestion
from beholder.study.kinds.realism import RealismQuestion
from beholder.study.kinds.sweep import SweepQuestion
from beholder.study.kinds.timed_realism import TimedRealismQuestion
from beholder.study.protocols.catalogue import PROTOCOLS
from beholder.study.question import Design, Screening

Serve = Callable[..., Any]
Served = Any  # of conftest.py
Visitor = Any

SMALL: dict[str, dict[str, object]] = {
    "hype-time": {"raters": 3, "trials": 6, "qualification": 4, "blocks": 2},
    "hype-infinity": {"raters": 3, "trials": 6, "qualification": 4},
    "layer6-realism": {"raters": 3, "trials": 6},
    "hpd-pairs": {"raters": 2, "trials": 8, "attention_every": 4, "repeats": 2},
    "hpd-ranking": {"raters": 10, "trials": 4, "attention_every": 2},
    "mos": {"raters": 15, "trials": 4, "attention_every": 2},
    "rich-feedback": {"raters": 3, "trials": 6, "attention_every": 2},
    "side-by-side": {"raters": 3, "trials": 8, "attention_every": 4, "repeats": 2},
}


def smaller(question: AnyQuestion, design: dict[str, object]) -> AnyQuestion:
    changes: dict[str, object] = {"design": question.design.model_copy(update=design)}
    changes["screening"] = question.screening.model_copy(update={"min_qualification": None})
    if question.kind == "ranking":
        changes["images"] = 3
    return question.model_copy(update=changes)


def realism(**design: object) -> RealismQuestion:
    return RealismQuestion(name="q", design=Design.model_validate({"raters": 2, "trials": 4} | design))


def right_answer(served: Served, visitor: Visitor) -> str:
    """What a person who knows all would say; from behind the server's back."""
    ((plan, position),) = served.rows("select plan, place from sessions order by started desc limit 1")
    trial = json.loads(plan)[position]
    ((expected,),) = served.rows(f"select expected from trials where trial = '{trial}'")
    assert visitor.trial["options"] == ["real", "generated"]
    return str(expected)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_protocol_the_whole_way(serve: Serve, protocol: str) -> None:
    questions = [smaller(question, SMALL[protocol]) for question in PROTOCOLS[protocol].questions()]
    served = serve(*questions)
    for question in questions:
        visitor = served.visitor()
        steps = [visitor.enter(f"/q/{question.name}").json()["step"]]
        while visitor.state["step"] != "done":
            reply = visitor.step()
            assert reply.status_code == 200, reply.text
            steps.append(visitor.state["step"])
        trials = steps.count("trial")
        expected = ["consent", "check", "instructions", *["trial"] * trials, "debrief", "done"]
        assert [step for step in steps if step != "break"] == expected
        assert steps.count("break") == question.design.blocks - 1
        assert visitor.state["done"]["outcome"] == "complete"
        assert visitor.state["progress"] == {"done": trials, "total": trials}
    tables = collected_tables(served.url)
    for question in questions:
        kind = KINDS[question.kind]
        question_answers = tables["answers"].filter(pl.col("question") == question.name)
        assert set(question_answers["aspect"]) == set(kind.aspects(question))
        for column in kind.columns:
            assert question_answers[column].null_count() == 0
    assert tables["sessions"]["status"].to_list() == ["complete"] * len(questions)


def test_a_sweep_the_whole_way(serve: Serve) -> None:
    question = SweepQuestion(name="q", images=8, design=Design(raters=2, trials=2))
    served = serve(question)
    visitor = served.visitor().begin()
    assert len(visitor.trial["images"]) == 8
    presses = [
        {"aspect": "hit", "kind": "press", "at_ms": 410.0},
        {"aspect": "hit", "kind": "press", "at_ms": 700.5},
    ]
    assert visitor.answer(said=[{"aspect": "realism", "value": 2}], marks=presses).status_code == 200
    visitor.walk()
    tables = collected_tables(served.url)
    assert tables["answers"]["value"].to_list() == [2.0, 0.0]
    assert tables["marks"].select("number", "kind", "at_ms", "image").rows() == [
        (0, "press", 410.0, None),
        (1, "press", 700.5, None),
    ]


def test_what_someone_agreed_to_is_kept(serve: Serve) -> None:
    texts = {"en": "You look at images.", "de": "Sie sehen Bilder."}
    served = serve(realism(), collect={"consent": texts, "consent_version": "7b"})
    visitor = served.visitor()
    visitor.enter(language="de")
    consent = visitor.state["consent"]
    assert (consent["version"], consent["language"]) == ("7b", "de")
    assert consent["text"].startswith(f"{texts['de']}\n\n# ")  # the terms follow
    good = {"agreed": True, "hash": consent["hash"], "version": "7b", "language": "de"}
    for wrong in ({"hash": "0" * 64}, {"version": "7"}, {"language": "en"}):
        refused = visitor.post("consent", **(good | wrong))
        assert (refused.status_code, refused.json()["detail"]["code"]) == (409, "other-text")
    assert visitor.post("consent", **(good | {"language": "fr"})).status_code == 422
    assert served.rows("select consented from sessions") == [(None,)]
    assert visitor.post("consent", **good).json()["step"] == "check"
    ((digest, version, language, consented),) = served.rows(
        "select consent_hash, consent_version, language, consented from sessions"
    )
    assert digest == hashlib.sha256(consent["text"].encode()).hexdigest()
    assert (version, language) == ("7b", "de")
    assert consented > 0
    assert collected_tables(served.url)["sessions"]["consent"].to_list() == [digest]


def test_who_declines_leaves_at_once_and_frees_the_slot(serve: Serve) -> None:
    served = serve(realism(raters=1), collect={"codes": {"no_consent": "N-9"}})
    visitor = served.visitor()
    visitor.enter()
    done = visitor.consent(agreed=False).json()["done"]
    assert (done["outcome"], done["code"], done["pay"]) == ("no-consent", "N-9", 0)
    assert visitor.post("begin").status_code == 409
    assert served.visitor().enter().status_code == 200


@pytest.mark.parametrize(("frame_ms", "passes"), [(22.2, True), (22.3, False), (41.7, False)])
def test_a_screen_too_slow_for_glimpses(serve: Serve, frame_ms: float, *, passes: bool) -> None:
    question = TimedRealismQuestion(name="q", design=Design(raters=1, trials=4))
    served = serve(question, collect={"codes": {"failed_checks": "F-9"}})
    visitor = served.visitor()
    visitor.enter()
    assert visitor.state["consent"]["masked"]
    visitor.consent()
    assert visitor.state["check"] == {"needs_timing": True, "min_hz": 45.0}
    screen = {"screen_width": 1, "screen_height": 1, "viewport_width": 1, "viewport_height": 1, "zoom": 1}
    visitor.post("check", **screen, pixel_ratio=2, frame_ms=frame_ms, touch=True)
    if passes:
        assert visitor.state["step"] == "instructions"
    else:
        assert visitor.state["done"]["outcome"] == "failed-checks"
        assert visitor.state["done"]["code"] == "F-9"
        assert served.visitor().enter().status_code == 200  # the slot is free


def test_a_slow_screen_does_not_matter_where_nothing_is_timed(serve: Serve) -> None:
    visitor = serve(realism()).visitor()
    visitor.enter()
    visitor.consent()
    screen = {"screen_width": 1, "screen_height": 1, "viewport_width": 1, "viewport_height": 1, "zoom": 1}
    visitor.post("check", **screen, pixel_ratio=2, frame_ms=40.0, touch=True)
    assert visitor.state["step"] == "instructions"


def test_training_says_whether_an_answer_was_right(serve: Serve) -> None:
    served = serve(realism(training=3))
    visitor = served.visitor().begin()
    answers_told = []
    for _ in range(3):
        assert (visitor.trial["phase"], visitor.trial["feedback"]) == ("training", True)
        expected = right_answer(served, visitor)
        reply = visitor.choose("real")
        assert reply.json()["feedback"] == {"right": expected == "real", "expected": expected}
        answers_told.append(expected)
    assert set(answers_told) <= {"real", "generated"}
    assert (visitor.trial["phase"], visitor.trial["feedback"]) == ("test", False)
    assert visitor.answer().json()["feedback"] is None


class TestQualification:
    QUESTION = RealismQuestion(
        name="q",
        design=Design(raters=1, trials=4, qualification=4),
        screening=Screening(min_qualification=0.65),
    )

    def test_who_fails_leaves_and_the_next_gets_the_slot(self, serve: Serve) -> None:
        served = serve(self.QUESTION, collect={"codes": {"screened_out": "S-1"}}, pay={"base": 4.0})
        lazy = served.visitor().begin()
        for number in range(4):
            assert (lazy.state["step"], lazy.trial["phase"]) == ("trial", "qualification"), number
            assert lazy.choose("real").json()["feedback"] is None
        done = lazy.state["done"]
        assert (done["outcome"], done["code"]) == ("screened-out", "S-1")
        assert done["pay"] == 2.0  # 4 of 8 trials of a session worth 4.00
        good = served.visitor().begin()
        for _ in range(4):
            assert good.trial["phase"] == "qualification"
            good.choose(right_answer(served, good))
        assert good.trial["phase"] == "test"
        good.walk()
        answers = collected_tables(served.url)["answers"].join(
            pl.DataFrame(served.rows("select trial, role from trials"), schema=["trial", "role"], orient="row"),
            on="trial",
        )
        tests = answers.filter(pl.col("role") == "test")
        assert sorted(tests["trial"]) == sorted(set(tests["trial"]))
        assert tests.height == 4
        assert answers.filter(pl.col("role") == "qualification").height == 8

    def test_skipping_everything_is_no_way_in(self, serve: Serve) -> None:
        served = serve(self.QUESTION, collect={"max_skips": 10})
        visitor = served.visitor().begin()
        for _ in range(4):
            visitor.post("skip", trial=visitor.trial["trial"], attempt=1, reason="other")
        assert visitor.state["done"]["outcome"] == "screened-out"


def test_breaks_come_between_blocks_and_survive_a_reload(serve: Serve) -> None:
    served = serve(realism(trials=6, blocks=3))
    visitor = served.visitor().begin()
    breaks = []
    while visitor.state["step"] != "debrief":
        if visitor.state["step"] == "break":
            breaks.append((visitor.state["progress"]["done"], visitor.state["break"]))
            assert visitor.get("state").json()["step"] == "break"
        visitor.step()
    assert breaks == [(2, {"block": 1, "blocks": 3}), (4, {"block": 2, "blocks": 3})]


def test_a_skipped_image_costs_nothing(serve: Serve) -> None:
    served = serve(realism(), pay={"base": 3.0})
    visitor = served.visitor().begin()
    token = visitor.trial["trial"]
    visitor.post("skip", trial=token, attempt=1, reason="disturbing", comment="blood")
    assert visitor.state["progress"]["done"] == 1
    assert visitor.trial["trial"] != token
    again = visitor.post("skip", trial=token, attempt=1, reason="disturbing")
    assert (again.status_code, again.json()["detail"]["code"]) == (409, "other-trial")
    visitor.walk()
    assert visitor.state["done"]["pay"] == 3.0
    assert served.rows("select reason, comment from skips") == [("disturbing", "blood")]
    assert served.count("responses") == 4  # another trial came in its place
    assert visitor.state["progress"] == {"done": 5, "total": 5}


def test_the_last_page_asks_about_the_task(serve: Serve) -> None:
    served = serve(realism())
    visitor = served.visitor().begin().walk("debrief")
    assert visitor.post("debrief", clear=6).status_code == 422
    visitor.post("debrief", clear=2, fair=5, comment="Ünclear — <b>why</b>?")
    assert visitor.state["step"] == "done"
    assert served.rows("select clear, fair, text from comments") == [(2, 5, "Ünclear — <b>why</b>?")]
    assert visitor.post("debrief", clear=2).status_code == 409


def test_without_a_debriefing_the_last_answer_completes(serve: Serve) -> None:
    served = serve(realism(), collect={"debrief": False})
    visitor = served.visitor().begin().walk()
    assert visitor.state["done"]["outcome"] == "complete"
    assert served.rows("select status from sessions") == [("complete",)]
    skipper = served.visitor().begin()
    skipper.walk("done", most=3)
    skipper.post("skip", trial=skipper.trial["trial"], attempt=1, reason="broken")
    assert skipper.state["done"]["outcome"] == "complete"


def test_pay_is_the_base_and_the_bonus_for_right_test_trials(serve: Serve) -> None:
    served = serve(realism(training=2), pay={"base": 1.5, "per_right": 0.25})
    visitor = served.visitor().begin()
    for _ in range(5):  # two training trials, then three of four test trials right
        visitor.choose(right_answer(served, visitor))
    wrong = {"real": "generated", "generated": "real"}[right_answer(served, visitor)]
    visitor.choose(wrong)
    assert visitor.walk().state["done"]["pay"] == 1.5 + 3 * 0.25


class TestLeaving:
    def test_the_redirect_is_filled_in_and_quoted(self, serve: Serve) -> None:
        settings = {
            "panel_parameter": "who",
            "redirect": "https://panel.example/end?c={code}&o={outcome}&u={id}&x={extra}",
            "codes": {"complete": "C&1"},
        }
        visitor = serve(realism(), collect=settings).visitor().begin(who="a b/é", extra="1&2").walk()
        assert visitor.state["done"]["redirect"] == (
            "https://panel.example/end?c=C%261&o=complete&u=a%20b%2F%C3%A9&x=1%262"
        )

    def test_mturk_gets_its_assignment_back(self, serve: Serve) -> None:
        parameters = {"workerId": "A1", "assignmentId": "as/1", "turkSubmitTo": "https://workersandbox.mturk.com/"}
        visitor = serve(realism()).visitor().begin(**parameters).walk()
        address = "https://workersandbox.mturk.com/mturk/externalSubmit?assignmentId=as%2F1&code="
        assert visitor.state["done"]["redirect"] == address + visitor.state["done"]["personal_code"]

    @pytest.mark.parametrize(
        "address",
        ["https://evil.example", "https://mturk.com.evil.example", "http://www.mturk.com", "https://[", ""],
    )
    def test_nobody_is_sent_elsewhere_in_mturks_name(self, serve: Serve, address: str) -> None:
        parameters = {"workerId": "A1", "assignmentId": "as", "turkSubmitTo": address}
        visitor = serve(realism(raters=1)).visitor()
        visitor.enter(**parameters)
        assert visitor.consent(agreed=False).json()["done"]["redirect"] is None

    def test_each_outcome_has_its_code(self, serve: Serve) -> None:
        codes = {name: f"code-{name}" for name in ("complete", "no_consent", "withdrawn", "returned")}
        served = serve(realism(raters=1), collect={"codes": codes, "lease_minutes": 5})
        gone = served.visitor().begin()
        served.move_clock(301)
        withdrawn = served.visitor().begin()
        assert withdrawn.post("withdraw", delete=False).json()["done"]["code"] == "code-withdrawn"
        assert gone.get("state").json()["done"]["code"] == "code-returned"
        complete = served.visitor().begin().walk()
        assert complete.state["done"]["code"] == "code-complete"


class TestWithdrawing:
    def test_answers_stay_unless_they_are_to_be_deleted(self, serve: Serve) -> None:
        served = serve(realism(raters=1, trials=6), pay={"base": 3.0})
        visitor = served.visitor().begin()
        visitor.answer()
        visitor.answer()
        done = visitor.post("withdraw", delete=False).json()["done"]
        assert (done["outcome"], done["pay"]) == ("withdrawn", 1.0)
        assert served.count("responses") == 2
        assert (
            visitor.post("answer", trial="0" * 32, attempt=1, key="k" * 8, said=[], seconds=1).status_code == 409
        )
        after = served.visitor().begin()
        assert after.state["progress"]["total"] == 4  # what is left
        after.walk()
        assert served.count("responses") == 6

    def test_deleted_means_deleted_and_asked_of_someone_else(self, serve: Serve) -> None:
        question = TimedRealismQuestion(name="q", design=Design(raters=1, trials=6))
        served = serve(question)
        visitor = served.visitor().begin()
        visitor.answer(spoiled=True, spoiled_reason="blur", said=[], marks=[])
        visitor.answer()
        visitor.post("skip", trial=visitor.trial["trial"], attempt=1, reason="other", comment="mine")
        assert visitor.post("withdraw", delete=True).json()["done"]["outcome"] == "withdrawn"
        assert served.count("responses") == served.count("skips") == served.count("comments") == 0
        assert served.rows("select screen from sessions") == [("null",)]  # JSON's
        after = served.visitor().begin().walk()
        assert after.state["progress"]["total"] == 6

    def test_also_after_the_end(self, serve: Serve) -> None:
        served = serve(realism(raters=1))
        visitor = served.visitor().begin().walk()
        assert served.visitor().enter().status_code == 409  # full
        done = visitor.post("withdraw", delete=True).json()["done"]
        assert done["outcome"] == "complete"  # paid as it was
        assert served.count("responses") == 0
        assert served.visitor().begin().walk().state["progress"]["total"] == 4

    def test_someone_else_at_the_place_leaves_a_gap_that_the_next_fills(self, serve: Serve) -> None:
        served = serve(realism(raters=1, trials=4), collect={"lease_minutes": 5})
        first = served.visitor().begin()
        first.answer()
        first.answer()
        served.move_clock(301)
        second = served.visitor().begin()
        assert second.state["progress"]["total"] == 2
        first.post("withdraw", delete=True)
        second.walk()
        third = served.visitor().begin().walk()
        assert third.state["progress"]["total"] == 2
        assert sorted(served.rows("select count(*) from responses group by trial")) == [(1,)] * 4


def test_pages_of_the_scales_are_told_their_ends(serve: Serve) -> None:
    question = RatingQuestion(name="q", design=Design(raters=1, trials=2))
    visitor = serve(question, PairQuestion(name="p", design=Design(raters=1, trials=2))).visitor()
    visitor.begin("/q/q")
    settings = visitor.trial["settings"]
    (aspect,) = settings["aspects"]
    assert (aspect["name"], aspect["low"], aspect["high"]) == ("quality", "bad", "excellent")
    assert settings["points"] == 5
    assert visitor.trial["prompt"].startswith("a red cube")
