"""Places: a slot is lent to a session, kept by signs of life, and free again when they stop."""

from collections.abc import Collection
from typing import Any

from sqlalchemy import Connection, Row, and_, bindparam, delete, or_, select, update

from beholder.collect.database.schema import persons, replacements, responses, sessions, skips, slots, trials
from beholder.collect.session.catalogue import OPENING_ROLES, Catalogue, Trial
from beholder.study.kinds.catalogue import kind_of

COUNTED = ("complete", "running", "returned", "withdrawn")
"""Sessions whose answers count; those of people who were screened out do not."""

COUNTS = and_(sessions.c.status.in_(COUNTED), persons.c.excluded.is_(False))
"""Whether what a session did, answers and skips alike, counts; over sessions joined with their persons."""

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
    """Give the slot back at the end of a session: done if nothing is left to do in it, else free for another.

    Trials of other slots that the session had in its plan are theirs again, unless they were answered.
    """
    connection.execute(delete(replacements).where(replacements.c.session == session.session))
    done = nothing_is_left(connection, session.question, session.slot)
    values: dict[str, object] = {"done": True} if done else {"session": None, "lease_until": 0.0}
    connection.execute(_HELD.values(values), _place_of(session))


def reopen_places(connection: Connection, catalogue: Catalogue, session: Row[Any]) -> None:
    """After a session's answers were deleted: what it answered, in its slot and in others, is to be asked again.

    A slot that someone else is at stays theirs; what is then missing is asked of whoever comes after.
    """
    tested = (trial for trial in catalogue.trials_of(session).values() if trial.role not in OPENING_ROLES)
    here = and_(slots.c.question == session.question, slots.c.slot.in_({trial.slot for trial in tested}))
    theirs = or_(slots.c.done.is_(True), slots.c.session == session.session)
    connection.execute(update(slots).where(here, theirs).values(session=None, lease_until=0.0, done=False))


def close_place(connection: Connection, question: str, slot: int) -> None:
    """After a trial was answered in another session than the slot's: done, if nobody is at it and nothing is left.

    Someone who is just being lent the slot is not waited for: then it is found done when they leave.
    """
    unheld = connection.execute(
        select(slots.c.slot)
        .where(
            slots.c.question == question,
            slots.c.slot == slot,
            slots.c.session.is_(None),
            slots.c.done.is_(False),
        )
        .with_for_update(skip_locked=True)
    ).first()
    if unheld is not None and nothing_is_left(connection, question, slot):
        here = and_(slots.c.question == question, slots.c.slot == slot)
        connection.execute(update(slots).where(here).values(done=True))


def abandon_unfinished_blocks(connection: Connection, catalogue: Catalogue, session: Row[Any]) -> None:
    """A staircase broken off is no staircase: its answers stop counting, and the block is asked anew."""
    question = catalogue.questions[session.question]
    if kind_of(question).adaptive(question) is None:
        return
    mine = responses.c.session == session.session
    answered = set(connection.scalars(select(responses.c.trial).where(mine, responses.c.valid.is_(True))))
    passed = answered | set(connection.scalars(select(skips.c.trial).where(skips.c.session == session.session)))
    planned = catalogue.planned(session.question, session.slot, session.plan or [])
    tested = [trial for trial in planned if trial.role not in OPENING_ROLES]
    unfinished = {trial.block for trial in tested if trial.trial not in passed}
    lost = [trial.trial for trial in tested if trial.block in unfinished and trial.trial in answered]
    if lost:
        connection.execute(update(responses).where(mine, responses.c.trial.in_(lost)).values(valid=False))


def remaining_plan(connection: Connection, catalogue: Catalogue, question: str, slot: int) -> list[str]:
    """Trials that a session is to do in a slot: the opening, and what nobody has answered yet; none if nothing is.

    A repeated trial is asked only of the person who is to answer it the first time; a trial that a running session
    has in place of a skipped one, of nobody else.
    """
    known = catalogue.slot(question, slot)
    tested = [name for name, trial in known.items() if trial.role not in OPENING_ROLES]
    open_trials = still_open(connection, tested)
    asked = {name for name in open_trials if _is_asked(known[name], open_trials)}
    if not asked:
        return []
    return [name for name, trial in known.items() if trial.role in OPENING_ROLES or name in asked]


def still_open(connection: Connection, names: Collection[str]) -> set[str]:
    """Those of these trials that someone is still to be asked."""
    lent = select(replacements.c.trial).where(replacements.c.trial.in_(names))
    return set(names) - _settled(connection, names) - set(connection.scalars(lent))


def nothing_is_left(connection: Connection, question: str, slot: int) -> bool:
    """Whether every trial of a slot that is asked by itself was answered, or skipped for good."""
    asked = select(trials.c.trial).where(
        trials.c.question == question,
        trials.c.slot == slot,
        trials.c.role.not_in((*OPENING_ROLES, "repeat")),
    )
    names = list(connection.scalars(asked))
    return set(names) <= _settled(connection, names)


def _place_of(session: Row[Any]) -> dict[str, object]:
    return {"in_question": session.question, "in_slot": session.slot, "by": session.session}


def _is_asked(trial: Trial, open_trials: set[str]) -> bool:
    return trial.role != "repeat" or trial.repeats in open_trials


def _settled(connection: Connection, names: Collection[str]) -> set[str]:
    """Trials of these with an answer or a skip that counts."""
    answered = (
        select(responses.c.trial)
        .join(sessions, sessions.c.session == responses.c.session)
        .join(persons, persons.c.person == sessions.c.person)
        .where(responses.c.trial.in_(names), responses.c.valid.is_(True), COUNTS)
    )
    skipped = (
        select(skips.c.trial)
        .join(sessions, sessions.c.session == skips.c.session)
        .join(persons, persons.c.person == sessions.c.person)
        .where(skips.c.trial.in_(names), COUNTS)
    )
    return set(connection.scalars(answered)) | set(connection.scalars(skipped))
