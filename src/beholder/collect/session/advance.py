"""Advance a session to its next trial, or to its end."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Row, select

from beholder.collect.database.schema import responses, skips
from beholder.collect.session.catalogue import Catalogue, Trial
from beholder.collect.session.completion import end_session
from beholder.collect.session.gold_thinning import thinned_plan
from beholder.collect.session.progress import SessionProgress, change
from beholder.collect.session.trial_view import trial_token
from beholder.errors import RefusedError
from beholder.study.study import Study


def current_trial(catalogue: Catalogue, progress: SessionProgress, token: str, attempt: int) -> Trial:
    """Return the trial that the session is at; refuse if the request means another one."""
    if progress.step != "trial" or progress.trial is None:
        raise RefusedError(409, "no-trial", f"the session is at the step '{progress.step}', not at a trial")
    key = catalogue.secret("token")
    if token != trial_token(key, progress.session.session, progress.trial.trial):
        raise RefusedError(409, "other-trial", "this is not the trial that the session is at")
    if attempt != progress.attempt:
        raise RefusedError(
            409, "other-attempt", f"attempt {attempt} was sent; attempt {progress.attempt} is expected"
        )
    return progress.trial


def advance_session(
    connection: Connection,
    catalogue: Catalogue,
    study: Study,
    progress: SessionProgress,
    trial: Trial,
    *,
    now: float,
    plan: Sequence[str] | None = None,
    **values: object,
) -> Row[Any]:
    """Move on from a trial, with other changes of the session; the next trial is sent with the reply."""
    session, place = progress.session, progress.position + 1
    if study.collect.thin_gold:
        plan = session.plan if plan is None else plan
        plan = thinned_plan(connection, catalogue, study, session, plan, place, trial, now=now)
    if plan is not None:
        values["plan"] = plan
    after = change(
        connection,
        session.session,
        place=place,
        attempt=1,
        presented=now,
        seen=now,
        **values,
    )
    if trial.role == "qualification" and not _is_admitted(connection, catalogue, after):
        return end_session(connection, study, after, "screened-out", now=now)
    if after.place >= len(after.plan) and not study.collect.debrief:
        return end_session(connection, study, after, "complete", now=now)
    return after


def _is_admitted(connection: Connection, catalogue: Catalogue, session: Row[Any]) -> bool:
    """Whether the rater qualifies: after the last qualification trial every class needs enough right answers."""
    least = catalogue.questions[session.question].screening.min_qualification
    trials = catalogue.trials_of(session)
    to_come = any(trials[name].role == "qualification" for name in session.plan[session.place :])
    if least is None or to_come:
        return True
    answered = connection.execute(
        select(responses.c.trial, responses.c.right).where(
            responses.c.session == session.session, responses.c.valid.is_(True)
        )
    ).all()
    skipped = connection.scalars(select(skips.c.trial).where(skips.c.session == session.session)).all()
    passed = [(row.trial, bool(row.right)) for row in answered] + [(name, False) for name in skipped]
    by_class: dict[str | None, list[bool]] = {}
    for name, right in passed:
        if trials[name].role == "qualification":
            by_class.setdefault(trials[name].expected, []).append(right)
    return bool(by_class) and all(sum(right) / len(right) >= least for right in by_class.values())
