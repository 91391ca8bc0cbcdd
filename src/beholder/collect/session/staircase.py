"""Exposure of the next timed trial: the adaptive procedure replayed from the session's own answers."""

from typing import Any

from sqlalchemy import Connection, Row, bindparam, select

from beholder.collect.database.schema import responses
from beholder.collect.session.catalogue import OPENING_ROLES, Catalogue, Trial
from beholder.study.kinds.catalogue import AnyQuestion, kind_of

_LOG = (
    select(responses.c.trial, responses.c.right, responses.c.shown_ms, responses.c.intended_ms)
    .where(
        responses.c.session == bindparam("of"),
        responses.c.place >= bindparam("since"),
        responses.c.valid.is_(True),
    )
    .order_by(responses.c.place)
)


def exposure_now(
    connection: Connection, catalogue: Catalogue, question: AnyQuestion, session: Row[Any], trial: Trial
) -> float | None:
    """Return the exposure of this trial in ms; ``None`` for questions without adaptive exposure.

    Training, qualification and every block begin at ``start_ms``; each valid answer moves the exposure by the
    study's rule, except attention checks, whose answer does not depend on the image. Nothing is stored between
    requests, so a page can neither set nor skip a step.
    """
    adaptive = kind_of(question).adaptive(question)
    if adaptive is None:
        return None
    trials = catalogue.trials_of(session)
    run, since = run_of(trial), session.place
    while since > 0 and run_of(trials[session.plan[since - 1]]) == run:
        since -= 1
    log = [
        row
        for row in connection.execute(_LOG, {"of": session.session, "since": since})
        if trials[row.trial].role != "attention"
    ]
    exposures = [row.intended_ms if row.shown_ms is None else row.shown_ms for row in log]
    return adaptive.exposure_after(exposures, [bool(row.right) for row in log])


def run_of(trial: Trial) -> tuple[str, int]:
    """Return the run of the staircase that a trial belongs to."""
    return (trial.role, 0) if trial.role in OPENING_ROLES else ("test", trial.block)
