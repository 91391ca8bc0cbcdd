"""Times that cannot be true: bounded by the server's clock, flagged, and no exposure that was not one."""

from collections.abc import Callable
from typing import Any

import pytest

from beholder.collect.exchange.export import export
from beholder.collect.session.admission import SIMULATED
from beholder.collect.session.identity import opaque
from beholder.consolidate.stage import run as consolidate
from beholder.study.kinds.pair import PairQuestion
from beholder.study.kinds.realism import RealismQuestion
from beholder.study.kinds.sweep import SweepQuestion
from beholder.study.kinds.timed_realism import TimedRealismQuestion
from beholder.study.question import Design, Screening
from beholder.tables.store import Store

Serve = Callable[..., Any]
Served = Any  # of conftest.py

ADAPTS = ("staircase", "quest-plus")
IMPOSSIBLE: dict[str, dict[str, object]] = {
    "nothing shown": {"shown_ms": 0, "shown_frames": 0},
    "nothing shown in 30 frames": {"shown_ms": 0},
    "an hour": {"shown_ms": 3_600_000, "shown_frames": 100_000},
    "an hour in 30 frames": {"shown_ms": 3_600_000},
    "dropped frames": {"dropped_frames": 50},
    "blurred": {"blurred": True},
    "no frames": {"frame_ms": 0},
}


def flags(served: Served) -> list[str]:
    client = served.client()
    secret = served.rows("select value from secrets where name = 'researcher'")[0][0]
    client.get("/researcher", params={"token": secret}, follow_redirects=True)
    (row,) = client.get("/researcher/api/raters").json()["rows"]
    flags_of_row: list[str] = row["flags"]
    return flags_of_row


def timed(adapt: str = "staircase") -> TimedRealismQuestion:
    design = Design(raters=1, trials=6)
    return TimedRealismQuestion.model_validate({"name": "q", "adapt": adapt, "design": design.model_dump()})


class TestClaimedSeconds:
    def test_a_hundred_answers_at_machine_speed_are_flagged_whatever_they_claim(self, serve: Serve) -> None:
        design = Design(raters=1, trials=36, repeats=36, attention_every=2, training=10)
        question = PairQuestion(name="q", design=design, screening=Screening(min_seconds=0.5))
        served = serve(question, RealismQuestion(name="other", design=Design(raters=1, trials=2)))
        robot = served.robot().begin("/q/q")
        while robot.state["step"] == "trial":
            assert robot.answer(seconds=5.0).status_code == 200
        assert served.count("responses") >= 100
        assert {"fast", "claimed more time than had passed"} <= set(flags(served))
        ((longest,),) = served.rows("select max(seconds) from responses")
        assert longest < 5.0
        ((events,),) = served.rows("select count(*) from events where kind = 'timing'")
        assert events >= 95
        export(served.folder, served.url)
        consolidate(served.folder)
        (rater,) = Store(served.folder).read("raters").rows(named=True)
        assert rater["median_seconds"] < 0.5
        assert rater["reasons"][0].startswith("fast: ")

    def test_machine_speed_is_flagged_where_the_study_says_nothing(self, serve: Serve) -> None:
        served = serve(RealismQuestion(name="q", design=Design(raters=1, trials=12)))
        robot = served.robot().begin()
        while robot.state["step"] == "trial":
            robot.answer(seconds=0.01)
        assert "fast" in flags(served)

    def test_who_took_the_time_is_believed(self, serve: Serve) -> None:
        served = serve(RealismQuestion(name="q", design=Design(raters=1, trials=6)))
        served.visitor().begin().walk()
        assert served.rows("select distinct seconds from responses") == [(1.5,)]
        assert served.rows("select count(*) from events where kind = 'timing'") == [(0,)]
        assert set(flags(served)) <= {"under the minimum wage", "same answer"}

    def test_reloading_does_not_start_the_clock_again(self, serve: Serve) -> None:
        served = serve(RealismQuestion(name="q", design=Design(raters=1, trials=6)))
        robot = served.robot().begin()
        served.age_trials(4)
        robot.get("state")
        robot.enter()
        robot.answer(seconds=3.0)
        robot.answer(seconds=3.0)
        rows = served.rows("select seconds from responses order by place")
        assert rows[0] == (3.0,)
        assert rows[1][0] < 2.0

    def test_a_break_is_no_time_for_an_answer(self, serve: Serve) -> None:
        served = serve(RealismQuestion(name="q", design=Design(raters=1, trials=4, blocks=2)))
        robot = served.robot().begin()
        robot.walk("break")
        served.age_trials(600)
        robot.step()
        robot.answer(seconds=500.0)
        assert served.rows("select max(seconds) < 10 from responses") == [(1,)]

    def test_the_time_of_simulated_raters_is_simulated(self, serve: Serve) -> None:
        served = serve(timed())
        proof = opaque(served.service.catalogue.secret("token"), SIMULATED)
        robot = served.robot().begin(PROLIFIC_PID="made-1", **{SIMULATED: proof}).walk()
        assert robot.state["done"]["outcome"] == "complete"
        assert served.rows("select distinct seconds, valid from responses") == [(1.5, 1)]


class TestExposures:
    @pytest.mark.parametrize("adapt", ADAPTS)
    @pytest.mark.parametrize("name", IMPOSSIBLE)
    def test_an_impossible_one_is_spoiled_and_asked_again(self, serve: Serve, name: str, adapt: str) -> None:
        served = serve(timed(adapt))
        visitor = served.visitor().begin()
        trial = visitor.trial
        body = visitor.body()
        reply = visitor.post("answer", **(body | {"exposure": body["exposure"] | IMPOSSIBLE[name]}))
        assert reply.status_code == 200
        assert (reply.json()["spoiled"], reply.json()["feedback"]) == (True, None)
        after = visitor.trial
        assert (after["trial"], after["attempt"], after["exposure_ms"]) == (
            trial["trial"],
            2,
            trial["exposure_ms"],
        )
        assert served.rows("select valid from responses") == [(0,)]
        again = visitor.post("answer", **(body | {"exposure": body["exposure"] | IMPOSSIBLE[name]}))
        assert again.json()["spoiled"]  # sent twice, it is the same
        assert visitor.answer().json()["spoiled"] is False
        assert served.rows("select attempt, valid from responses order by attempt") == [(1, 0), (2, 1)]

    @pytest.mark.parametrize("adapt", ADAPTS)
    def test_no_answer_comes_sooner_than_its_own_sequence(self, serve: Serve, adapt: str) -> None:
        served = serve(timed(adapt))
        robot = served.robot().begin()
        for _ in range(5):
            assert robot.answer(seconds=0.2).json()["spoiled"]
        assert served.rows("select count(*) from responses where valid") == [(0,)]
        assert served.rows(
            "select distinct json_extract(detail, '$.reason') from events where kind = 'spoiled'"
        ) == [("server-clock",)]

    def test_viewing_for_a_while_and_sweeps_need_theirs(self, serve: Serve) -> None:
        viewed = RealismQuestion(name="viewed", viewing_ms=500, design=Design(raters=1, trials=2))
        sweep = SweepQuestion(name="sweep", images=8, design=Design(raters=1, trials=2))
        served = serve(viewed, sweep)
        for name in ("viewed", "sweep"):
            visitor = served.visitor().begin(f"/q/{name}")
            refused = visitor.answer(exposure=None)
            assert (refused.status_code, refused.json()["detail"]["code"]) == (422, "no-exposure")
            body = visitor.body()
            blurred = body["exposure"] | {"blurred": True}
            assert visitor.post("answer", **(body | {"exposure": blurred})).json()["spoiled"]
            assert visitor.walk().state["done"]["outcome"] == "complete"
