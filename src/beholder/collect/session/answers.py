"""Taking an answer: exactly once, to the trial that was asked, as long as it could have been given."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, insert, select
from sqlalchemy.exc import IntegrityError

from beholder.collect.database.schema import events, persons, responses
from beholder.collect.session.advance import current_trial, go_on
from beholder.collect.session.catalogue import Catalogue, Trial
from beholder.collect.session.leases import close_place
from beholder.collect.session.messages import Answer
from beholder.collect.session.plausibility import Verdict, intended_exposure, judge
from beholder.collect.session.progress import Standing, change, standing_of
from beholder.collect.session.skips import SPOILED, leave_trial
from beholder.collect.session.trial_view import tells_right, trial_token
from beholder.errors import RefusedError
from beholder.study.kinds.allowed import faults_of_response
from beholder.study.kinds.catalogue import AnyQuestion
from beholder.study.study import Study
from beholder.study.words import split_words

MOST_ATTEMPTS = 20
"""A trial spoiled so often is left unanswered, so that nobody is stuck on it."""

TOLERANCE_MS = 0.5

TIMING = "timing"
"""Kind of the event that a page claimed more time than there was."""

_INSERT = insert(responses)


@dataclass(frozen=True, slots=True)
class Taken:
    """An answer that is in: the session after it, and what the page may now tell the person about it."""

    session: Row[Any]
    right: bool | None = None
    expected: str | None = None
    spoiled: bool = False


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
    verdict = _verdict(connection, study, standing, answer, now=now)
    response = answer.response()
    nothing_said = answer.spoiled and not (response.said or response.marks)
    words = len(split_words(trial.prompt or ""))
    faults = [] if nothing_said else faults_of_response(standing.question, response, words=words)
    if faults:
        raise RefusedError(422, "not-allowed", "; ".join(faults))
    right = None
    if trial.expected is not None and response.said:
        right = all(said.text == trial.expected for said in response.said)
    _write(connection, standing, trial, answer, verdict, right=right, now=now)
    if verdict.fault is None:
        if trial.slot != session.slot:
            close_place(connection, trial.question, trial.slot)
        after = go_on(connection, catalogue, study, standing, trial, now=now)
        return _told(after, standing.question, trial, right)
    if answer.attempt < MOST_ATTEMPTS:
        after = change(connection, session.session, attempt=answer.attempt + 1, presented=now, seen=now)
    else:
        after = leave_trial(connection, catalogue, study, standing, trial, reason=SPOILED, now=now)
    return Taken(after, spoiled=True)


def _verdict(connection: Connection, study: Study, standing: Standing, answer: Answer, *, now: float) -> Verdict:
    """What is believed of the times that came with an answer. The time of simulated raters is simulated, too."""
    session, question = standing.session, standing.question
    elapsed = None if session.presented is None else now - session.presented

    def judged(elapsed: float | None) -> Verdict:
        return judge(
            question,
            answer,
            intended_ms=standing.exposure_ms,
            elapsed=elapsed,
            checked_frame_ms=session.frame_ms,
            min_hz=study.collect.min_hz,
        )

    if answer.spoiled:
        return Verdict(judged(elapsed).seconds, answer.spoiled_reason or SPOILED)
    lacking = answer.exposure is None and intended_exposure(question, standing.exposure_ms) is not None
    verdict = judged(elapsed)
    if not lacking and verdict == Verdict(answer.seconds):
        return verdict
    simulated = select(persons.c.simulated).where(persons.c.person == session.person)
    if connection.scalar(simulated):
        return judged(None)
    if lacking:
        raise RefusedError(
            422, "no-exposure", "images that are shown for a while need the exposure that was shown"
        )
    return verdict


def _write(
    connection: Connection,
    standing: Standing,
    trial: Trial,
    answer: Answer,
    verdict: Verdict,
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
        "seconds": verdict.seconds,
        "intended_ms": standing.exposure_ms,
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
        detail = where | {"claimed": answer.seconds, "elapsed": round(now - standing.session.presented, 3)}
        connection.execute(insert(events).values(session=session, at=now, kind=TIMING, detail=detail))


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
    if not row.valid:
        return Taken(session, spoiled=True)
    trial = catalogue.trials_of(session)[row.trial]
    return _told(session, catalogue.questions[session.question], trial, row.right)


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
