"""Export of the server's database into the tables of the study, under pseudonyms only.

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

from beholder.collect.database.address import DATABASE
from beholder.collect.database.clock import clock_in
from beholder.collect.database.schema import (
    Database,
    persons,
    questions,
    responses,
    sessions,
    skips,
    trials,
)
from beholder.collect.database.unavailable import usable_database
from beholder.collect.exchange.slots_of_hosts import take_over_slots
from beholder.collect.session.slot_lending import complete_finished_sessions
from beholder.errors import UserError
from beholder.study.kinds.catalogue import KINDS, AnyQuestion
from beholder.study.study import load_study, question_of
from beholder.tables.catalogue import TABLES
from beholder.tables.rehearsals import in_study, is_rehearsed, move_tables_away
from beholder.tables.stages import COLLECT
from beholder.tables.store import Store
from beholder.tables.work import Outcome, Work, provenance_of

NOBODY, REAL, PLAYED, SIMULATED = "nobody", "real raters", "a played rehearsal", "simulated raters"
"""Whose answers the tables of a study hold."""


def export(folder: Path, url: str) -> Outcome:
    """Write sessions, answers, skips and marks as they are now, without raters whom the researcher excluded.

    Slots that other hosts added are taken over into the trials first: answers refer to them.
    """
    study, store = load_study(folder), Store(folder)
    with usable_database():
        database = Database(url)
        database.create()
        with database.writing() as connection:
            complete_finished_sessions(connection, study, now=clock_in(connection).now())
        take_over_slots(study, store, database)
        database.engine.dispose()
    frames = collected_tables(url)
    held = _held_by(store)
    if held == REAL and frames["sessions"].height and frames["sessions"]["simulated"].all():
        note = "The tables hold answers of real raters, and keep them: this rehearsal is only in its own database"
        return Outcome("collect", skipped=True, note=note)
    if held in (PLAYED, SIMULATED) and not frames["sessions"].height:
        note = "Nobody has taken part yet: the tables keep the simulated answers of a rehearsal"
        return Outcome("collect", skipped=True, note=note)
    room = move_tables_away(store, COLLECT.outputs) if held == SIMULATED else None
    record = provenance_of(store, Work(COLLECT, {"server": True}, study.seed))
    store.within(COLLECT).write(frames, record)
    rows = {name: frames[name].height for name in COLLECT.outputs}
    note = "" if room is None else f"The simulated answers that the tables held were moved to {in_study(room)}"
    return Outcome("collect", skipped=False, rows=rows, note=note)


def _held_by(store: Store) -> str:
    """Return whose answers the tables hold; those of a played rehearsal are in its database, too."""
    if not is_rehearsed(store) or not store.read("sessions").height:
        return REAL if store.has("sessions") and store.read("sessions").height else NOBODY
    record = store.provenance("sessions")
    return PLAYED if record is not None and record.settings.get("server") else SIMULATED


def collected_tables(url: str) -> dict[str, pl.DataFrame]:
    """Read the tables from one snapshot of the database."""
    database = Database(url)
    with usable_database():
        database.create()
    with usable_database(), database.reading() as connection:
        raters = {row.person: row for row in connection.execute(select(persons))}
        all_sessions = connection.execute(select(sessions).order_by(sessions.c.started, sessions.c.session)).all()
        questions_by_name = {
            row.question: question_of(row.settings) for row in connection.execute(select(questions))
        }
        answers = connection.execute(
            select(responses, trials.c.images)
            .join(trials, trials.c.trial == responses.c.trial)
            .order_by(responses.c.session, responses.c.place, responses.c.attempt)
        ).all()
        skipped = connection.execute(select(skips).order_by(skips.c.session, skips.c.place)).all()
    database.engine.dispose()
    included = {row.session: row for row in all_sessions if not raters[row.person].excluded}
    counted = [row for row in answers if row.session in included]
    return {
        "sessions": TABLES["sessions"].frame([_session(row, raters[row.person]) for row in included.values()]),
        "answers": TABLES["answers"].frame(
            [line for row in counted for line in _answers(row, included[row.session], questions_by_name)]
        ),
        "skips": TABLES["skips"].frame(
            [_skip(row, included[row.session]) for row in skipped if row.session in included]
        ),
        "marks": TABLES["marks"].frame([line for row in counted for line in _marks(row)]),
    }


def _session(row: Row[Any], rater: Row[Any]) -> dict[str, object]:
    return {
        "session": row.session,
        "rater": row.person,
        "question": row.question,
        "slot": row.slot,
        "status": row.status,
        "started": moment(row.started),
        "ended": None if row.ended is None else moment(row.ended),
        "simulated": rater.simulated,
        "platform": rater.platform,
        "language": row.language,
        "consent": row.consent_hash,
        "frame_ms": row.frame_ms,
        "pay": row.pay,
    }


def _answers(
    row: Row[Any], session: Row[Any], questions_by_name: Mapping[str, AnyQuestion]
) -> list[dict[str, object]]:
    """Return one row per aspect; a trial that was spoiled before an answer has its rows, too, without a value."""
    question = questions_by_name[session.question]
    aspects = row.said or [{"aspect": name} for name in KINDS[question.kind].aspects(question)]
    return [
        {
            "trial": row.trial,
            "session": row.session,
            "rater": session.person,
            "question": session.question,
            "aspect": aspect["aspect"],
            "attempt": row.attempt,
            "choice": aspect.get("choice"),
            "value": aspect.get("value"),
            "ranking": aspect.get("ranking"),
            "seconds": row.seconds,
            "exposure_ms": row.shown_ms,
            "intended_ms": row.intended_ms,
            "dropped_frames": row.dropped,
            "valid": row.valid,
            "answered": moment(row.answered),
        }
        for aspect in aspects
    ]


def _skip(row: Row[Any], session: Row[Any]) -> dict[str, object]:
    """Return the row of a skip; its comment may identify the rater, and stays in the database."""
    return {
        "trial": row.trial,
        "session": row.session,
        "rater": session.person,
        "question": session.question,
        "reason": row.reason,
        "skipped": moment(row.at),
    }


def _marks(row: Row[Any]) -> list[dict[str, object]]:
    """Return the marks of a valid answer, with the names of the images."""
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
    """Convert seconds since 1970 to a time stamp in UTC."""
    return datetime.fromtimestamp(seconds, UTC)


def main() -> int:
    """Run the command of this module."""
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
