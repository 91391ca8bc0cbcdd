"""What is exported equals the database row for row, as another reader of it counts."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import polars as pl
from sqlalchemy import update

from beholder.collect.database.schema import persons
from beholder.collect.exchange.comments import trial_comments
from beholder.collect.exchange.export import export
from beholder.study.kinds.rich_feedback import RichFeedbackQuestion
from beholder.study.kinds.timed_realism import TimedRealismQuestion
from beholder.study.question import Design
from beholder.tables.store import Store

Serve = Callable[..., Any]

RICH = RichFeedbackQuestion(name="rich", design=Design(raters=3, trials=4))
TIMED = TimedRealismQuestion(name="timed", design=Design(raters=3, trials=6, blocks=2))


def test_every_row_and_no_other(serve: Serve) -> None:
    served = serve(RICH, TIMED, collect={"lease_minutes": 5})
    marks = [
        {"aspect": "implausibility", "kind": "point", "image": 0, "x": 0.25, "y": 1.0},
        {"aspect": "misalignment", "kind": "word", "word": 2},
    ]
    marker = served.visitor().begin("/q/rich", PROLIFIC_PID="a")
    marker.answer(marks=marks)
    marker.walk()
    glimpser = served.visitor().begin("/q/timed", language="de")
    glimpser.answer(spoiled=True, spoiled_reason="blur", said=[])
    glimpser.walk()
    served.visitor().enter("/q/rich")  # looked at the consent, and is still there
    gone = served.visitor().begin("/q/timed")
    gone.answer()
    served.move_clock(301)
    served.visitor().begin("/q/timed").walk(most=2)
    export(served.folder, served.url)
    store = Store(served.folder)

    sessions = {row["session"]: row for row in store.read("sessions").iter_rows(named=True)}
    columns = "session, person, question, slot, status, started, ended, language, consent_hash, frame_ms, pay"
    rows = served.rows(f"select {columns} from sessions")
    assert len(rows) == len(sessions) == 5
    for session, person, question, slot, status, started, ended, language, consent, frame_ms, pay in rows:
        row = sessions[session]
        assert (row["rater"], row["question"], row["slot"], row["status"]) == (person, question, slot, status)
        assert (row["language"], row["consent"], row["frame_ms"], row["pay"]) == (language, consent, frame_ms, pay)
        assert abs((row["started"] - datetime.fromtimestamp(started, UTC)).total_seconds()) < 1e-3
        assert (row["ended"] is None) == (ended is None)
    assert sorted(row["status"] for row in sessions.values()) == [
        "complete",
        "complete",
        "returned",
        "running",
        "running",
    ]

    answers = {
        (row["session"], row["trial"], row["attempt"], row["aspect"]): row
        for row in store.read("answers").iter_rows(named=True)
    }
    names = "session, trial, attempt, said, seconds, shown_ms, intended_ms, dropped, valid"
    expected = 0
    for session, trial, attempt, aspects, *rest in served.rows(f"select {names} from responses"):
        for part in json.loads(aspects) or [{"aspect": "realism"}]:
            expected += 1
            row = answers[session, trial, attempt, part["aspect"]]
            assert [row["choice"], row["value"]] == [part.get("choice"), part.get("value")]
            assert [
                row["seconds"],
                row["exposure_ms"],
                row["intended_ms"],
                row["dropped_frames"],
                row["valid"],
            ] == rest
            assert row["rater"] == sessions[session]["rater"]
    assert len(answers) == expected

    written = store.read("marks")
    assert written.select("kind", "x", "y", "word").rows() == [("point", 0.25, 1.0, None), ("word", None, None, 2)]
    ((images,),) = served.rows(f"select images from trials where trial = '{written['trial'][0]}'")
    assert written["image"].to_list() == [json.loads(images)[0], None]
    assert store.read("answers").filter(~pl.col("valid")).height == 2  # spoiled; and the staircase broken off


def test_whom_the_researcher_excluded_is_left_out(serve: Serve) -> None:
    served = serve(RICH)
    served.visitor().begin(PROLIFIC_PID="a").walk()
    served.visitor().begin(PROLIFIC_PID="b").walk()
    ((person,),) = served.rows("select person from identities where identity = 'a'")
    with served.service.database.writing() as connection:
        connection.execute(update(persons).where(persons.c.person == person).values(excluded=True))
    export(served.folder, served.url)
    for name in ("sessions", "answers"):
        assert person not in Store(served.folder).read(name)["rater"].to_list()
    assert Store(served.folder).read("sessions").height == 1


def test_nothing_collected_makes_empty_tables(serve: Serve) -> None:
    served = serve(RICH)
    assert export(served.folder, served.url).rows == {"sessions": 0, "answers": 0, "skips": 0, "marks": 0}


def test_who_finished_and_left_is_exported_as_complete(serve: Serve) -> None:
    served = serve(RICH, collect={"lease_minutes": 5})
    served.move_clock(-1000)
    served.visitor().begin().walk("debrief")
    served.visitor().begin().walk(most=2)
    export(served.folder, served.url)
    assert sorted(Store(served.folder).read("sessions")["status"]) == ["complete", "running"]


def test_comments_on_trials_are_read_from_the_database_and_are_in_no_table(serve: Serve) -> None:
    served = serve(RICH)
    for identity, comment in (("a", "I know this house"), ("b", "no"), ("c", "")):
        visitor = served.visitor().begin(PROLIFIC_PID=identity)
        trial = {"trial": visitor.trial["trial"], "attempt": visitor.trial["attempt"]}
        visitor.post("skip", **trial, reason="disturbing", comment=comment)
    ((excluded,),) = served.rows("select person from identities where identity = 'b'")
    with served.service.database.writing() as connection:
        connection.execute(update(persons).where(persons.c.person == excluded).values(excluded=True))
    export(served.folder, served.url)

    (((rater, trial_name), comment),) = trial_comments(served.url).items()
    assert comment == "I know this house"
    skips = Store(served.folder).read("skips")
    assert (rater, trial_name) in set(skips.select("rater", "trial").iter_rows())
    assert skips.height == 2
    assert "comment" not in skips.columns
