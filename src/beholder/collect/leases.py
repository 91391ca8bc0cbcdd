"""Places: a slot is lent to a session, kept by signs of life, and free again when they stop."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Row, and_, bindparam, or_, select, update

from beholder.collect.catalogue import OPENING_ROLES, Catalogue, Trial
from beholder.collect.database import persons, responses, sessions, skips, slots, trials
from beholder.study.kinds.timed_realism import TimedRealismQuestion

COUNTED = ("complete", "running", "returned", "withdrawn")
"""Sessions whose answers count; those of people who were screened out do not."""

RENEWALS = 10
"""A lease is renewed with the first sign of life in each such part of it: at least nine parts are always left."""

_HELD = update(slots).where(
    slots.c.question == bindparam("in_question"),
    slots.c.slot == bindparam("in_slot"),
    slots.c.session == bindparam("by"),
    slots.c.done.is_(False),
)


def keep_place(connection: Connection, session: Row[Any], *, now: float, lease_seconds: float) -> None:
    """A sign of life of a session, whose row says when the one before it was."""
    part = lease_seconds / RENEWALS
    if session.status == "running" and now // part != session.seen // part:
        connection.execute(_HELD, {**_place_of(session), "lease_until": now + lease_seconds})


def release_place(connection: Connection, session: Row[Any]) -> None:
    """Give the slot back at the end of a session: done if nothing is left to do in it, else free for another."""
    done = _nothing_is_left(connection, session)
    values: dict[str, object] = {"done": True} if done else {"session": None, "lease_until": 0.0}
    connection.execute(_HELD.values(values), _place_of(session))


def reopen_place(connection: Connection, session: Row[Any]) -> None:
    """After a session's answers were deleted: its slot is to be done anew, unless someone else is at it."""
    here = and_(slots.c.question == session.question, slots.c.slot == session.slot)
    theirs = or_(slots.c.done.is_(True), slots.c.session == session.session)
    connection.execute(update(slots).where(here, theirs).values(session=None, lease_until=0.0, done=False))


def abandon_unfinished_blocks(
    connection: Connection, catalogue: Catalogue, question: str, slot: int, session: str
) -> None:
    """A staircase broken off is no staircase: its answers stop counting, and the block is asked anew."""
    if not isinstance(catalogue.questions[question], TimedRealismQuestion):
        return
    mine = responses.c.session == session
    answered = set(connection.scalars(select(responses.c.trial).where(mine, responses.c.valid.is_(True))))
    passed = answered | set(connection.scalars(select(skips.c.trial).where(skips.c.session == session)))
    tested = [trial for trial in catalogue.slot(question, slot).values() if trial.role not in OPENING_ROLES]
    unfinished = {trial.block for trial in tested if trial.trial not in passed}
    lost = [trial.trial for trial in tested if trial.block in unfinished and trial.trial in answered]
    if lost:
        connection.execute(update(responses).where(mine, responses.c.trial.in_(lost)).values(valid=False))


def remaining_plan(connection: Connection, catalogue: Catalogue, question: str, slot: int) -> list[str]:
    """Trials that a session is to do in a slot: the opening, and what nobody has answered yet; none if nothing is.

    A repeated trial is asked only of the person who is to answer it the first time.
    """
    known = catalogue.slot(question, slot)
    answered = _answered(connection, list(known))
    open_trials = {
        name for name, trial in known.items() if trial.role not in OPENING_ROLES and name not in answered
    }
    asked = {name for name in open_trials if _is_asked(known[name], open_trials)}
    if not asked:
        return []
    return [name for name, trial in known.items() if trial.role in OPENING_ROLES or name in asked]


def _nothing_is_left(connection: Connection, session: Row[Any]) -> bool:
    asked = select(trials.c.trial).where(
        trials.c.question == session.question,
        trials.c.slot == session.slot,
        trials.c.role.not_in((*OPENING_ROLES, "repeat")),
    )
    names = list(connection.scalars(asked))
    return set(names) <= _answered(connection, names)


def _place_of(session: Row[Any]) -> dict[str, object]:
    return {"in_question": session.question, "in_slot": session.slot, "by": session.session}


def _is_asked(trial: Trial, open_trials: set[str]) -> bool:
    return trial.role != "repeat" or trial.repeats in open_trials


def _answered(connection: Connection, names: Sequence[str]) -> set[str]:
    """Trials of these with an answer that counts, or that was skipped for good."""
    counted = (
        select(responses.c.trial)
        .join(sessions, sessions.c.session == responses.c.session)
        .join(persons, persons.c.person == sessions.c.person)
        .where(
            responses.c.trial.in_(names),
            responses.c.valid.is_(True),
            sessions.c.status.in_(COUNTED),
            persons.c.excluded.is_(False),
        )
    )
    return set(connection.scalars(counted)) | set(
        connection.scalars(select(skips.c.trial).where(skips.c.trial.in_(names)))
    )
