"""Coming in: a person, their session, and a place for them."""

import secrets as randomness
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, func, insert, select

from beholder.collect.database.schema import events, persons, sessions, slots
from beholder.collect.session.arrival import INVITED, OPEN, PROLIFIC, Arrival, Proofs, arrival_of
from beholder.collect.session.catalogue import Catalogue
from beholder.collect.session.completion import needed_to_leave
from beholder.collect.session.cookies import stamped, token_of
from beholder.collect.session.identity import find_or_make_person, hash_of, opaque, pseudonym
from beholder.collect.session.messages import Enter
from beholder.collect.session.progress import SESSION, change, is_paused, session_by
from beholder.collect.session.pseudonym_key import person_key
from beholder.collect.session.slot_lending import is_free, take_place
from beholder.errors import RefusedError
from beholder.study.study import Study

SIMULATED = "beholder-simulated"
"""Parameter by which made-up people say what they are; only who can read the database can make its value."""

NAMELESS = (OPEN, INVITED)
"""Where nobody else can name a person, a cookie of one session vouches for the others, too."""


@dataclass(frozen=True, slots=True)
class Entered:
    """A session, the cookie for it, and the token for its link to another device, which no guest is told."""

    session: Row[Any]
    cookie: str
    resume: str
    guest: bool = False


def arrive(catalogue: Catalogue, study: Study, proofs: Proofs, message: Enter) -> Arrival | None:
    """What the link says of someone; ``None`` for a link that goes on with a session.

    Comes before the transaction: it may have to fetch a platform's keys.
    """
    kind, argument = _path(message.path)
    if kind == "r":
        return None
    if _is_simulated(catalogue, message):
        return Arrival(PROLIFIC, message.parameters["PROLIFIC_PID"], message.parameters, proven=True)
    return arrival_of(message.parameters, argument if kind == "i" else None, study.collect, proofs)


def enter(
    connection: Connection,
    catalogue: Catalogue,
    study: Study,
    message: Enter,
    arrival: Arrival | None,
    *,
    cookie: str | None,
    now: float,
) -> Entered:
    """Find or make the session of someone who opens a link.

    A link that continues a session, or a cookie of one, comes first; then the platform's id, which is the same on
    any device; an open link makes a new person. An id that nothing proves, on another device than the session's
    own, makes a guest: the trials can go on, but what cannot be undone is kept for whoever began.
    """
    kind, argument = _path(message.path)
    if arrival is None:
        resumed = session_by(connection, resume_hash=hash_of(argument))
        if resumed is None:
            raise RefusedError(404, "no-such-link", "this link continues no session")
        _platform_of(connection, resumed.person)
        return _again(connection, catalogue, study, message, resumed)
    current = session_by(connection, token_hash=hash_of(token_of(cookie))) if cookie else None
    if arrival.refusal is not None and not _is_inside(connection, arrival, current):
        raise arrival.refusal
    wanted = argument if kind == "q" else None
    if wanted is not None and wanted not in catalogue.questions:
        raise RefusedError(404, "no-such-question", "this link leads to no question")
    if current is not None and arrival.identity is None:
        person: str | None = current.person
    else:
        person = find_or_make_person(
            connection,
            arrival,
            key=person_key(connection),
            now=now,
            simulated=_is_simulated(catalogue, message),
        )
    if person is None:
        raise RefusedError(403, "no-invitation", "this invitation is not known")
    platform = _platform_of(connection, person)
    held = _session_of(connection, person, wanted, current)
    if held is None:
        return _new_session(connection, catalogue, study, message, arrival, person, wanted, now=now)
    is_own = current is not None and (current.session == held.session or platform in NAMELESS)
    if is_own or arrival.proven or _has_same_proof(catalogue, arrival, held):
        return _again(connection, catalogue, study, message, held)
    return _as_guest(connection, catalogue, held, now=now)


def _is_simulated(catalogue: Catalogue, message: Enter) -> bool:
    parameters = message.parameters
    proof = opaque(catalogue.secret("token"), SIMULATED)
    return bool(parameters.get("PROLIFIC_PID")) and parameters.get(SIMULATED) == proof


def _is_inside(connection: Connection, arrival: Arrival, current: Row[Any] | None) -> bool:
    """Whether the cookie is of a session of the person whom the link names: a signature may have run out since."""
    if current is None or arrival.identity is None:
        return False
    return bool(current.person == pseudonym(person_key(connection), arrival.platform, arrival.identity))


def _platform_of(connection: Connection, person: str) -> str:
    """Where the person comes from; a refusal for one who was excluded."""
    row = connection.execute(
        select(persons.c.platform, persons.c.excluded).where(persons.c.person == person)
    ).one()
    if row.excluded:
        raise RefusedError(403, "excluded", "this person takes no further part in the study")
    return str(row.platform)


def _has_same_proof(catalogue: Catalogue, arrival: Arrival, session: Row[Any]) -> bool:
    """Whether the platform added the same to the link as when the session began."""
    proof = _proof_hash(catalogue, arrival)
    return proof is not None and session.proof_hash == proof


def _proof_hash(catalogue: Catalogue, arrival: Arrival) -> str | None:
    if not arrival.proof:
        return None
    return opaque(catalogue.secret("token"), "proof", arrival.platform, arrival.proof)


def _session_of(
    connection: Connection, person: str, wanted: str | None, current: Row[Any] | None
) -> Row[Any] | None:
    """The session of a person: on the question wanted, or else of the cookie, the running one, the latest."""
    held = connection.execute(
        select(*SESSION).where(sessions.c.person == person).order_by(sessions.c.started.desc())
    ).all()
    if wanted is not None:
        return next((row for row in held if row.question == wanted), None)
    if current is not None and current.person == person:
        return current
    running = [row for row in held if row.status == "running"]
    return next(iter([*running, *held]), None)


def _new_session(
    connection: Connection,
    catalogue: Catalogue,
    study: Study,
    message: Enter,
    arrival: Arrival,
    person: str,
    wanted: str | None,
    *,
    now: float,
) -> Entered:
    """A session with a place. The study may not be paused, and a place must be free."""
    if is_paused(connection):
        raise RefusedError(409, "paused", "the study is paused; please come back later")
    session = f"s-{randomness.token_hex(10)}"
    key = catalogue.secret("token")
    token, resume = _session_token(key, session), _resume_token(key, session)
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
            proof_hash=_proof_hash(catalogue, arrival),
            parameters=needed_to_leave(study, dict(arrival.parameters)),
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
    return Entered(row, stamped(key, token), resume)


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
    key = catalogue.secret("token")
    return Entered(
        session, stamped(key, _session_token(key, session.session)), _resume_token(key, session.session)
    )


def _as_guest(connection: Connection, catalogue: Catalogue, session: Row[Any], *, now: float) -> Entered:
    """The session for someone of whom only the id is known; noted the first time, for the researcher to see."""
    key = catalogue.secret("token")
    token = opaque(key, "guest", session.session)
    if session.guest_hash is None:
        session = change(connection, session.session, guest_hash=hash_of(token))
        connection.execute(insert(events).values(session=session.session, at=now, kind="other-device", detail={}))
    return Entered(session, stamped(key, token), "", guest=True)


def _session_token(key: str, session: str) -> str:
    return opaque(key, "cookie", session)


def _resume_token(key: str, session: str) -> str:
    """The end of the session's link for another device."""
    return opaque(key, "resume", session)


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
