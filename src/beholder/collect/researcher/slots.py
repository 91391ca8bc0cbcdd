"""State of the slots after answers stop counting or count again, and who may not take them."""

from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import ColumnElement, Connection, and_, exists, func, not_, select, update

from beholder.collect.database.address import FILE_NAME
from beholder.collect.database.schema import (
    Database,
    persons,
    responses,
    sessions,
    skips,
    slots,
    thinned,
    trials,
)
from beholder.collect.session.catalogue import OPENING_ROLES
from beholder.collect.session.leases import COUNTS
from beholder.errors import StageError

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


def refuse_simulated_raters(folder: Path, url: str) -> None:
    """Refuse to serve a study whose database holds simulated raters alone: earlier versions rehearsed in it."""
    database = Database(url)
    with database.reading() as connection:
        counts = {
            is_simulated: connection.scalar(select(func.count()).where(persons.c.simulated.is_(is_simulated)))
            for is_simulated in (True, False)
        }
    database.engine.dispose()
    if counts[True] and not counts[False]:
        raise StageError(
            f"the database of {folder} holds {counts[True]} simulated raters of a rehearsal and nobody else; they "
            "would take slots of the study. Nothing was changed. Move the database away (by default "
            f"{folder / FILE_NAME} and the files beside it), and start again."
        )


def _has_unsettled_trial() -> ColumnElement[bool]:
    """Condition that a trial of the slot has neither an answer nor a skip that counts, and is no spared gold."""
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
    spared = exists(
        select(thinned.c.trial)
        .join(sessions, sessions.c.session == thinned.c.session)
        .join(persons, persons.c.person == sessions.c.person)
        .where(thinned.c.trial == trials.c.trial, COUNTS)
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
            not_(spared),
        )
        .correlate(slots)
    )
