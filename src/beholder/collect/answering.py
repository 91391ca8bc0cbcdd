"""Taking an answer: exactly once, to the trial that was asked, as long as it could have been given."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, insert, select
from sqlalchemy.exc import IntegrityError

from beholder.collect.catalogue import Catalogue, Trial
from beholder.collect.database import events, responses, skips
from beholder.collect.messages import Answer, Skip
from beholder.collect.outcome import end_session
from beholder.collect.showing import tells_right, trial_token
from beholder.collect.standing import Standing, change, standing_of
from beholder.errors import RefusedError
from beholder.study.kinds.allowed import faults_of_response
from beholder.study.kinds.catalogue import AnyQuestion
from beholder.study.study import Study
from beholder.study.words import split_words

MOST_ATTEMPTS = 20
"""A trial spoiled so often is left unanswered, so that nobody is stuck on it."""

TOLERANCE_MS = 0.5

_INSERT = insert(responses)


@dataclass(frozen=True, slots=True)
class Taken:
    """An answer that is in: the session after it, and what the page may now tell the person about it."""

    session: Row[Any]
    right: bool | None = None
    expected: str | None = None


def take_answer(
    connection: Connection, catalogue: Catalogue, study: Study, session: Row[Any], answer: Answer, *, now: float
) -> Taken:
    """Write the answer, or find that it is written already; raise a refusal if it cannot be taken."""
    standing = standing_of(connection, catalogue, session)
    try:
        trial = current_trial(catalogue, standing, answer.trial, answer.attempt)
    except RefusedError:
        before = _already(connection, catalogue, session, answer)
        if before is None:
            raise
        return before
    if standing.exposure_ms is not None:
        _check_exposure(standing.exposure_ms, answer)
    response = answer.response()
    nothing_said = answer.spoiled and not (response.said or response.marks)
    words = len(split_words(trial.prompt or ""))
    faults = [] if nothing_said else faults_of_response(standing.question, response, words=words)
    if faults:
        raise RefusedError(422, "not-allowed", "; ".join(faults))
    right = None
    if trial.expected is not None and response.said:
        right = all(said.text == trial.expected for said in response.said)
    _write(connection, standing, trial, answer, right=right, now=now)
    if not answer.spoiled:
        after = _go_on(connection, catalogue, study, standing, trial, now=now)
        return _told(after, standing.question, trial, right)
    if answer.attempt < MOST_ATTEMPTS:
        return Taken(change(connection, session.session, attempt=answer.attempt + 1, seen=now))
    _note_skip(connection, standing, trial, reason="spoiled", comment="", now=now)
    return Taken(_go_on(connection, catalogue, study, standing, trial, now=now))


def skip_trial(
    connection: Connection, catalogue: Catalogue, study: Study, session: Row[Any], skip: Skip, *, now: float
) -> Row[Any]:
    """Leave the current trial unanswered for good; the session after it."""
    standing = standing_of(connection, catalogue, session)
    trial = current_trial(catalogue, standing, skip.trial, skip.attempt)
    _note_skip(connection, standing, trial, reason=skip.reason, comment=skip.comment, now=now)
    return _go_on(connection, catalogue, study, standing, trial, now=now)


def current_trial(catalogue: Catalogue, standing: Standing, token: str, attempt: int) -> Trial:
    """The trial that the session is at, if that is the one meant."""
    if standing.step != "trial" or standing.trial is None:
        raise RefusedError(409, "no-trial", f"the session is at the step '{standing.step}', not at a trial")
    key = catalogue.secret("token")
    if token != trial_token(key, standing.session.session, standing.trial.trial):
        raise RefusedError(409, "other-trial", "this is not the trial that the session is at")
    if attempt != standing.attempt:
        raise RefusedError(
            409, "other-attempt", f"attempt {attempt} was sent; attempt {standing.attempt} is awaited"
        )
    return standing.trial


def _write(
    connection: Connection,
    standing: Standing,
    trial: Trial,
    answer: Answer,
    *,
    right: bool | None,
    now: float,
) -> None:
    session, exposure = standing.session.session, answer.exposure
    row = {
        "session": session,
        "trial": trial.trial,
        "attempt": answer.attempt,
        "key": answer.key,
        "place": standing.place,
        "said": [said.model_dump(mode="json", exclude_none=True) for said in answer.said],
        "marks": [mark.model_dump(mode="json", exclude_none=True) for mark in answer.marks],
        "seconds": answer.seconds,
        "intended_ms": standing.exposure_ms,
        "shown_ms": exposure.shown_ms if exposure else None,
        "dropped": exposure.dropped_frames if exposure else None,
        "exposure": exposure.model_dump(mode="json") if exposure else None,
        "valid": not answer.spoiled,
        "right": right,
        "answered": now,
    }
    try:
        connection.execute(_INSERT, row)
    except IntegrityError as error:
        raise RefusedError(409, "key-used", "this key was used for another answer") from error
    if answer.spoiled:
        detail = {"trial": trial.trial, "attempt": answer.attempt, "reason": answer.spoiled_reason}
        connection.execute(insert(events).values(session=session, at=now, kind="spoiled", detail=detail))


def _note_skip(
    connection: Connection, standing: Standing, trial: Trial, *, reason: str, comment: str, now: float
) -> None:
    connection.execute(
        insert(skips).values(
            session=standing.session.session,
            trial=trial.trial,
            place=standing.place,
            reason=reason,
            comment=comment,
            at=now,
        )
    )


def _go_on(
    connection: Connection, catalogue: Catalogue, study: Study, standing: Standing, trial: Trial, *, now: float
) -> Row[Any]:
    """The session at its next trial, or at its end."""
    after = change(connection, standing.session.session, place=standing.place + 1, attempt=1, seen=now)
    if trial.role == "qualification" and not _is_admitted(connection, catalogue, after):
        return end_session(connection, study, after, "screened-out", now=now)
    if after.place >= len(after.plan) and not study.collect.debrief:
        return end_session(connection, study, after, "complete", now=now)
    return after


def _already(connection: Connection, catalogue: Catalogue, session: Row[Any], answer: Answer) -> Taken | None:
    """The outcome of an answer that came before under the same key."""
    row = connection.execute(
        select(responses).where(responses.c.session == session.session, responses.c.key == answer.key)
    ).first()
    if row is None:
        return None
    wanted = trial_token(catalogue.secret("token"), session.session, row.trial)
    if (answer.trial, answer.attempt) != (wanted, row.attempt):
        raise RefusedError(409, "key-used", "this key was used for another answer")
    trial = catalogue.slot(session.question, session.slot)[row.trial]
    question = catalogue.questions[session.question]
    return _told(session, question, trial, row.right if row.valid else None)


def _told(session: Row[Any], question: AnyQuestion, trial: Trial, right: bool | None) -> Taken:
    if right is None or not tells_right(question, trial):
        return Taken(session)
    return Taken(session, right, trial.expected)


def _check_exposure(asked_ms: float, answer: Answer) -> None:
    """A timed answer must be to the exposure that was asked for: the page cannot move the staircase."""
    if answer.exposure is None:
        raise RefusedError(422, "no-exposure", "a timed trial needs the exposure that was shown")
    if abs(answer.exposure.intended_ms - asked_ms) > TOLERANCE_MS:
        raise RefusedError(
            409,
            "other-exposure",
            f"{answer.exposure.intended_ms:g} ms were shown; {asked_ms:g} ms were asked for",
        )


def _is_admitted(connection: Connection, catalogue: Catalogue, session: Row[Any]) -> bool:
    """False, after the last qualification trial, for who was right too rarely on any class."""
    least = catalogue.questions[session.question].screening.min_qualification
    known = catalogue.slot(session.question, session.slot)
    to_come = any(known[name].role == "qualification" for name in session.plan[session.place :])
    if least is None or to_come:
        return True
    rows = connection.execute(
        select(responses.c.trial, responses.c.right).where(
            responses.c.session == session.session, responses.c.valid.is_(True)
        )
    ).all()
    by_class: dict[str | None, list[bool]] = {}
    for row in rows:
        if known[row.trial].role == "qualification":
            by_class.setdefault(known[row.trial].expected, []).append(bool(row.right))
    return bool(by_class) and all(sum(right) / len(right) >= least for right in by_class.values())
