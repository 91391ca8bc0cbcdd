"""Gold that thins out in the session of a trusted rater, and comes back as soon as gold is answered wrong.

The gold trials of a slot are its supply. Which of them comes next, and after how many trials, is decided when the
session begins, after every gold trial, and at the start of a block, from the CUSUM as it is then. Gold that a
block did not need is spared at its end: a test trial of another slot is asked instead where one can be spared, and
otherwise the trial is left out and paid as if it was done. Both are noted in ``thinned``, so that the slot is
complete without it. The order of all other trials stays as it was drawn.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import Connection, Row, insert, select, update

from beholder.care.gold_pace import CONSTANT, GoldPace
from beholder.collect.database.schema import gold_paces, responses, thinned, trials
from beholder.collect.session.catalogue import OPENING_ROLES, Catalogue, Trial
from beholder.collect.session.identity import opaque
from beholder.collect.session.progress import change
from beholder.collect.session.replacement_trials import lend_trial
from beholder.study.kinds.catalogue import kind_of
from beholder.study.study import Study

GOLD = "gold"
DIGITS = 13
"""Hexadecimal digits of a hash that make a number between 0 and 1."""


def begin_thinning(
    connection: Connection, catalogue: Catalogue, study: Study, session: Row[Any], pace: GoldPace, *, now: float
) -> Row[Any]:
    """Let the gold of a session that has just begun thin out, where the study wants it; return the session.

    A staircase is left as it is: each of its trials moves it. So is the session of a rater who is not trusted,
    unless its slot has more gold than constant checking asks: what is beyond that is a reserve, for suspicion.
    """
    question = catalogue.questions[session.question]
    if not study.collect.thin_gold or kind_of(question).adaptive(question) is not None:
        return session
    if pace.alarmed and _drawn(catalogue, session) <= CONSTANT:
        return session  # every gold trial is asked: there is no reserve
    connection.execute(insert(gold_paces).values(session=session.session, pace=asdict(pace), next_gold=None))
    plan, next_gold = _decide(connection, catalogue, session, session.plan, 0, pace, begins=True)
    plan = _spare(connection, catalogue, session, plan, 0, next_gold, now=now)
    return change(connection, session.session, plan=plan)


def thinned_plan(
    connection: Connection,
    catalogue: Catalogue,
    study: Study,
    session: Row[Any],
    plan: Sequence[str],
    place: int,
    done: Trial,
    *,
    now: float,
) -> list[str]:
    """Return the plan of a session after a trial: the next gold decided again, gold that is not due spared.

    ``plan`` may differ from that of the session's row, after a skip; ``place`` is that of the next trial.
    """
    if not study.collect.thin_gold or place >= len(plan):
        return list(plan)
    (following,) = catalogue.planned(session.question, session.slot, plan[place : place + 1])
    decides = done.role == GOLD or following.block != done.block or done.role in OPENING_ROLES
    if not decides and following.role != GOLD:
        return list(plan)
    row = connection.execute(select(gold_paces).where(gold_paces.c.session == session.session)).first()
    if row is None:
        return list(plan)
    next_gold = row.next_gold
    if decides:
        pace = _pace_now(connection, session, GoldPace(**row.pace))
        begins = done.role != GOLD or following.block != done.block
        plan, next_gold = _decide(connection, catalogue, session, plan, place, pace, begins=begins)
    return _spare(connection, catalogue, session, plan, place, next_gold, now=now)


def spread_gold(
    plan: Sequence[str], place: int, trials_by_name: Mapping[str, Trial], gap: int
) -> tuple[list[str], str | None]:
    """Put the next gold trial of the current block ``gap`` trials ahead, and the others at the block's end.

    Returns the plan and the gold trial that comes next: none, where the block has no gold or ends before.
    """
    start = place
    while start < len(plan) and trials_by_name[plan[start]].role in OPENING_ROLES:
        start += 1
    if start == len(plan):
        return list(plan), None
    block, end = trials_by_name[plan[start]].block, start
    while end < len(plan) and trials_by_name[plan[end]].block == block:
        end += 1
    gold = [name for name in plan[start:end] if trials_by_name[name].role == GOLD]
    others = [name for name in plan[start:end] if trials_by_name[name].role != GOLD]
    if not gold or gap > len(others):
        return [*plan[:start], *others, *gold, *plan[end:]], None
    ahead, behind = others[: gap - 1], others[gap - 1 :]
    return [*plan[:start], *ahead, gold[0], *behind, *gold[1:], *plan[end:]], gold[0]


def _drawn(catalogue: Catalogue, session: Row[Any]) -> float:
    """Return the proportion of gold among the trials of a session after its opening."""
    planned = catalogue.planned(session.question, session.slot, session.plan)
    roles = [trial.role for trial in planned if trial.role not in OPENING_ROLES]
    return roles.count(GOLD) / max(len(roles), 1)


def _pace_now(connection: Connection, session: Row[Any], pace: GoldPace) -> GoldPace:
    """Return the pace after the gold trials that were answered in this session."""
    answered = connection.scalars(
        select(responses.c.right)
        .join(trials, trials.c.trial == responses.c.trial)
        .where(responses.c.session == session.session, responses.c.valid.is_(True), trials.c.role == GOLD)
        .order_by(responses.c.place)
    )
    for right in answered:
        pace = pace.after(right=bool(right))
    return pace


def _decide(
    connection: Connection,
    catalogue: Catalogue,
    session: Row[Any],
    plan: Sequence[str],
    place: int,
    pace: GoldPace,
    *,
    begins: bool,
) -> tuple[list[str], str | None]:
    """Decide which gold trial comes next, and where; a keyed hash draws: a repeated request decides alike."""
    digest = opaque(catalogue.secret("token"), GOLD, session.session, str(place))
    chance = int(digest[:DIGITS], 16) / 16**DIGITS
    trials_by_name = {trial.trial: trial for trial in catalogue.planned(session.question, session.slot, plan)}
    new_plan, next_gold = spread_gold(plan, place, trials_by_name, pace.gap(chance, begins=begins))
    here = gold_paces.c.session == session.session
    connection.execute(update(gold_paces).where(here).values(next_gold=next_gold))
    return new_plan, next_gold


def _spare(
    connection: Connection,
    catalogue: Catalogue,
    session: Row[Any],
    plan: Sequence[str],
    place: int,
    next_gold: str | None,
    *,
    now: float,
) -> list[str]:
    """Replace or leave out gold that would come now and is not due."""
    left = list(plan)
    while place < len(left) and left[place] != next_gold:
        (trial,) = catalogue.planned(session.question, session.slot, left[place : place + 1])
        if trial.role != GOLD:
            break
        instead = lend_trial(connection, catalogue, session, left, trial, now=now)
        left[place : place + 1] = [] if instead is None else [instead]
        connection.execute(
            insert(thinned).values(session=session.session, trial=trial.trial, instead=instead, at=now)
        )
    return left
