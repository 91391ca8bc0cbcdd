"""State of the slots after answers stop counting or count again, and after a rehearsal."""

from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, and_, exists, func, not_, select, update

from beholder.collect.database.schema import (
    Database,
    comments,
    events,
    identities,
    persons,
    replacements,
    responses,
    sessions,
    skips,
    slots,
    trials,
)
from beholder.collect.session.catalogue import OPENING_ROLES
from beholder.collect.session.leases import COUNTS

NOT_COUNTED = (*OPENING_ROLES, "repeat")
"""Roles that do not keep a slot open: a repeat is asked only together with its original."""


@dataclass(frozen=True, slots=True)
class SettledSlots:
    """Number of slots that were opened, and that were found to be done."""

    opened: int
    closed: int


def settle_slots(connection: Connection) -> SettledSlots:
    """Open or close every slot without a holder according to the answers that count."""
    missing = _has_unsettled_trial()
    opened = connection.execute(
        update(slots).where(slots.c.done.is_(True), missing).values(done=False, session=None, lease_until=0.0)
    )
    complete = and_(slots.c.done.is_(False), slots.c.session.is_(None), not_(missing))
    closed = connection.execute(update(slots).where(complete).values(done=True))
    return SettledSlots(opened.rowcount, closed.rowcount)


def clear_rehearsal(url: str) -> None:
    """Delete the simulated raters of a rehearsal, unless a real rater has taken part."""
    database = Database(url)
    with database.writing() as connection:
        end_rehearsal(connection)
    database.engine.dispose()


def end_rehearsal(connection: Connection) -> None:
    """Delete all raters if all are simulated: they must not hold slots, nor prevent changes of the trials."""
    simulated = connection.scalar(select(func.count()).where(persons.c.simulated.is_(True)))
    real = connection.scalar(select(func.count()).where(persons.c.simulated.is_(False)))
    if real or not simulated:
        return
    for table in (replacements, responses, skips, comments, events, sessions, identities, persons):
        connection.execute(table.delete())
    connection.execute(slots.update().values(session=None, lease_until=0.0, done=False))


def _has_unsettled_trial() -> ColumnElement[bool]:
    """Condition that a trial of the slot has neither an answer nor a skip that counts."""
    answered = exists(
        select(responses.c.trial)
        .join(sessions, sessions.c.session == responses.c.session)
        .join(persons, persons.c.person == sessions.c.person)
        .where(responses.c.trial == trials.c.trial, responses.c.valid.is_(True), COUNTS)
        .correlate(trials)
    )
    skipped = exists(
        select(skips.c.trial)
        .join(sessions, sessions.c.session == skips.c.session)
        .join(persons, persons.c.person == sessions.c.person)
        .where(skips.c.trial == trials.c.trial, COUNTS)
        .correlate(trials)
    )
    return exists(
        select(trials.c.trial)
        .where(
            trials.c.question == slots.c.question,
            trials.c.slot == slots.c.slot,
            trials.c.role.not_in(NOT_COUNTED),
            not_(answered),
            not_(skipped),
        )
        .correlate(slots)
    )
