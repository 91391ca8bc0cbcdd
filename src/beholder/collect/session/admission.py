"""Admission: find or create the rater, the session and a slot for someone who opens a link."""

import secrets as randomness
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, func, insert, select

from beholder.collect.database.schema import events, persons, sessions, slots
from beholder.collect.session.arrival import (
    INVITED,
    OPEN,
    PANEL,
    PROLIFIC,
    Arrival,
    PanelVisitor,
    Proofs,
    arrival_of,
)
from beholder.collect.session.catalogue import Catalogue
from beholder.collect.session.completion import needed_to_leave
from beholder.collect.session.cookies import stamped, token_of
from beholder.collect.session.gold_thinning import begin_thinning
from beholder.collect.session.identity import find_or_create_rater, hash_of, opaque, pseudonym, pseudonym_key
from beholder.collect.session.messages import Enter
from beholder.collect.session.progress import SESSION, change, is_paused, session_by
from beholder.collect.session.slot_lending import is_free, lend_slot
from beholder.errors import RefusedError
from beholder.study.study import Study

SIMULATED = "beholder-simulated"
"""Link parameter that marks simulated raters; its value takes a secret of the database."""

NAMELESS = (OPEN, INVITED)
"""Platforms on which nobody else can name a rater: the cookie of one session vouches for the others, too."""


@dataclass(frozen=True, slots=True)
class Admission:
    """A session, its cookie, and the token of the link that continues it elsewhere (empty for a guest)."""

    session: Row[Any]
    cookie: str
    resume: str
    guest: bool = False


def read_arrival(
    catalogue: Catalogue, study: Study, proofs: Proofs, message: Enter, *, panel_rater: PanelVisitor | None = None
) -> Arrival | None:
    """Read who a link names; ``None`` for a link that continues a session.

    ``panel_rater`` is who took this study on the server of a panel: without another id in the link, it is they.

    Called before the transaction, because it may have to fetch a platform's keys.
    """
    kind, argument = _path(message.path)
    if kind == "r":
        return None
    if _is_simulated(catalogue, message):
        return Arrival(PROLIFIC, message.parameters["PROLIFIC_PID"], message.parameters, proven=True)
    if catalogue.is_rehearsal:
        raise RefusedError(403, "rehearsal", "this is a rehearsal with simulated raters; nobody can take part")
    if panel_rater is not None and kind != "i" and not message.parameters:
        return Arrival(PANEL, panel_rater.rater, {}, proven=True, pace=panel_rater.pace)
    return arrival_of(message.parameters, argument if kind == "i" else None, study.collect, proofs)


def admit(
    connection: Connection,
    catalogue: Catalogue,
    study: Study,
    message: Enter,
    arrival: Arrival | None,
    *,
    cookie: str | None,
    now: float,
) -> Admission:
    """Find or create the session of someone who opens a link.

    A link that continues a session, or a cookie of one, takes precedence; then the platform's id, which is the
    same on any device; an open link creates a new rater. An unproven id on another device than the session's own
    makes a guest, who can continue the trials but do nothing that cannot be undone.
    """
    kind, argument = _path(message.path)
    if arrival is None:
        resumed = session_by(connection, resume_hash=hash_of(argument))
        if resumed is None:
            raise RefusedError(404, "no-such-link", "this link continues no session")
        _platform_of(connection, resumed.person)
        return _readmit(connection, catalogue, study, message, resumed)
    current = session_by(connection, token_hash=hash_of(token_of(cookie))) if cookie else None
    if arrival.refusal is not None and not _is_own_session(connection, arrival, current):
        raise arrival.refusal
    requested = argument if kind == "q" else None
    if requested is not None and requested not in catalogue.questions:
        raise RefusedError(404, "no-such-question", "this link leads to no question")
    if current is not None and arrival.identity is None:
        rater: str | None = current.person
    else:
        rater = find_or_create_rater(
            connection,
            arrival,
            key=pseudonym_key(connection),
            now=now,
            simulated=_is_simulated(catalogue, message),
        )
    if rater is None:
        raise RefusedError(403, "no-invitation", "this invitation is not known")
    platform = _platform_of(connection, rater)
    held = _session_of(connection, rater, requested, current)
    if held is None:
        return _new_session(connection, catalogue, study, message, arrival, rater, requested, now=now)
    is_own = current is not None and (current.session == held.session or platform in NAMELESS)
    if is_own or arrival.proven or _has_same_proof(catalogue, arrival, held):
        return _readmit(connection, catalogue, study, message, held)
    return _admit_guest(connection, catalogue, held, now=now)


def _is_simulated(catalogue: Catalogue, message: Enter) -> bool:
    parameters = message.parameters
    proof = opaque(catalogue.secret("token"), SIMULATED)
    return bool(parameters.get("PROLIFIC_PID")) and parameters.get(SIMULATED) == proof


def _is_own_session(connection: Connection, arrival: Arrival, current: Row[Any] | None) -> bool:
    """Whether the cookie belongs to the rater whom the link names, whose signature may have expired since."""
    if current is None or arrival.identity is None:
        return False
    return bool(current.person == pseudonym(pseudonym_key(connection), arrival.platform, arrival.identity))


def _platform_of(connection: Connection, rater: str) -> str:
    """Return the platform of a rater; refuse an excluded one."""
    row = connection.execute(select(persons.c.platform, persons.c.excluded).where(persons.c.person == rater)).one()
    if row.excluded:
        raise RefusedError(403, "excluded", "this rater takes no further part in the study")
    return str(row.platform)


def _has_same_proof(catalogue: Catalogue, arrival: Arrival, session: Row[Any]) -> bool:
    """Whether the link carries the same proof as when the session began."""
    proof = _proof_hash(catalogue, arrival)
    return proof is not None and session.proof_hash == proof


def _proof_hash(catalogue: Catalogue, arrival: Arrival) -> str | None:
    if not arrival.proof:
        return None
    return opaque(catalogue.secret("token"), "proof", arrival.platform, arrival.proof)


def _session_of(
    connection: Connection, rater: str, requested: str | None, current: Row[Any] | None
) -> Row[Any] | None:
    """Return the rater's session on the requested question, or that of the cookie, a running one, the latest."""
    held = connection.execute(
        select(*SESSION).where(sessions.c.person == rater).order_by(sessions.c.started.desc())
    ).all()
    if requested is not None:
        return next((row for row in held if row.question == requested), None)
    if current is not None and current.person == rater:
        return current
    running = [row for row in held if row.status == "running"]
    return next(iter([*running, *held]), None)


def _new_session(
    connection: Connection,
    catalogue: Catalogue,
    study: Study,
    message: Enter,
    arrival: Arrival,
    rater: str,
    requested: str | None,
    *,
    now: float,
) -> Admission:
    """Create a session and lend it a slot; refused while the study is paused or no slot is free."""
    if is_paused(connection):
        raise RefusedError(409, "paused", "the study is paused; please come back later")
    session = f"s-{randomness.token_hex(10)}"
    key = catalogue.secret("token")
    token, resume = _session_token(key, session), _resume_token(key, session)
    candidates = _questions_by_free_slots(connection, catalogue, now=now) if requested is None else [requested]
    for question in candidates:
        lent = lend_slot(connection, catalogue, study, question, session, now=now)
        if lent is not None:
            break
    else:
        raise RefusedError(409, "full", "all slots are taken")
    row = connection.execute(
        insert(sessions)
        .values(
            session=session,
            person=rater,
            question=question,
            slot=lent.slot,
            plan=lent.plan,
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
        .returning(*SESSION)
    ).one()
    if arrival.pace is not None:
        row = begin_thinning(connection, catalogue, study, row, arrival.pace, now=now)
    return Admission(row, stamped(key, token), resume)


def _questions_by_free_slots(connection: Connection, catalogue: Catalogue, *, now: float) -> list[str]:
    """Order the questions by their free slots, the most first."""
    free = select(slots.c.question, func.count().label("free")).where(is_free(now)).group_by(slots.c.question)
    counts: dict[str, int] = {row.question: row.free for row in connection.execute(free)}
    return sorted(catalogue.questions, key=lambda name: -counts.get(name, 0))


def _readmit(
    connection: Connection, catalogue: Catalogue, study: Study, message: Enter, session: Row[Any]
) -> Admission:
    """Return the same session on a new visit or another device; both may continue, each answer is stored once.

    The language can be changed until consent is given.
    """
    if session.status == "running" and session.consented is None:
        session = change(connection, session.session, language=_language(study, message.language))
    key = catalogue.secret("token")
    return Admission(
        session, stamped(key, _session_token(key, session.session)), _resume_token(key, session.session)
    )


def _admit_guest(connection: Connection, catalogue: Catalogue, session: Row[Any], *, now: float) -> Admission:
    """Return the session to someone who knows only the id; logged the first time, for the researcher."""
    key = catalogue.secret("token")
    token = opaque(key, "guest", session.session)
    if session.guest_hash is None:
        session = change(connection, session.session, guest_hash=hash_of(token))
        connection.execute(insert(events).values(session=session.session, at=now, kind="other-device", detail={}))
    return Admission(session, stamped(key, token), "", guest=True)


def _session_token(key: str, session: str) -> str:
    return opaque(key, "cookie", session)


def _resume_token(key: str, session: str) -> str:
    """Return the token of the link that continues the session on another device."""
    return opaque(key, "resume", session)


def _path(path: str) -> tuple[str, str]:
    """Parse the path of a link: q (a question), i (an invitation), r (a session to continue), or nothing."""
    parts = [part for part in path.split("/") if part]
    if len(parts) == 2 and parts[0] in ("q", "i", "r"):
        return parts[0], parts[1]
    return "", ""


def _language(study: Study, requested: str) -> str:
    languages = [str(code) for code in study.collect.languages]
    short = requested.split("-", maxsplit=1)[0].lower()
    return short if short in languages else languages[0]
