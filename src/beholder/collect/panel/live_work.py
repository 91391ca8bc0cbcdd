"""What a rater of the panel did in a study that is being served, read from the study's database as it is now."""

from typing import Any

from sqlalchemy import Connection, Row, delete, insert, select, update

from beholder.collect.database.schema import Database, persons, responses, sessions, trials
from beholder.collect.panel.active_time import time_between
from beholder.collect.panel.schema import members, work
from beholder.collect.session.arrival import PANEL
from beholder.collect.session.identity import pseudonym, pseudonym_key
from beholder.study.kinds.catalogue import kind_of
from beholder.study.study import Study

CHECKING = ("gold", "qualification")
"""Roles of trials with a right answer that count towards a rater's accuracy."""


def take_part(connection: Connection, study: Study, database: Database, rater: str) -> None:
    """Note that a rater takes part in a study: from now on its server lets them in.

    Args:
        connection: To the panel, in a write transaction.
        study: Which.
        database: Of the study.
        rater: Of the panel.
    """
    with database.reading() as in_study:
        name = pseudonym(pseudonym_key(in_study), PANEL, rater)
    place = (members.c.study == study.name) & (members.c.pseudonym == name)
    if connection.scalar(select(members.c.rater).where(place)) is None:
        connection.execute(insert(members).values(study=study.name, pseudonym=name, rater=rater))


def note_work(connection: Connection, study: Study, database: Database, rater: str) -> None:
    """Bring the rows of a rater's sessions up to date; what was frozen stays as it is.

    Args:
        connection: To the panel, in a write transaction.
        study: Which.
        database: Of the study.
        rater: Of the panel.
    """
    sessions_by_name = _sessions(connection, study, database, rater)
    own = (work.c.study == study.name) & (work.c.rater == rater)
    session_names = list(sessions_by_name)
    connection.execute(delete(work).where(own, work.c.session.not_in(session_names), work.c.frozen.is_(None)))
    for session, values in sessions_by_name.items():
        here = (work.c.study == study.name) & (work.c.session == session)
        if connection.execute(update(work).where(here).values(**values)).rowcount == 0:
            connection.execute(insert(work).values(study=study.name, session=session, rater=rater, **values))


def work_changes(connection: Connection, study: Study, database: Database, rater: str) -> bool:
    """Whether the rows of a rater's sessions are out of date; most visits to the own page change nothing.

    Args:
        connection: To the panel, in any transaction.
        study: Which.
        database: Of the study.
        rater: Of the panel.

    Returns:
        Whether :func:`note_work` would change anything.
    """
    sessions_by_name = _sessions(connection, study, database, rater)
    own = (work.c.study == study.name) & (work.c.rater == rater)
    held = {row.session: row._mapping for row in connection.execute(select(work).where(own))}
    return held.keys() != sessions_by_name.keys() or any(
        held[session][name] != value
        for session, values in sessions_by_name.items()
        for name, value in values.items()
    )


def _sessions(connection: Connection, study: Study, database: Database, rater: str) -> dict[str, dict[str, Any]]:
    """Return the columns of the rater's sessions, as the study's database has them now."""
    names = list(
        connection.scalars(
            select(members.c.pseudonym).where(members.c.study == study.name, members.c.rater == rater)
        )
    )
    with database.reading() as in_study:
        rows = in_study.execute(
            select(sessions, persons.c.excluded, persons.c.reason)
            .join(persons, persons.c.person == sessions.c.person)
            .where(sessions.c.person.in_(names), sessions.c.status != "no-consent")
        ).all()
        return {row.session: _values(in_study, study, row) for row in rows}


def _values(in_study: Connection, study: Study, session: Row[Any]) -> dict[str, Any]:
    question = study.question(session.question)
    answered = in_study.execute(
        select(responses.c.answered, responses.c.right, trials.c.role, trials.c.expected)
        .join(trials, trials.c.trial == responses.c.trial)
        .where(responses.c.session == session.session, responses.c.valid.is_(True))
        .order_by(responses.c.answered)
    ).all()
    gold = [int(bool(row.right)) for row in answered if row.role in CHECKING and row.expected is not None]
    moments = [session.begun or session.started, *(row.answered for row in answered)]
    measured = session.active_seconds or time_between(moments, kind_of(question).traits.seconds)
    values: dict[str, Any] = {
        "question": session.question,
        "kind": question.kind,
        "status": session.status,
        "started": session.started,
        "ended": session.ended,
        "trials": len(answered),
        "active_seconds": measured,
        "pay_cents": round((session.pay or 0.0) * 100),
        "gold": gold,
        "excluded": (session.reason or "") if session.excluded else None,
    }
    if session.reported_seconds is not None:
        values["reported_seconds"] = session.reported_seconds
    return values
