"""Lending a place: the first that is free, perhaps one whose holder gives no sign of life any more."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, and_, or_, select, update

from beholder.collect.database.schema import sessions, slots
from beholder.collect.session.catalogue import Catalogue
from beholder.collect.session.completion import end_session
from beholder.collect.session.later_attempts import with_other_opening
from beholder.collect.session.leases import abandon_unfinished_blocks, nothing_is_left, remaining_plan
from beholder.study.study import Study


@dataclass(frozen=True, slots=True)
class Place:
    """A slot, and the trials that are left to do in it."""

    slot: int
    plan: list[str]


def take_place(
    connection: Connection, catalogue: Catalogue, study: Study, question: str, session: str, *, now: float
) -> Place | None:
    """Lend the first free slot in which something is left to do; ``None`` where there is none."""
    for slot in _free_slots(connection, catalogue, study, question, now=now):
        plan = remaining_plan(connection, catalogue, question, slot)
        here = and_(slots.c.question == question, slots.c.slot == slot)
        if plan:
            until = now + study.collect.lease_minutes * 60
            connection.execute(update(slots).where(here).values(session=session, lease_until=until))
            return Place(slot, with_other_opening(connection, catalogue, question, slot, plan, session))
        if nothing_is_left(connection, question, slot):
            connection.execute(update(slots).where(here).values(done=True))
    return None


def is_free(now: float) -> ColumnElement[bool]:
    """A slot is free if it is not done, and nobody holds it or the lease has run out."""
    return and_(slots.c.done.is_(False), or_(slots.c.session.is_(None), slots.c.lease_until < now))


def complete_finished(connection: Connection, study: Study, *, now: float) -> None:
    """Complete the sessions of people who answered everything and left without saying so."""
    rows = connection.execute(
        select(sessions)
        .join(slots, slots.c.session == sessions.c.session)
        .where(slots.c.done.is_(False), slots.c.lease_until < now, sessions.c.status == "running")
        .with_for_update(of=sessions, skip_locked=True)
    ).all()
    for session in rows:
        if _is_finished(session):
            end_session(connection, study, session, "complete", now=session.seen)


def hand_over(connection: Connection, catalogue: Catalogue, study: Study, session: Row[Any]) -> None:
    """End the session of someone whose lease ran out: at the last sign of life, and paid as far as it went.

    What they answered counts, but for half a staircase; who had answered everything is complete.
    """
    if _is_finished(session):
        end_session(connection, study, session, "complete", now=session.seen)
        return
    abandon_unfinished_blocks(connection, catalogue, session)
    end_session(connection, study, session, "returned", now=session.seen)


def _is_finished(session: Row[Any]) -> bool:
    return session.begun is not None and session.place >= len(session.plan or [])


def _free_slots(
    connection: Connection, catalogue: Catalogue, study: Study, question: str, *, now: float
) -> Iterator[int]:
    """Slots that are free, each locked, with whoever held it sent away.

    The holder's session is locked before the slot, as an answer does it, and neither is waited for: a holder who
    is answering right now is alive.
    """
    last = -1
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
        locked = connection.execute(
            select(slots.c.slot)
            .where(
                slots.c.question == question,
                slots.c.slot == candidate.slot,
                slots.c.session.is_not_distinct_from(candidate.session),
                is_free(now),
            )
            .with_for_update(skip_locked=True)
        ).first()
        if locked is None:
            continue
        if holder is not None and holder.status == "running":
            hand_over(connection, catalogue, study, holder)
        yield candidate.slot
