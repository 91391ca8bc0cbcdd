"""Acceptance of answers: exactly once, to the current trial, with plausible times."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, insert, select
from sqlalchemy.exc import IntegrityError

from beholder.collect.database.schema import events, persons, responses
from beholder.collect.live.room import LiveRoom
from beholder.collect.session.advance import advance_session, current_trial
from beholder.collect.session.catalogue import Catalogue, Trial
from beholder.collect.session.leases import close_slot
from beholder.collect.session.messages import Answer
from beholder.collect.session.plausibility import TimingVerdict, check_timing, intended_exposure
from beholder.collect.session.progress import SessionProgress, change, progress_of
from beholder.collect.session.skips import SPOILED, record_skip
from beholder.collect.session.trial_view import gives_feedback, trial_token
from beholder.errors import RefusedError
from beholder.study.kinds.allowed import faults_of_response
from beholder.study.kinds.catalogue import AnyQuestion, kind_of
from beholder.study.study import Study
from beholder.study.words import split_words

MOST_ATTEMPTS = 20
"""A trial spoiled so often is left unanswered, so that no rater is stuck on it."""

TOLERANCE_MS = 0.5

TIMING = "timing"
"""Kind of the event that a page claimed more time than had passed."""

_INSERT = insert(responses)


@dataclass(frozen=True, slots=True)
class AcceptedAnswer:
    """An accepted answer: the session after it, and the feedback that the page may show."""

    session: Row[Any]
    right: bool | None = None
    expected: str | None = None
    spoiled: bool = False


def accept_answer(
    connection: Connection,
    catalogue: Catalogue,
    study: Study,
    session: Row[Any],
    answer: Answer,
    *,
    now: float,
    live: LiveRoom | None = None,
) -> AcceptedAnswer:
    """Store the answer, unless it is stored already; refuse one that cannot be accepted."""
    progress = progress_of(connection, catalogue, session)
    try:
        trial = current_trial(catalogue, progress, answer.trial, answer.attempt)
    except RefusedError:
        before = _accepted_before(connection, catalogue, session, answer)
        if before is None:
            raise
        return before
    if progress.exposure_ms is not None:
        _check_exposure(progress.exposure_ms, answer)
    verdict = _timing_verdict(connection, study, progress, answer, now=now)
    response = answer.response()
    is_empty = answer.spoiled and not (response.answers or response.marks)
    words = len(split_words(_prompt_judged(connection, progress, trial, live) if not is_empty else ""))
    faults = [] if is_empty else faults_of_response(progress.question, response, words=words)
    if faults:
        raise RefusedError(422, "not-allowed", "; ".join(faults))
    right = None
    if trial.expected is not None and response.answers:
        right = all(answered.text == trial.expected for answered in response.answers)
    _write(connection, progress, trial, answer, verdict, right=right, now=now)
    if verdict.fault is None:
        if trial.slot != session.slot:
            close_slot(connection, trial.question, trial.slot)
        after = advance_session(connection, catalogue, study, progress, trial, now=now)
        return _with_feedback(after, progress.question, trial, right)
    if answer.attempt < MOST_ATTEMPTS:
        after = change(connection, session.session, attempt=answer.attempt + 1, presented=now, seen=now)
    else:
        after = record_skip(connection, catalogue, study, progress, trial, reason=SPOILED, now=now)
    return AcceptedAnswer(after, spoiled=True)


def _prompt_judged(connection: Connection, progress: SessionProgress, trial: Trial, live: LiveRoom | None) -> str:
    """The prompt that an answer is about: the rater's own where results are made live, of which there must be one.

    Simulated raters wait for none.
    """
    if not kind_of(progress.question).traits.live or trial.role == "attention":
        return trial.prompt or ""
    result = live.last_made(progress.session.session, trial.trial) if live is not None else None
    if result is not None:
        return str(result.text)
    if connection.scalar(select(persons.c.simulated).where(persons.c.person == progress.session.person)):
        return trial.prompt or ""
    raise RefusedError(409, "no-result", "there is no result yet that an answer could be about")


def _timing_verdict(
    connection: Connection, study: Study, progress: SessionProgress, answer: Answer, *, now: float
) -> TimingVerdict:
    """Check the times that came with an answer. Those of simulated raters are simulated, and kept."""
    session, question = progress.session, progress.question
    elapsed = None if session.presented is None else now - session.presented

    def check(elapsed: float | None) -> TimingVerdict:
        return check_timing(
            question,
            answer,
            intended_ms=progress.exposure_ms,
            elapsed=elapsed,
            checked_frame_ms=session.frame_ms,
            min_hz=study.collect.min_hz,
        )

    if answer.spoiled:
        return TimingVerdict(check(elapsed).seconds, answer.spoiled_reason or SPOILED)
    lacking = answer.exposure is None and intended_exposure(question, progress.exposure_ms) is not None
    verdict = check(elapsed)
    if not lacking and verdict == TimingVerdict(answer.seconds):
        return verdict
    simulated = select(persons.c.simulated).where(persons.c.person == session.person)
    if connection.scalar(simulated):
        return check(None)
    if lacking:
        raise RefusedError(422, "no-exposure", "a limited exposure needs the exposure that was shown")
    return verdict


def _write(
    connection: Connection,
    progress: SessionProgress,
    trial: Trial,
    answer: Answer,
    verdict: TimingVerdict,
    *,
    right: bool | None,
    now: float,
) -> None:
    session, exposure = progress.session.session, answer.exposure
    row = {
        "session": session,
        "trial": trial.trial,
        "attempt": answer.attempt,
        "key": answer.key,
        "place": progress.position,
        "said": [aspect.model_dump(mode="json", exclude_none=True) for aspect in answer.aspects],
        "marks": [mark.model_dump(mode="json", exclude_none=True) for mark in answer.marks],
        "seconds": verdict.seconds,
        "intended_ms": progress.exposure_ms,
        "shown_ms": exposure.shown_ms if exposure else None,
        "dropped": exposure.dropped_frames if exposure else None,
        "exposure": exposure.model_dump(mode="json") if exposure else None,
        "valid": verdict.fault is None,
        "right": right,
        "answered": now,
    }
    try:
        connection.execute(_INSERT, row)
    except IntegrityError as error:
        raise RefusedError(409, "key-used", "this key was used for another answer") from error
    where = {"trial": trial.trial, "attempt": answer.attempt}
    if verdict.fault is not None:
        detail = where | {"reason": verdict.fault}
        connection.execute(insert(events).values(session=session, at=now, kind="spoiled", detail=detail))
    if verdict.seconds < answer.seconds or verdict.fault == "server-clock":
        detail = where | {"claimed": answer.seconds, "elapsed": round(now - progress.session.presented, 3)}
        connection.execute(insert(events).values(session=session, at=now, kind=TIMING, detail=detail))


def _accepted_before(
    connection: Connection, catalogue: Catalogue, session: Row[Any], answer: Answer
) -> AcceptedAnswer | None:
    """Return the outcome of an answer that was stored under the same key; ``None`` if there is none."""
    row = connection.execute(
        select(responses).where(responses.c.session == session.session, responses.c.key == answer.key)
    ).first()
    if row is None:
        return None
    token = trial_token(catalogue.secret("token"), session.session, row.trial)
    if (answer.trial, answer.attempt) != (token, row.attempt):
        raise RefusedError(409, "key-used", "this key was used for another answer")
    if not row.valid:
        return AcceptedAnswer(session, spoiled=True)
    trial = catalogue.trials_of(session)[row.trial]
    return _with_feedback(session, catalogue.questions[session.question], trial, row.right)


def _with_feedback(session: Row[Any], question: AnyQuestion, trial: Trial, right: bool | None) -> AcceptedAnswer:
    if right is None or not gives_feedback(question, trial):
        return AcceptedAnswer(session)
    return AcceptedAnswer(session, right, trial.expected)


def _check_exposure(requested_ms: float, answer: Answer) -> None:
    """Refuse a timed answer to another exposure than the requested one: the page cannot move the staircase."""
    if answer.exposure is None:
        raise RefusedError(422, "no-exposure", "a timed trial needs the exposure that was shown")
    if abs(answer.exposure.intended_ms - requested_ms) > TOLERANCE_MS:
        raise RefusedError(
            409,
            "other-exposure",
            f"{answer.exposure.intended_ms:g} ms were shown; {requested_ms:g} ms were requested",
        )
