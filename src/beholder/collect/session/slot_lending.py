"""Lending of slots: a new session gets the first free one, which may be that of an expired lease."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, and_, bindparam, or_, select, update

from beholder.collect.database.schema import sessions, slots
from beholder.collect.session.catalogue import Catalogue
from beholder.collect.session.completion import end_session
from beholder.collect.session.later_attempts import vary_opening
from beholder.collect.session.leases import invalidate_unfinished_blocks, is_slot_complete, remaining_plan
from beholder.study.study import Study

_EXPIRED = (
    select(sessions)
    .join(slots, slots.c.session == sessions.c.session)
    .where(slots.c.done.is_(False), slots.c.lease_until < bindparam("now"), sessions.c.status == "running")
)


@dataclass(frozen=True, slots=True)
class LentSlot:
    """A slot lent to a session, and the trials left to do in it."""

    slot: int
    plan: list[str]


def lend_slot(
    connection: Connection, catalogue: Catalogue, study: Study, question: str, session: str, *, now: float
) -> LentSlot | None:
    """Lend the first free slot in which trials are left; ``None`` if there is none."""
    for slot in _free_slots(connection, catalogue, study, question, now=now):
        plan = remaining_plan(connection, catalogue, question, slot)
        here = and_(slots.c.question == question, slots.c.slot == slot)
        if plan:
            until = now + study.collect.lease_minutes * 60
            connection.execute(update(slots).where(here).values(session=session, lease_until=until))
            return LentSlot(slot, vary_opening(connection, catalogue, question, slot, plan, session))
        if is_slot_complete(connection, question, slot):
            connection.execute(update(slots).where(here).values(done=True))
    return None


def is_free(now: float) -> ColumnElement[bool]:
    """Condition that a slot is free: not done, and without a holder or with an expired lease."""
    return and_(slots.c.done.is_(False), or_(slots.c.session.is_(None), slots.c.lease_until < now))


def has_expired_sessions(connection: Connection, *, now: float) -> bool:
    """Whether there is anything that :func:`complete_finished_sessions` would look at."""
    return connection.execute(_EXPIRED.limit(1), {"now": now}).first() is not None


def complete_finished_sessions(connection: Connection, study: Study, *, now: float) -> None:
    """Complete expired sessions in which everything was answered."""
    rows = connection.execute(_EXPIRED.with_for_update(of=sessions, skip_locked=True), {"now": now}).all()
    for session in rows:
        if _is_finished(session):
            end_session(connection, study, session, "complete", now=session.seen)


def end_abandoned_session(connection: Connection, catalogue: Catalogue, study: Study, session: Row[Any]) -> None:
    """End an abandoned session at its last sign of life, paid for the part that was done.

    Its answers count, except those of an unfinished staircase; if everything was answered, it is complete.
    """
    if _is_finished(session):
        end_session(connection, study, session, "complete", now=session.seen)
        return
    invalidate_unfinished_blocks(connection, catalogue, session)
    end_session(connection, study, session, "returned", now=session.seen)


def _is_finished(session: Row[Any]) -> bool:
    return session.begun is not None and session.place >= len(session.plan or [])


def _free_slots(
    connection: Connection, catalogue: Catalogue, study: Study, question: str, *, now: float
) -> Iterator[int]:
    """Yield free slots, each locked, after ending the session of an expired holder.

    The holder's session is locked before the slot, in the order of an answer, and no lock is waited for: a holder
    who is answering right now is active. SQLite has one writer, so that a slot which is free stays free.
    """
    last, alone = -1, connection.dialect.name == "sqlite"
    while True:
        candidate = connection.execute(
            select(slots)
            .where(slots.c.question == question, is_free(now), slots.c.slot > last)
            .order_by(slots.c.slot)
            .limit(1)
        ).first()
        if candidate is None:
            return
        last = candidate.slot
        holder = None
        if candidate.session is not None:
            holder = connection.execute(
                select(sessions).where(sessions.c.session == candidate.session).with_for_update(skip_locked=True)
            ).first()
            if holder is None:
                continue
        locked = (
            alone
            or connection.execute(
                select(slots.c.slot)
                .where(
                    slots.c.question == question,
                    slots.c.slot == candidate.slot,
                    slots.c.session.is_not_distinct_from(candidate.session),
                    is_free(now),
                )
                .with_for_update(skip_locked=True)
            ).first()
        )
        if not locked:
            continue
        if holder is not None and holder.status == "running":
            end_abandoned_session(connection, catalogue, study, holder)
        yield candidate.slot
