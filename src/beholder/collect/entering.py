"""Coming in: a person, their session, and a place for them."""

import secrets as randomness
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, func, insert, select

from beholder.collect.catalogue import Catalogue
from beholder.collect.database import persons, sessions, slots
from beholder.collect.handover import is_free, take_place
from beholder.collect.identity import arrival_of, find_or_make_person, hash_of, opaque
from beholder.collect.messages import Enter
from beholder.collect.outcome import needed_to_leave
from beholder.collect.person_key import person_key
from beholder.collect.standing import SESSION, change, is_paused, session_by
from beholder.errors import RefusedError
from beholder.study.study import Study

SIMULATED = "beholder-simulated"
"""Parameter by which made-up people say what they are; only who can read the database can make its value."""


@dataclass(frozen=True, slots=True)
class Entered:
    """A session, the token for its cookie, and the token for its link to another device."""

    session: Row[Any]
    token: str
    resume: str


def enter(
    connection: Connection, catalogue: Catalogue, study: Study, message: Enter, *, cookie: str | None, now: float
) -> Entered:
    """Find or make the session of someone who opens a link.

    A link that continues a session, or a cookie of one, comes first; then the platform's id, which is the same on
    any device; an open link makes a new person.
    """
    kind, argument = _path(message.path)
    if kind == "r":
        resumed = session_by(connection, resume_hash=hash_of(argument))
        if resumed is None:
            raise RefusedError(404, "no-such-link", "this link continues no session")
        return _again(connection, catalogue, study, message, resumed)
    arrival = arrival_of(message.parameters, argument if kind == "i" else None, study.collect)
    if arrival is None:
        raise RefusedError(403, "no-entry", "this study is open to invited people only")
    wanted = argument if kind == "q" else None
    if wanted is not None and wanted not in catalogue.questions:
        raise RefusedError(404, "no-such-question", "this link leads to no question")
    known = session_by(connection, token_hash=hash_of(cookie)) if cookie else None
    if known is not None and arrival.identity is None:
        person: str | None = known.person
    else:
        simulated = message.parameters.get(SIMULATED) == opaque(catalogue.secret("token"), SIMULATED)
        person = find_or_make_person(connection, arrival, key=person_key(connection), now=now, simulated=simulated)
    if person is None:
        raise RefusedError(403, "no-invitation", "this invitation is not known")
    if connection.scalar(select(persons.c.excluded).where(persons.c.person == person)):
        raise RefusedError(403, "excluded", "this person takes no further part in the study")
    held = _session_of(connection, person, wanted, known)
    if held is not None:
        return _again(connection, catalogue, study, message, held)
    return _new_session(connection, catalogue, study, message, person, wanted, now=now)


def _session_of(
    connection: Connection, person: str, wanted: str | None, known: Row[Any] | None
) -> Row[Any] | None:
    """The session of a person: on the question wanted, or else of the cookie, the running one, the latest."""
    mine = connection.execute(
        select(*SESSION).where(sessions.c.person == person).order_by(sessions.c.started.desc())
    ).all()
    if wanted is not None:
        return next((row for row in mine if row.question == wanted), None)
    if known is not None and known.person == person:
        return known
    running = [row for row in mine if row.status == "running"]
    return next(iter([*running, *mine]), None)


def _new_session(
    connection: Connection,
    catalogue: Catalogue,
    study: Study,
    message: Enter,
    person: str,
    wanted: str | None,
    *,
    now: float,
) -> Entered:
    """A session with a place. The study may not be paused, and a place must be free."""
    if is_paused(connection):
        raise RefusedError(409, "paused", "the study is paused; please come back later")
    session = f"s-{randomness.token_hex(10)}"
    token, resume = _tokens(catalogue, session)
    for question in [wanted] if wanted is not None else _by_free_places(connection, catalogue, now=now):
        place = take_place(connection, catalogue, study, question, session, now=now)
        if place is not None:
            break
    else:
        raise RefusedError(409, "full", "all places are taken")
    connection.execute(
        insert(sessions).values(
            session=session,
            person=person,
            question=question,
            slot=place.slot,
            plan=place.plan,
            status="running",
            token_hash=hash_of(token),
            resume_hash=hash_of(resume),
            parameters=needed_to_leave(study, message.parameters),
            language=_language(study, message.language),
            breaks=0,
            place=0,
            attempt=1,
            started=now,
            seen=now,
        )
    )
    row = session_by(connection, session=session)
    if row is None:
        raise LookupError(f"session {session} vanished while it was made")
    return Entered(row, token, resume)


def _by_free_places(connection: Connection, catalogue: Catalogue, *, now: float) -> list[str]:
    """The questions, the one with most places free first."""
    free = select(slots.c.question, func.count().label("free")).where(is_free(now)).group_by(slots.c.question)
    counts: dict[str, int] = {row.question: row.free for row in connection.execute(free)}
    return sorted(catalogue.questions, key=lambda name: -counts.get(name, 0))


def _again(
    connection: Connection, catalogue: Catalogue, study: Study, message: Enter, session: Row[Any]
) -> Entered:
    """The same session on a new visit, or on another device: both may go on, each answer is taken once.

    Until someone has agreed to take part they may still choose another language.
    """
    if session.status == "running" and session.consented is None:
        session = change(connection, session.session, language=_language(study, message.language))
    return Entered(session, *_tokens(catalogue, session.session))


def _tokens(catalogue: Catalogue, session: str) -> tuple[str, str]:
    """The session's cookie, and the end of its link for another device."""
    key = catalogue.secret("token")
    return opaque(key, "cookie", session), opaque(key, "resume", session)


def _path(path: str) -> tuple[str, str]:
    """What a link asks for: q (a question), i (an invitation), r (a session to go on with), or nothing."""
    parts = [part for part in path.split("/") if part]
    if len(parts) == 2 and parts[0] in ("q", "i", "r"):
        return parts[0], parts[1]
    return "", ""


def _language(study: Study, wanted: str) -> str:
    known = [str(code) for code in study.collect.languages]
    short = wanted.split("-", maxsplit=1)[0].lower()
    return short if short in known else known[0]
