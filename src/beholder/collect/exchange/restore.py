"""Fill the database of a rehearsal from tables of simulated answers: the inverse of the export."""

import secrets as randomness
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, insert, select, update

from beholder.collect.database.schema import Database, persons, responses, sessions, slots
from beholder.collect.database.schema import trials as drawn_trials
from beholder.collect.exchange.load import load
from beholder.collect.session.completion import pay_of
from beholder.errors import StageError
from beholder.study.kinds.kind import AspectAnswer
from beholder.study.study import load_study
from beholder.tables.rehearsals import is_rehearsed
from beholder.tables.store import Store

FRAME_MS = 1000 / 60

Row = Mapping[str, Any]


def restore(folder: Path, url: str) -> None:
    """Fill a new database with the trials of a study, and the simulated sessions and answers of its tables."""
    study, store = load_study(folder), Store(folder)
    if not is_rehearsed(store):
        raise StageError(f"{folder} holds no simulated answers: beholder run {folder} --simulate 30")
    load(folder, url)
    tables = {name: store.read(name).to_dicts() for name in ("sessions", "answers", "marks")}
    database = Database(url)
    with database.writing() as connection:
        ordered = connection.execute(select(drawn_trials).order_by(drawn_trials.c.position))
        trials = {row.trial: dict(row._mapping) for row in ordered}
        plans = _by_slot(trials.values())
        answers, marks = _by_trial(tables["answers"]), _by_trial(tables["marks"])
        connection.execute(insert(persons), _persons(tables["sessions"]))
        for session in tables["sessions"]:
            plan = plans[session["question"], session["slot"]]
            _insert_session(connection, session, plan, answers, marks)
        for row in connection.execute(select(sessions)).all():
            pay = pay_of(connection, study, row, row.status)
            connection.execute(update(sessions).where(sessions.c.session == row.session).values(pay=pay))
    database.engine.dispose()


def _by_trial(rows: Sequence[Row]) -> dict[tuple[str, str], list[Row]]:
    """Group rows by session and trial, in their order."""
    grouped: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        grouped.setdefault((row["session"], row["trial"]), []).append(row)
    return grouped


def _by_slot(trials: Iterable[Row]) -> dict[tuple[str, int], list[Row]]:
    """Group trials by question and slot, in their order."""
    grouped: dict[tuple[str, int], list[Row]] = {}
    for row in trials:
        grouped.setdefault((row["question"], row["slot"]), []).append(row)
    return grouped


def _persons(session_rows: Sequence[Row]) -> list[dict[str, object]]:
    first: dict[str, Row] = {}
    for row in sorted(session_rows, key=lambda row: row["started"]):
        first.setdefault(row["rater"], row)
    return [
        {
            "person": rater,
            "platform": row["platform"],
            "created": row["started"].timestamp(),
            "excluded": False,
            "simulated": True,
        }
        for rater, row in first.items()
    ]


def _insert_session(
    connection: Connection,
    session: Row,
    plan: Sequence[Row],
    answers: Mapping[tuple[str, str], list[Row]],
    marks: Mapping[tuple[str, str], list[Row]],
) -> None:
    """Insert a session with its answers, and close its slot if it is complete."""
    name, started = session["session"], session["started"].timestamp()
    answered = [trial for trial in plan if (name, trial["trial"]) in answers]
    ended = None if session["ended"] is None else session["ended"].timestamp()
    connection.execute(
        insert(sessions).values(
            session=name,
            person=session["rater"],
            question=session["question"],
            slot=session["slot"],
            plan=[trial["trial"] for trial in plan],
            status=session["status"],
            token_hash=randomness.token_hex(16),
            resume_hash=randomness.token_hex(16),
            parameters={},
            language=session["language"] or "en",
            consented=started,
            checked=started,
            begun=started,
            frame_ms=FRAME_MS,
            place=len(answered),
            started=started,
            seen=ended or started,
            ended=ended,
        )
    )
    rows = [
        _response(place, trial, answers[name, trial["trial"]], marks.get((name, trial["trial"]), []))
        for place, trial in enumerate(answered)
    ]
    if rows:
        connection.execute(insert(responses), rows)
    if session["status"] == "complete":
        own = (slots.c.question == session["question"]) & (slots.c.slot == session["slot"])
        connection.execute(update(slots).where(own).values(session=name, done=True))


def _response(place: int, trial: Row, aspects: Sequence[Row], marks: Sequence[Row]) -> dict[str, object]:
    """Return the row of an answer; ``aspects`` are its rows in ``answers``, all alike but for what they say."""
    first = aspects[0]
    is_right = all(_text(row) == trial["expected"] for row in aspects)
    return {
        "session": first["session"],
        "trial": trial["trial"],
        "attempt": first["attempt"],
        "key": f"{place:06d}",
        "place": place,
        "said": [dict(_filled(row, "aspect", "choice", "value", "ranking")) for row in aspects],
        "marks": [_mark(row, trial["images"]) for row in sorted(marks, key=lambda row: row["number"])],
        "seconds": first["seconds"],
        "intended_ms": first["intended_ms"],
        "shown_ms": first["exposure_ms"],
        "dropped": first["dropped_frames"],
        "exposure": None,
        "valid": first["valid"],
        "right": None if trial["expected"] is None else is_right,
        "answered": first["answered"].timestamp(),
    }


def _text(row: Row) -> str:
    ranking = None if row["ranking"] is None else tuple(row["ranking"])
    return AspectAnswer(row["aspect"], row["choice"], row["value"], ranking).text


def _mark(row: Row, images: Sequence[str]) -> dict[str, object]:
    mark = dict(_filled(row, "aspect", "kind", "x", "y", "word", "at_ms"))
    return mark if row["image"] is None else {**mark, "image": images.index(row["image"])}


def _filled(row: Row, *columns: str) -> Iterator[tuple[str, object]]:
    """Yield the columns that hold something."""
    return ((name, row[name]) for name in columns if row[name] is not None)
