"""Studies with real visitors come into a panel: the same person is one rater, and nothing leaks into the study."""

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import select, update
from tests.collect.panel.conftest import STUDY, fill

from beholder.collect.database.schema import Database
from beholder.collect.exchange.export import export
from beholder.collect.panel.fair_pay import propose_top_ups, report_time
from beholder.collect.panel.leaving import forget_rater
from beholder.collect.panel.open_log import read_log, write_entry
from beholder.collect.panel.raters import rater_records
from beholder.collect.panel.schema import identities, log, payments, raters, work
from beholder.collect.panel.studies import add_study
from beholder.collect.panel.voices import FLAGS_TO_PAUSE, appeal, decide_appeal, flag_study, study_voices
from beholder.errors import StageError, StorageError
from beholder.study.kinds.realism import RealismQuestion
from beholder.study.question import Design

Serve = Callable[..., Any]


class TestFairPay:
    def test_by_hand(self, panel: Database) -> None:
        # 300 s at 12.00 an hour are 1.00; paid .68: .32 for each of three
        with panel.writing() as connection:
            fill(connection, 3)
            (fair,) = propose_top_ups(connection, STUDY, now=5.0)
            assert propose_top_ups(connection, STUDY, now=6.0)[0].top_ups == fair.top_ups
            rows = connection.execute(select(payments)).all()
        assert (fair.seconds.value, round(fair.hourly_cents)) == (300, 816)
        assert [(row.cents, row.status, row.proposed) for row in rows] == [(32, "proposed", 5.0)] * 3

    def test_a_report_that_contradicts_the_page_is_frozen_until_an_appeal(self, panel: Database) -> None:
        with panel.writing() as connection:
            fill(connection, 5)
            report_time(connection, STUDY, "s0", 1200.0)
            (fair,) = propose_top_ups(connection, STUDY, now=5.0)
            assert (fair.frozen, fair.seconds.value) == (1, 300)
            assert {up.cents for up in fair.top_ups} == {32}
            number = appeal(connection, STUDY, "p-000", "frozen", "my computer slept", now=6.0)
            decide_appeal(connection, number, accept=True, by="ada", reason="plausible", now=7.0)
            (fair,) = propose_top_ups(connection, STUDY, now=8.0)
        assert fair.frozen == 0
        assert {up.rater: up.cents for up in fair.top_ups}["p-000"] == 400 - 68

    def test_what_is_not_there(self, panel: Database) -> None:
        with panel.writing() as connection:
            with pytest.raises(StageError, match="no study"):
                propose_top_ups(connection, "nothing", now=0.0)
            with pytest.raises(StageError, match="no session"):
                report_time(connection, "nothing", "s", 5.0)


class TestRaters:
    def test_a_record(self, panel: Database) -> None:
        answers = [1, 1, 1, 0, 1] * 12 + [0, 0, 1] * 25
        with panel.writing() as connection:
            fill(connection, 3)
            connection.execute(update(work).where(work.c.session == "s0").values(gold=answers))
            records = {record.rater: record for record in rater_records(connection, "ada")}
        record = records["p-000"]
        assert record.accuracy is not None
        assert record.accuracy.value == pytest.approx(sum(answers) / len(answers))
        assert record.drift is not None
        assert record.drift.alarm is not None  # .8 before, a third after
        assert record.gold_rate == 0.2
        assert (record.sessions, record.trials, record.seconds_per_trial, record.hourly) == (1, 30, 10, 816)
        assert records["p-001"].drift is None

    def test_who_is_owed_money_cannot_be_forgotten(self, panel: Database) -> None:
        with panel.writing() as connection:
            fill(connection, 2)
            propose_top_ups(connection, STUDY, now=5.0)
        with pytest.raises(StageError, match="1 open payments"):
            forget_rater(panel, "p-000", now=6.0)
        with panel.reading() as connection:
            assert len(connection.execute(select(raters)).all()) == 2


def test_seven_flags_pause_a_study(panel: Database) -> None:
    with panel.writing() as connection:
        fill(connection, FLAGS_TO_PAUSE)
        paused = [
            flag_study(connection, STUDY, f"p-{n:03d}", "pay too low", "", now=1.0) for n in range(FLAGS_TO_PAUSE)
        ]
        assert flag_study(connection, STUDY, "p-000", "other", "again", now=2.0)
        (voice,) = study_voices(connection)
    assert paused == [False] * (FLAGS_TO_PAUSE - 1) + [True]
    assert (voice.flags, voice.paused, voice.mean_rating) == (FLAGS_TO_PAUSE, True, None)


def test_a_changed_log_is_noticed(panel: Database) -> None:
    with panel.writing() as connection:
        for number in range(3):
            write_entry(connection, "vote", {"number": number}, now=float(number))
        assert len(read_log(connection)) == 3
        connection.execute(update(log).where(log.c.id == 2).values(detail={"number": 9}))
        with pytest.raises(StorageError, match="entry 2"):
            read_log(connection)


def test_the_same_person_in_two_studies_is_one_rater(serve: Serve, panel: Database) -> None:
    question = RealismQuestion(name="q", design=Design(raters=3, trials=4))
    for name in ("first", "second"):
        served = serve(question, name=name)
        served.visitor().begin(PROLIFIC_PID="ada").walk()
        served.visitor().begin().walk()
        export(served.folder, served.url)
        if name == "second":
            with panel.writing() as connection, pytest.raises(StageError, match="give this one another name"):
                add_study(connection, served.folder, researcher="eve", now=1.0)
            settings = served.folder / "study.toml"
            text = settings.read_text(encoding="utf-8").replace('name = "test"', 'name = "second"', 1)
            settings.write_text(text, encoding="utf-8")
        with panel.writing() as connection:
            added = add_study(connection, served.folder, researcher="eve", now=1.0)
            assert added.sessions == 2
    with panel.reading() as connection:
        people = connection.execute(select(identities)).all()
        rows = connection.execute(select(work)).all()
    assert [(row.platform, row.identity) for row in people] == [("prolific", "ada")]
    assert len([row for row in rows if row.rater == people[0].rater]) == 2
    assert len({row.rater for row in rows}) == 3  # who came without an id is another rater in each study
    assert all(row.active_seconds >= 0 and row.trials == 4 for row in rows)
