"""Where a session stands, read from its row alone: any process can tell, after any crash."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, bindparam, exists, select, update

from beholder.collect.database.schema import control, sessions
from beholder.collect.session.catalogue import OPENING_ROLES, Catalogue, Trial
from beholder.collect.session.staircase import exposure_now
from beholder.study.kinds.catalogue import AnyQuestion

PAUSED = "paused"

_PAUSED = exists(select(control.c.name).where(control.c.name == PAUSED, control.c.value == "yes"))

SESSION = (*sessions.c, _PAUSED.label("paused"))
"""What is read of a session: its row, and whether the study is paused."""

_FOUND = {
    name: select(*SESSION).where(sessions.c[name] == bindparam("wanted"))
    for name in ("session", "token_hash", "resume_hash", "guest_hash")
}
_LOCKED = {name: found.with_for_update(of=sessions) for name, found in _FOUND.items()}
_CHANGED = update(sessions).where(sessions.c.session == bindparam("wanted")).returning(*SESSION)
_IS_PAUSED = select(_PAUSED)


@dataclass(frozen=True, slots=True)
class Standing:
    """A session, its question, and the trial it has come to."""

    session: Row[Any]
    question: AnyQuestion
    step: str
    place: int
    """how many trials of the plan are done"""
    trial: Trial | None = None
    attempt: int = 1
    exposure_ms: float | None = None


def standing_of(connection: Connection, catalogue: Catalogue, session: Row[Any]) -> Standing:
    """The step that the session is at, and with it the current trial."""
    question = catalogue.questions[session.question]
    step = step_of(session)
    if step != "trial":
        return Standing(session, question, step, session.place)
    known = catalogue.trials_of(session)
    trial = known[session.plan[session.place]]
    if _is_break(session, known, trial):
        return Standing(session, question, "break", session.place, trial)
    exposure = exposure_now(connection, catalogue, question, session, trial)
    return Standing(session, question, "trial", session.place, trial, session.attempt, exposure)


def step_of(session: Row[Any]) -> str:
    """The step by the row alone; a trial may turn out to come after a break."""
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
    """The session with this value in one of its columns; locked, where the database locks rows."""
    ((name, value),) = column.items()
    return connection.execute((_LOCKED if locked else _FOUND)[name], {"wanted": value}).first()


def change(connection: Connection, session: str, **values: object) -> Row[Any]:
    """Change columns of a session; the session as it then is."""
    return connection.execute(_CHANGED, {"wanted": session, **values}).one()


def is_paused(connection: Connection) -> bool:
    """Whether the researcher has paused the study."""
    return bool(connection.scalar(_IS_PAUSED))


def _is_break(session: Row[Any], known: Mapping[str, Trial], trial: Trial) -> bool:
    """Between two blocks, until the person goes on; never before the first trial that counts."""
    if session.place == 0 or trial.block <= session.breaks:
        return False
    before = known[session.plan[session.place - 1]]
    return before.block < trial.block and before.role not in OPENING_ROLES
