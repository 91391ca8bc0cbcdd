"""What the researcher may do to a running study; each deed is noted with its reason."""

from typing import Any

from sqlalchemy import Connection, Row, insert, select, update

from beholder.collect.database.schema import control, events, invitations, persons, sessions
from beholder.collect.researcher.slots import settle_places
from beholder.collect.session.catalogue import Catalogue
from beholder.collect.session.identity import hash_of, new_token
from beholder.collect.session.progress import PAUSED
from beholder.collect.session.slot_lending import hand_over
from beholder.errors import RefusedError
from beholder.study.study import Study

KIND = "researcher-"
"""Beginning of the kind of every event that the researcher caused."""


def note(
    connection: Connection,
    action: str,
    reason: str,
    *,
    now: float,
    who: str,
    session: str | None = None,
    **detail: object,
) -> None:
    """Write down what was done, by which account and why."""
    entry = {"who": who, "reason": reason} | detail
    connection.execute(insert(events).values(session=session, at=now, kind=f"{KIND}{action}", detail=entry))


def set_paused(connection: Connection, *, paused: bool, reason: str, now: float, who: str) -> None:
    """Stop handing out places and trials, or go on."""
    connection.execute(control.delete().where(control.c.name == PAUSED))
    connection.execute(insert(control).values(name=PAUSED, value="yes" if paused else "no"))
    note(connection, "pause" if paused else "resume", reason, now=now, who=who)


def exclude(
    connection: Connection, catalogue: Catalogue, study: Study, person: str, *, reason: str, now: float, who: str
) -> int:
    """Leave a person's answers out from now on; how many places are open again for it.

    Whatever they are doing ends, and is paid for as far as it went. The answers stay in the database.
    """
    row = _person(connection, person)
    if row.excluded:
        raise RefusedError(409, "excluded", f"{person} is left out already")
    running = connection.execute(
        select(sessions).where(sessions.c.person == person, sessions.c.status == "running")
    ).all()
    for session in running:
        hand_over(connection, catalogue, study, session)
    connection.execute(update(persons).where(persons.c.person == person).values(excluded=True, reason=reason))
    opened = settle_places(connection).opened
    note(connection, "exclude", reason, now=now, who=who, person=person, opened=opened)
    return opened


def include(connection: Connection, person: str, *, reason: str, now: float, who: str) -> int:
    """Count a person's answers again; how many places are done for it. A session that was ended stays so."""
    row = _person(connection, person)
    if not row.excluded:
        raise RefusedError(409, "included", f"{person} is not left out")
    connection.execute(update(persons).where(persons.c.person == person).values(excluded=False, reason=None))
    closed = settle_places(connection).closed
    note(connection, "include", reason, now=now, who=who, person=person, closed=closed)
    return closed


def close_session(
    connection: Connection, catalogue: Catalogue, study: Study, session: str, *, reason: str, now: float, who: str
) -> None:
    """End a session that still runs: as if its lease had run out, and paid as far as it went."""
    row = connection.execute(select(sessions).where(sessions.c.session == session)).first()
    if row is None:
        raise RefusedError(404, "no-such-session", f"there is no session {session}")
    if row.status != "running":
        raise RefusedError(409, "not-running", f"session {session} has ended: {row.status}")
    hand_over(connection, catalogue, study, row)
    settle_places(connection)
    note(connection, "close-session", reason, now=now, who=who, session=session)


def invite(connection: Connection, count: int, *, about: str, reason: str, now: float, who: str) -> list[str]:
    """New invitations, each for one person: the ends of their links. Only hashes are kept."""
    tokens = [new_token() for _ in range(count)]
    connection.execute(
        insert(invitations), [{"invitation_hash": hash_of(token), "note": about, "at": now} for token in tokens]
    )
    note(connection, "invite", reason, now=now, who=who, invitations=count, about=about)
    return [f"/i/{token}" for token in tokens]


def _person(connection: Connection, person: str) -> Row[Any]:
    row = connection.execute(select(persons).where(persons.c.person == person).with_for_update()).first()
    if row is None:
        raise RefusedError(404, "no-such-person", f"there is no person {person}")
    return row
