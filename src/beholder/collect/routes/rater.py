"""The HTTP interface of the raters' pages."""

from typing import Annotated, Any

from fastapi import APIRouter, Cookie, Depends, Request, Response
from sqlalchemy import Row, delete, insert
from sqlalchemy.exc import IntegrityError

from beholder.collect.database.schema import (
    comments,
    events,
    job_surveys,
    prototype_feedback,
    responses,
    skips,
    thinned,
)
from beholder.collect.live.forget import forget_authors
from beholder.collect.server.prefix import prefix_of
from beholder.collect.server.service import COOKIE, Service
from beholder.collect.session import messages
from beholder.collect.session.active_time import add_active_time
from beholder.collect.session.admission import Admission, admit, read_arrival
from beholder.collect.session.answers import TIMING, accept_answer
from beholder.collect.session.arrival import PanelVisitor
from beholder.collect.session.completion import end_session
from beholder.collect.session.consent import consent_hash, consent_text
from beholder.collect.session.cookies import PANEL_COOKIE
from beholder.collect.session.leases import invalidate_unfinished_blocks, reopen_slots
from beholder.collect.session.progress import change
from beholder.collect.session.skips import SPOILED, skip_trial
from beholder.collect.session.slot_lending import complete_finished_sessions, has_expired_sessions
from beholder.errors import RefusedError
from beholder.study.job_questions import SURVEY_KEYS
from beholder.study.kinds.catalogue import kind_of

router = APIRouter(prefix="/api", tags=["rater"])

SessionCookie = Annotated[str | None, Cookie(alias=COOKIE)]
State = dict[str, Any]


async def service_of(request: Request) -> Service:
    """Return the service of the study that this application serves."""
    service: Service = request.app.state.service
    return service


Serving = Annotated[Service, Depends(service_of)]


@router.post("/enter")
def post_enter(
    body: messages.Enter,
    request: Request,
    response: Response,
    service: Serving,
    beholder: SessionCookie = None,
    panel: Annotated[str | None, Cookie(alias=PANEL_COOKIE)] = None,
) -> State:
    """Enter by a link: find or create the session, and set its cookie."""
    panel_rater = None if service.panel_entry is None else service.panel_entry(panel)
    try:
        admission, state = enter(service, body, beholder, panel_rater)
    except IntegrityError:  # the same rater entered twice at once; now the first request has created the session
        admission, state = enter(service, body, beholder, panel_rater)
    secure = request.url.scheme == "https"
    framed = secure and "turkSubmitTo" in body.parameters  # MTurk shows the page within its own
    response.set_cookie(
        COOKIE,
        admission.cookie,
        httponly=True,
        secure=secure,
        samesite="none" if framed else "lax",
        path=f"{prefix_of(request.scope)}/",
        max_age=30 * 86_400,
    )
    return state if admission.guest else state | {"resume": f"/r/{admission.resume}"}


@router.get("/state")
def get_state(service: Serving, beholder: SessionCookie = None) -> State:
    """Return the current state of the session."""
    with service.database.writing() as connection:
        session = service.session(connection, beholder)
        guest = service.is_guest(session, beholder)
        return service.state(connection, service.record_activity(connection, session), guest=guest)


@router.post("/consent")
def post_consent(body: messages.Consent, service: Serving, beholder: SessionCookie = None) -> State:
    """Agree to the consent text as it stands, or decline."""
    with service.database.writing() as connection:
        session = service.session(connection, beholder)
        progress = service.progress(connection, session)
        _require(progress.step, "consent")
        collect = service.study.collect
        if body.language not in collect.languages:
            raise RefusedError(422, "no-such-language", f"the study has no texts in '{body.language}'")
        text = consent_text(service.study, progress.question, body.language)
        if (body.hash, body.version) != (consent_hash(text), collect.consent_version):
            raise RefusedError(409, "other-text", "the consent text has changed; please read it again")
        now = service.now()
        session = service.record_activity(
            connection,
            session,
            consent_hash=body.hash,
            consent_version=body.version,
            language=body.language,
            consented=now if body.agreed else None,
        )
        if not body.agreed:
            service.require_owner(session, beholder)
            session = end_session(connection, service.study, session, "no-consent", now=now)
        return service.state(connection, session)


@router.post("/check")
def post_check(body: messages.Check, service: Serving, beholder: SessionCookie = None) -> State:
    """Record the properties of the browser; a screen too slow for a timed question ends the session."""
    with service.database.writing() as connection:
        session = service.session(connection, beholder)
        progress = service.progress(connection, session)
        _require(progress.step, "check")
        now = service.now()
        session = service.record_activity(
            connection, session, checked=now, frame_ms=body.frame_ms, screen=body.model_dump(mode="json")
        )
        slow = 1000 / body.frame_ms < service.study.collect.min_hz
        if slow and kind_of(progress.question).traits.flashes:
            service.require_owner(session, beholder)
            session = end_session(connection, service.study, session, "failed-checks", now=now)
        return service.state(connection, session)


@router.post("/begin")
def post_begin(body: messages.Nothing, service: Serving, beholder: SessionCookie = None) -> State:  # noqa: ARG001
    """Begin the trials after the instructions."""
    with service.database.writing() as connection:
        session = service.session(connection, beholder)
        _require(service.progress(connection, session).step, "instructions")
        now = service.now()
        return service.state(connection, service.record_activity(connection, session, begun=now, presented=now))


@router.post("/break")
def post_break(body: messages.Nothing, service: Serving, beholder: SessionCookie = None) -> State:  # noqa: ARG001
    """Continue after a break."""
    with service.database.writing() as connection:
        session = service.session(connection, beholder)
        progress = service.progress(connection, session)
        _require(progress.step, "break")
        block = progress.trial.block if progress.trial is not None else session.breaks + 1
        return service.state(
            connection, service.record_activity(connection, session, breaks=block, presented=service.now())
        )


@router.post("/answer")
def post_answer(body: messages.Answer, service: Serving, beholder: SessionCookie = None) -> State:
    """Accept an answer: it is on the disk before it is acknowledged, and stored once however often it is sent."""
    with service.database.writing() as connection:
        session, now = service.session(connection, beholder), service.now()
        service.renew_lease(connection, session, now=now)
        accepted = accept_answer(
            connection, service.catalogue, service.study, session, body, now=now, live=service.live
        )
        _require_owner_to_end(service, accepted.session, beholder)
        state = service.state(connection, accepted.session)
    has_feedback = accepted.right is not None
    feedback = {"right": accepted.right, "expected": accepted.expected} if has_feedback else None
    return {"state": state, "feedback": feedback, "spoiled": accepted.spoiled}


@router.post("/skip")
def post_skip(body: messages.Skip, service: Serving, beholder: SessionCookie = None) -> State:
    """Skip a trial: paid and replaced, or, beyond the limit, the end of the session."""
    with service.database.writing() as connection:
        session, now = service.session(connection, beholder), service.now()
        service.renew_lease(connection, session, now=now)
        after = skip_trial(connection, service.catalogue, service.study, session, body, now=now)
        _require_owner_to_end(service, after, beholder)
        return service.state(connection, after)


@router.post("/debrief")
def post_debrief(body: messages.Debrief, service: Serving, beholder: SessionCookie = None) -> State:
    """Store the rater's comments on the task, and complete the session."""
    with service.database.writing() as connection:
        session = service.session(connection, beholder)
        _require(service.progress(connection, session).step, "debrief")
        if service.prototype is not None:
            raise RefusedError(409, "other-step", "a prototype ends with feedback and a vote")
        now = service.now()
        connection.execute(
            insert(comments).values(
                session=session.session, clear=body.clear, fair=body.fair, text=body.comment, at=now
            )
        )
        if body.job and service.study.collect.job_survey:
            answers = {name: point for name, point in body.job.items() if name in SURVEY_KEYS}
            connection.execute(insert(job_surveys).values(session=session.session, answers=answers, at=now))
        reported = {} if body.minutes is None else {"reported_seconds": 60 * body.minutes}
        session = service.record_activity(connection, session, debriefed=now, **reported)
        return service.state(connection, end_session(connection, service.study, session, "complete", now=now))


@router.post("/withdraw")
def post_withdraw(body: messages.Withdraw, service: Serving, beholder: SessionCookie = None) -> State:
    """Withdraw; with ``delete`` the answers are deleted, and the slot is open again."""
    with service.database.writing() as connection:
        session = service.session(connection, beholder)
        service.require_owner(session, beholder)
        name = session.session
        if session.status == "running":
            invalidate_unfinished_blocks(connection, service.catalogue, session)
            session = end_session(connection, service.study, session, "withdrawn", now=service.now())
        if body.delete:
            for table in (responses, skips, thinned, comments, prototype_feedback, job_surveys):
                connection.execute(delete(table).where(table.c.session == name))
            of_answers = events.c.kind.in_((SPOILED, TIMING))
            connection.execute(delete(events).where(events.c.session == name, of_answers))
            reopen_slots(connection, service.catalogue, session)
            session = change(connection, name, screen=None)
            forget_authors(service.folder, [name])
        return service.state(connection, session)


@router.post("/heartbeat", status_code=204)
def post_heartbeat(body: messages.ActiveTime, service: Serving, beholder: SessionCookie = None) -> None:
    """Record a sign of life, and the active time since the last one."""
    with service.database.writing() as connection:
        session = service.record_activity(connection, service.session(connection, beholder))
        add_active_time(connection, session, body.active, now=service.now())


@router.post("/time")
def post_time(body: messages.ActiveTime, service: Serving, beholder: SessionCookie = None) -> dict[str, float]:
    """Add active time, and return all of it: the page fills it in where it asks how long the session took."""
    with service.database.writing() as connection:
        session = service.record_activity(connection, service.session(connection, beholder))
        session = add_active_time(connection, session, body.active, now=service.now())
        return {"active_seconds": float(session.active_seconds)}


def enter(
    service: Service, body: messages.Enter, cookie: str | None, panel_rater: PanelVisitor | None
) -> tuple[Admission, State]:
    """Admit someone, after finished sessions with expired leases were completed, if there are any."""
    arrival = read_arrival(service.catalogue, service.study, service.proofs, body, panel_rater=panel_rater)
    now = service.now()
    with service.database.reading() as connection:
        is_due = has_expired_sessions(connection, now=now)
    if is_due:
        with service.database.writing() as connection:
            complete_finished_sessions(connection, service.study, now=now)
    with service.database.writing() as connection:
        admission = admit(connection, service.catalogue, service.study, body, arrival, cookie=cookie, now=now)
        session = service.record_activity(connection, admission.session)
        state = service.state(connection, session, guest=admission.guest)
    service.catalogue.read_ahead(session.question, session.slot)
    return admission, state


def _require_owner_to_end(service: Service, after: Row[Any], cookie: str | None) -> None:
    """Refuse a guest whose act would end the session; what was written for it is rolled back."""
    if after.status == "returned":
        service.require_owner(after, cookie)


def _require(step: str, expected: str) -> None:
    if step != expected:
        raise RefusedError(409, "other-step", f"the session is at the step '{step}', not '{expected}'")
