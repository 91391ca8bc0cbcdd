"""From the server's database to the tables of the study: row for row, and nothing that names a person.

python -m beholder.collect.exchange.export FOLDER URL
"""

import os
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
from sqlalchemy import Row, select

from beholder.collect.database.clock import clock_in
from beholder.collect.database.schema import (
    DATABASE,
    Database,
    persons,
    questions,
    responses,
    sessions,
    skips,
    trials,
)
from beholder.collect.database.unavailable import usable_database
from beholder.collect.session.slot_lending import complete_finished
from beholder.errors import UserError
from beholder.study.kinds.catalogue import KINDS, AnyQuestion
from beholder.study.study import load_study, question_of
from beholder.tables.catalogue import TABLES
from beholder.tables.stages import COLLECT
from beholder.tables.store import Store
from beholder.tables.work import Outcome, Work, provenance_of


def export(folder: Path, url: str) -> Outcome:
    """Write sessions, answers, skips and marks as they are now; whom the researcher excluded is left out."""
    study, store = load_study(folder), Store(folder)
    with usable_database():
        database = Database(url)
        database.create()
        with database.writing() as connection:
            complete_finished(connection, study, now=clock_in(connection).now())
        database.engine.dispose()
    frames = collected(url)
    record = provenance_of(store, Work(COLLECT, {"server": True}, study.seed))
    store.within(COLLECT).write(frames, record)
    return Outcome("collect", skipped=False, rows={name: frames[name].height for name in COLLECT.outputs})


def collected(url: str) -> dict[str, pl.DataFrame]:
    """The tables from one moment of the database."""
    database = Database(url)
    with usable_database():
        database.create()
    with usable_database(), database.reading() as connection:
        people = {row.person: row for row in connection.execute(select(persons))}
        held = connection.execute(select(sessions).order_by(sessions.c.started, sessions.c.session)).all()
        asked = {row.question: question_of(row.settings) for row in connection.execute(select(questions))}
        answers = connection.execute(
            select(responses, trials.c.images)
            .join(trials, trials.c.trial == responses.c.trial)
            .order_by(responses.c.session, responses.c.place, responses.c.attempt)
        ).all()
        left = connection.execute(select(skips).order_by(skips.c.session, skips.c.place)).all()
    database.engine.dispose()
    kept = {row.session: row for row in held if not people[row.person].excluded}
    counted = [row for row in answers if row.session in kept]
    return {
        "sessions": TABLES["sessions"].frame([_session(row, people[row.person]) for row in kept.values()]),
        "answers": TABLES["answers"].frame(
            [line for row in counted for line in _answers(row, kept[row.session], asked)]
        ),
        "skips": TABLES["skips"].frame([_skip(row, kept[row.session]) for row in left if row.session in kept]),
        "marks": TABLES["marks"].frame([line for row in counted for line in _marks(row)]),
    }


def _session(row: Row[Any], person: Row[Any]) -> dict[str, object]:
    return {
        "session": row.session,
        "rater": row.person,
        "question": row.question,
        "slot": row.slot,
        "status": row.status,
        "started": moment(row.started),
        "ended": None if row.ended is None else moment(row.ended),
        "simulated": person.simulated,
        "platform": person.platform,
        "language": row.language,
        "consent": row.consent_hash,
        "frame_ms": row.frame_ms,
        "pay": row.pay,
    }


def _answers(row: Row[Any], session: Row[Any], asked: Mapping[str, AnyQuestion]) -> list[dict[str, object]]:
    """A row an aspect; a trial that was spoiled before anything was said has its rows, too, with no answer."""
    question = asked[session.question]
    said_of = row.said or [{"aspect": aspect} for aspect in KINDS[question.kind].aspects(question)]
    return [
        {
            "trial": row.trial,
            "session": row.session,
            "rater": session.person,
            "question": session.question,
            "aspect": said["aspect"],
            "attempt": row.attempt,
            "choice": said.get("choice"),
            "value": said.get("value"),
            "ranking": said.get("ranking"),
            "seconds": row.seconds,
            "exposure_ms": row.shown_ms,
            "intended_ms": row.intended_ms,
            "dropped_frames": row.dropped,
            "valid": row.valid,
            "answered": moment(row.answered),
        }
        for said in said_of
    ]


def _skip(row: Row[Any], session: Row[Any]) -> dict[str, object]:
    """Without the comment: it may say who someone is, and stays in the database."""
    return {
        "trial": row.trial,
        "session": row.session,
        "rater": session.person,
        "question": session.question,
        "reason": row.reason,
        "skipped": moment(row.at),
    }


def _marks(row: Row[Any]) -> list[dict[str, object]]:
    """Marks of valid answers; the image is the one the trial showed."""
    if not row.valid:
        return []
    return [
        {
            "trial": row.trial,
            "session": row.session,
            "aspect": mark["aspect"],
            "number": number,
            "kind": mark["kind"],
            "image": None if mark.get("image") is None else row.images[mark["image"]],
            "x": mark.get("x"),
            "y": mark.get("y"),
            "word": mark.get("word"),
            "at_ms": mark.get("at_ms"),
        }
        for number, mark in enumerate(row.marks)
    ]


def moment(seconds: float) -> datetime:
    """A moment from seconds since 1970."""
    return datetime.fromtimestamp(seconds, UTC)


def main() -> int:
    """The command of this module."""
    folder, url = sys.argv[1], os.environ[DATABASE]
    try:
        outcome = export(Path(folder), url)
    except UserError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    sys.stdout.write(f"{outcome}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
