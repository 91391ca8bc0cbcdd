"""Progress of a session, derived from its row alone, so that any process can continue it after a crash."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, bindparam, exists, select, update

from beholder.collect.database.schema import control, sessions
from beholder.collect.session.catalogue import OPENING_ROLES, Catalogue, Trial
from beholder.collect.session.staircase import exposure_now
from beholder.study.kinds.catalogue import AnyQuestion
from beholder.study.study import Study

PAUSED = "paused"

LEAST_PAID_SKIPS = 2
"""Paid skips where the study sets a proportion, however few trials there are."""

_PAUSED = exists(select(control.c.name).where(control.c.name == PAUSED, control.c.value == "yes"))

SESSION = (*sessions.c, _PAUSED.label("paused"))
"""Columns that are read of a session: its row, and whether the study is paused."""

_BY_COLUMN = {
    name: select(*SESSION).where(sessions.c[name] == bindparam("key"))
    for name in ("session", "token_hash", "resume_hash", "guest_hash")
}
_LOCKED = {name: query.with_for_update(of=sessions) for name, query in _BY_COLUMN.items()}
_CHANGED = update(sessions).where(sessions.c.session == bindparam("key")).returning(*SESSION)
_IS_PAUSED = select(_PAUSED)


@dataclass(frozen=True, slots=True)
class SessionProgress:
    """A session, its question, and the step and trial that it is at."""

    session: Row[Any]
    question: AnyQuestion
    step: str
    position: int
    """how many trials of the plan are done"""
    trial: Trial | None = None
    attempt: int = 1
    exposure_ms: float | None = None


def progress_of(connection: Connection, catalogue: Catalogue, session: Row[Any]) -> SessionProgress:
    """Return the step that the session is at, with the current trial."""
    question = catalogue.questions[session.question]
    step = step_of(session)
    if step != "trial":
        return SessionProgress(session, question, step, session.place)
    trials = catalogue.trials_of(session)
    trial = trials[session.plan[session.place]]
    if _is_break(session, trials, trial):
        return SessionProgress(session, question, "break", session.place, trial)
    exposure = exposure_now(connection, catalogue, question, session, trial)
    return SessionProgress(session, question, "trial", session.place, trial, session.attempt, exposure)


def step_of(session: Row[Any]) -> str:
    """Return the step by the row alone; before a trial there may be a break."""
    if session.status != "running":
        return "done"
    if session.paused:
        return "paused"
    if session.consented is None:
        return "consent"
    if session.checked is None:
        return "check"
    if session.begun is None:
        return "instructions"
    return "trial" if session.place < len(session.plan or []) else "debrief"


def session_by(connection: Connection, *, locked: bool = True, **column: str) -> Row[Any] | None:
    """Return the session with this value in one of its columns, with a row lock where the database has them."""
    ((name, value),) = column.items()
    return connection.execute((_LOCKED if locked else _BY_COLUMN)[name], {"key": value}).first()


def change(connection: Connection, session: str, **values: object) -> Row[Any]:
    """Change columns of a session; return the updated session."""
    return connection.execute(_CHANGED, {"key": session, **values}).one()


def is_paused(connection: Connection) -> bool:
    """Whether the researcher has paused the study."""
    return bool(connection.scalar(_IS_PAUSED))


def allowed_skips(max_skips: float, tests: int) -> int:
    """Return the number of paid skips of a session with so many test trials.

    A setting of 1 or more is a count. A setting p below 1 is a proportion: max(2, ⌈p·tests⌉), but less than the
    number of tests, so that a rater who answers nothing never completes.
    """
    if max_skips == 0 or max_skips >= 1:
        return int(max_skips)
    return max(min(max(LEAST_PAID_SKIPS, math.ceil(max_skips * tests)), tests - 1), 0)


def skips_left(catalogue: Catalogue, study: Study, session: Row[Any]) -> int:
    """Return how many paid skips the session has left; trials received instead of skipped ones add none."""
    own = catalogue.slot(session.question, session.slot)
    tests = sum(1 for name in session.plan or [] if name in own and own[name].role == "test")
    return max(allowed_skips(study.collect.max_skips, tests) - int(session.skipped), 0)


def _is_break(session: Row[Any], trials: Mapping[str, Trial], trial: Trial) -> bool:
    """Whether a break is due: between two blocks, until the rater continues; never before the first test trial."""
    if session.place == 0 or trial.block <= session.breaks:
        return False
    before = trials[session.plan[session.place - 1]]
    return before.block < trial.block and before.role not in OPENING_ROLES
