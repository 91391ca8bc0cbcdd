"""Actions of the researcher on a running study; each is logged with its reason."""

from typing import Any

from sqlalchemy import Connection, Row, insert, select, update

from beholder.collect.database.schema import control, events, invitations, persons, sessions
from beholder.collect.researcher.slots import settle_slots
from beholder.collect.session.catalogue import Catalogue
from beholder.collect.session.identity import hash_of, new_token
from beholder.collect.session.progress import PAUSED
from beholder.collect.session.slot_lending import end_abandoned_session
from beholder.errors import RefusedError
from beholder.study.study import Study

KIND = "researcher-"
"""Prefix of the kind of every event that the researcher caused."""

EXTEND = "extend"
"""The action that adds slots."""


def log_action(
    connection: Connection,
    action: str,
    reason: str,
    *,
    now: float,
    who: str,
    session: str | None = None,
    **detail: object,
) -> None:
    """Log an action, with the account and the reason."""
    entry = {"who": who, "reason": reason} | detail
    connection.execute(insert(events).values(session=session, at=now, kind=f"{KIND}{action}", detail=entry))


def set_paused(connection: Connection, *, paused: bool, reason: str, now: float, who: str) -> None:
    """Stop handing out slots and trials, or resume."""
    connection.execute(control.delete().where(control.c.name == PAUSED))
    connection.execute(insert(control).values(name=PAUSED, value="yes" if paused else "no"))
    log_action(connection, "pause" if paused else "resume", reason, now=now, who=who)


def exclude(
    connection: Connection, catalogue: Catalogue, study: Study, rater: str, *, reason: str, now: float, who: str
) -> int:
    """Exclude a rater; return how many slots are open again.

    A running session ends, paid for the part that was done. The answers stay in the database, but do not count.
    """
    row = _rater(connection, rater)
    if row.excluded:
        raise RefusedError(409, "excluded", f"{rater} is excluded already")
    running = connection.execute(
        select(sessions).where(sessions.c.person == rater, sessions.c.status == "running")
    ).all()
    for session in running:
        end_abandoned_session(connection, catalogue, study, session)
    connection.execute(update(persons).where(persons.c.person == rater).values(excluded=True, reason=reason))
    opened = settle_slots(connection).opened
    log_action(connection, "exclude", reason, now=now, who=who, person=rater, opened=opened)
    return opened


def include(connection: Connection, rater: str, *, reason: str, now: float, who: str) -> int:
    """Include a rater again; return how many slots are done by it. A session that was ended stays so."""
    row = _rater(connection, rater)
    if not row.excluded:
        raise RefusedError(409, "included", f"{rater} is not excluded")
    connection.execute(update(persons).where(persons.c.person == rater).values(excluded=False, reason=None))
    closed = settle_slots(connection).closed
    log_action(connection, "include", reason, now=now, who=who, person=rater, closed=closed)
    return closed


def close_session(
    connection: Connection, catalogue: Catalogue, study: Study, session: str, *, reason: str, now: float, who: str
) -> None:
    """End a running session as if its lease had expired, paid for the part that was done."""
    row = connection.execute(select(sessions).where(sessions.c.session == session)).first()
    if row is None:
        raise RefusedError(404, "no-such-session", f"there is no session {session}")
    if row.status != "running":
        raise RefusedError(409, "not-running", f"session {session} has ended: {row.status}")
    end_abandoned_session(connection, catalogue, study, row)
    settle_slots(connection)
    log_action(connection, "close-session", reason, now=now, who=who, session=session)


def invite(connection: Connection, count: int, *, about: str, reason: str, now: float, who: str) -> list[str]:
    """Make invitations, one per rater; return the paths of their links. Only hashes are stored."""
    tokens = [new_token() for _ in range(count)]
    connection.execute(
        insert(invitations), [{"invitation_hash": hash_of(token), "note": about, "at": now} for token in tokens]
    )
    log_action(connection, "invite", reason, now=now, who=who, invitations=count, about=about)
    return [f"/i/{token}" for token in tokens]


def _rater(connection: Connection, rater: str) -> Row[Any]:
    row = connection.execute(select(persons).where(persons.c.person == rater).with_for_update()).first()
    if row is None:
        raise RefusedError(404, "no-such-rater", f"there is no rater {rater}")
    return row
