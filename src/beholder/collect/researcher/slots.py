"""Places after someone's answers stopped counting, or count again: open where something is missing, else done."""

from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, and_, exists, not_, select, update

from beholder.collect.database.schema import persons, responses, sessions, skips, slots, trials
from beholder.collect.session.catalogue import OPENING_ROLES
from beholder.collect.session.leases import COUNTS

NOT_COUNTED = (*OPENING_ROLES, "repeat")
"""Roles that do not keep a place open by themselves: a repeat is asked only along with its first."""


@dataclass(frozen=True, slots=True)
class Settled:
    """How many places were opened, and how many found done."""

    opened: int
    closed: int


def settle_places(connection: Connection) -> Settled:
    """Bring every place that nobody holds in line with the answers that count."""
    missing = _something_is_missing()
    opened = connection.execute(
        update(slots).where(slots.c.done.is_(True), missing).values(done=False, session=None, lease_until=0.0)
    )
    whole = and_(slots.c.done.is_(False), slots.c.session.is_(None), not_(missing))
    closed = connection.execute(update(slots).where(whole).values(done=True))
    return Settled(opened.rowcount, closed.rowcount)


def _something_is_missing() -> ColumnElement[bool]:
    """Whether a trial of the slot has neither an answer nor a skip that counts."""
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
