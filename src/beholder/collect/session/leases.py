"""Slot leases: renewed by signs of life, released at the end of a session, expired when the signs stop."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    Connection,
    Row,
    Select,
    String,
    Table,
    and_,
    bindparam,
    delete,
    literal_column,
    or_,
    select,
    union_all,
    update,
)

from beholder.collect.database.schema import (
    gold_paces,
    persons,
    replacements,
    responses,
    sessions,
    skips,
    slots,
    thinned,
    trials,
)
from beholder.collect.session.catalogue import OPENING_ROLES, Catalogue, Trial
from beholder.study.kinds.catalogue import kind_of

COUNTED = ("complete", "running", "returned", "withdrawn")
"""Statuses of sessions whose answers count; those of raters who were screened out do not."""

COUNTS = and_(sessions.c.status.in_(COUNTED), persons.c.excluded.is_(False))
"""Condition that the answers and skips of a session count; over sessions joined with their persons."""

RENEWALS = 10
"""A lease is renewed once per tenth of its duration, so that at least nine tenths are always left."""

_HELD = update(slots).where(
    slots.c.question == bindparam("in_question"),
    slots.c.slot == bindparam("in_slot"),
    slots.c.session == bindparam("by"),
    slots.c.done.is_(False),
)


def renew_lease(connection: Connection, session: Row[Any], *, now: float, lease_seconds: float) -> None:
    """Renew the lease at a sign of life; the row of the session says when the previous one was."""
    part = lease_seconds / RENEWALS
    if session.status == "running" and now // part != session.seen // part:
        connection.execute(_HELD, {**_slot_parameters(session), "lease_until": now + lease_seconds})


def release_slot(connection: Connection, session: Row[Any]) -> None:
    """Release the slot at the end of a session: done if nothing is left to do in it, free otherwise.

    Trials of other slots that the session had in its plan return to those slots, unless they were answered.
    """
    for table in (replacements, gold_paces):
        connection.execute(delete(table).where(table.c.session == session.session))
    done = is_slot_complete(connection, session.question, session.slot)
    values: dict[str, object] = {"done": True} if done else {"session": None, "lease_until": 0.0}
    connection.execute(_HELD.values(values), _slot_parameters(session))


def reopen_slots(connection: Connection, catalogue: Catalogue, session: Row[Any]) -> None:
    """Reopen the slots of trials whose answers were deleted with a session, its own slot and others.

    A slot that another session holds is left alone; what is missing there goes to the next session.
    """
    tested = (trial for trial in catalogue.trials_of(session).values() if trial.role not in OPENING_ROLES)
    here = and_(slots.c.question == session.question, slots.c.slot.in_({trial.slot for trial in tested}))
    theirs = or_(slots.c.done.is_(True), slots.c.session == session.session)
    connection.execute(update(slots).where(here, theirs).values(session=None, lease_until=0.0, done=False))


def close_slot(connection: Connection, question: str, slot: int) -> None:
    """Mark a free slot as done if its last open trial was answered in the session of another slot.

    A slot that is being lent at this moment is not waited for: it is found to be done when it is released.
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
    if unheld is not None and is_slot_complete(connection, question, slot):
        here = and_(slots.c.question == question, slots.c.slot == slot)
        connection.execute(update(slots).where(here).values(done=True))


def invalidate_unfinished_blocks(connection: Connection, catalogue: Catalogue, session: Row[Any]) -> None:
    """Invalidate the answers of adaptive blocks that were not finished: a partial staircase is of no use.

    The blocks are asked again, of another rater.
    """
    question = catalogue.questions[session.question]
    if kind_of(question).adaptive(question) is None:
        return
    own_responses = responses.c.session == session.session
    answered = set(connection.scalars(select(responses.c.trial).where(own_responses, responses.c.valid.is_(True))))
    passed = answered | set(connection.scalars(select(skips.c.trial).where(skips.c.session == session.session)))
    planned = catalogue.planned(session.question, session.slot, session.plan or [])
    tested = [trial for trial in planned if trial.role not in OPENING_ROLES]
    unfinished = {trial.block for trial in tested if trial.trial not in passed}
    lost = [trial.trial for trial in tested if trial.block in unfinished and trial.trial in answered]
    if lost:
        connection.execute(update(responses).where(own_responses, responses.c.trial.in_(lost)).values(valid=False))


def remaining_plan(connection: Connection, catalogue: Catalogue, question: str, slot: int) -> list[str]:
    """Return the trials left to do in a slot: the opening and those without an answer; empty if there are none.

    A repeated trial goes only to the rater who also answers it the first time. A trial that a running session has
    instead of a skipped one goes to nobody else. Gold that a trusted rater was spared is asked of the next rater
    of the slot, but keeps no slot open by itself.
    """
    trials_by_name = catalogue.slot(question, slot)
    passed = _passed(connection, question, slot)
    tested = [name for name, trial in trials_by_name.items() if trial.role not in OPENING_ROLES]
    open_trials = set(tested) - passed.settled - passed.lent
    remaining = {name for name in open_trials if _is_askable(trials_by_name[name], open_trials)}
    if remaining <= passed.spared:
        return []
    return [name for name, trial in trials_by_name.items() if trial.role in OPENING_ROLES or name in remaining]


def still_open(connection: Connection, question: str, slot: int, names: Collection[str]) -> set[str]:
    """Return those of these trials of a slot that still need an answer."""
    passed = _passed(connection, question, slot)
    return set(names) - passed.settled - passed.lent


def is_slot_complete(connection: Connection, question: str, slot: int) -> bool:
    """Whether every trial of a slot, repeats aside, has an answer or a skip that counts, or was spared gold."""
    query = select(trials.c.trial).where(
        trials.c.question == question,
        trials.c.slot == slot,
        trials.c.role.not_in((*OPENING_ROLES, "repeat")),
    )
    passed = _passed(connection, question, slot)
    return set(connection.scalars(query)) <= passed.settled | passed.spared


def _slot_parameters(session: Row[Any]) -> dict[str, object]:
    return {"in_question": session.question, "in_slot": session.slot, "by": session.session}


def _is_askable(trial: Trial, open_trials: set[str]) -> bool:
    return trial.role != "repeat" or trial.repeats in open_trials


@dataclass(frozen=True, slots=True)
class _Passed:
    """Trials of a slot that need not be asked: answered or skipped, lent to a running session, or spared gold.

    Answers, skips and sparing are those that count.
    """

    settled: set[str]
    lent: set[str]
    spared: set[str]


def _passed(connection: Connection, question: str, slot: int) -> _Passed:
    passed = _Passed(set(), set(), set())
    for row in connection.execute(_PASSED, {"in_question": question, "in_slot": slot}):
        getattr(passed, row.state).add(row.trial)
    return passed


def _of_slot(table: Table, state: str) -> Select[tuple[str, str]]:
    """Select the trials of a slot that a table names."""
    of_slot = and_(trials.c.question == bindparam("in_question"), trials.c.slot == bindparam("in_slot"))
    query = select(table.c.trial, literal_column(f"'{state}'", String).label("state"))
    return query.join(trials, trials.c.trial == table.c.trial).where(of_slot)


def _counted(table: Table, state: str) -> Select[tuple[str, str]]:
    """Select the same, of sessions that count."""
    of_persons = _of_slot(table, state).join(sessions, sessions.c.session == table.c.session)
    return of_persons.join(persons, persons.c.person == sessions.c.person).where(COUNTS)


_PASSED = union_all(
    _counted(responses, "settled").where(responses.c.valid.is_(True)),
    _counted(skips, "settled"),
    _of_slot(replacements, "lent"),
    _counted(thinned, "spared"),
)
