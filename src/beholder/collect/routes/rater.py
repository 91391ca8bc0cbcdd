"""What the pages of people who judge talk to."""

from typing import Annotated, Any

from fastapi import APIRouter, Cookie, Depends, Request, Response
from sqlalchemy import Row, delete, insert
from sqlalchemy.exc import IntegrityError

from beholder.collect.database.schema import comments, events, responses, skips
from beholder.collect.server.service import COOKIE, Service
from beholder.collect.session import messages
from beholder.collect.session.admission import Entered, arrive, enter
from beholder.collect.session.answers import TIMING, take_answer
from beholder.collect.session.completion import end_session
from beholder.collect.session.consent import consent_hash, consent_text
from beholder.collect.session.leases import abandon_unfinished_blocks, reopen_places
from beholder.collect.session.progress import change
from beholder.collect.session.skips import SPOILED, skip_trial
from beholder.collect.session.slot_lending import complete_finished
from beholder.errors import RefusedError
from beholder.study.kinds.catalogue import kind_of

router = APIRouter(prefix="/api", tags=["rater"])

Held = Annotated[str | None, Cookie(alias=COOKIE)]
State = dict[str, Any]


async def service_of(request: Request) -> Service:
    """The study that this application serves."""
    service: Service = request.app.state.service
    return service


Serving = Annotated[Service, Depends(service_of)]


@router.post("/enter")
def post_enter(
    body: messages.Enter, request: Request, response: Response, service: Serving, beholder: Held = None
) -> State:
    """Come in by a link: find or make the session, and set its cookie."""
    try:
        entered, state = _enter(service, body, beholder)
    except IntegrityError:  # the same person came in twice at once; now the first has made the session
        entered, state = _enter(service, body, beholder)
    secure = request.url.scheme == "https"
    framed = secure and "turkSubmitTo" in body.parameters  # MTurk shows the page within its own
    response.set_cookie(
        COOKIE,
        entered.cookie,
        httponly=True,
        secure=secure,
        samesite="none" if framed else "lax",
        path="/",
        max_age=30 * 86_400,
    )
    return state if entered.guest else state | {"resume": f"/r/{entered.resume}"}


@router.get("/state")
def get_state(service: Serving, beholder: Held = None) -> State:
    """Where the session stands."""
    with service.database.writing() as connection:
        session = service.session(connection, beholder)
        guest = service.is_guest(session, beholder)
        return service.state(connection, service.alive(connection, session), guest=guest)


@router.post("/consent")
def post_consent(body: messages.Consent, service: Serving, beholder: Held = None) -> State:
    """Agree to the text as it stands, or decline."""
    with service.database.writing() as connection:
        session = service.session(connection, beholder)
        _require(service.standing(connection, session).step, "consent")
        collect = service.study.collect
        if body.language not in collect.languages:
            raise RefusedError(422, "no-such-language", f"the study has no texts in '{body.language}'")
        text = consent_text(service.study, body.language)
        if (body.hash, body.version) != (consent_hash(text), collect.consent_version):
            raise RefusedError(409, "other-text", "the consent text has changed; please read it again")
        now = service.now()
        session = service.alive(
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
def post_check(body: messages.Check, service: Serving, beholder: Held = None) -> State:
    """What the browser is like; a screen too slow for a timed question ends the session."""
    with service.database.writing() as connection:
        session = service.session(connection, beholder)
        standing = service.standing(connection, session)
        _require(standing.step, "check")
        now = service.now()
        session = service.alive(
            connection, session, checked=now, frame_ms=body.frame_ms, screen=body.model_dump(mode="json")
        )
        slow = 1000 / body.frame_ms < service.study.collect.min_hz
        if slow and kind_of(standing.question).traits.flashes:
            service.require_owner(session, beholder)
            session = end_session(connection, service.study, session, "failed-checks", now=now)
        return service.state(connection, session)


@router.post("/begin")
def post_begin(body: messages.Nothing, service: Serving, beholder: Held = None) -> State:  # noqa: ARG001
    """The instructions are read."""
    with service.database.writing() as connection:
        session = service.session(connection, beholder)
        _require(service.standing(connection, session).step, "instructions")
        now = service.now()
        return service.state(connection, service.alive(connection, session, begun=now, presented=now))


@router.post("/break")
def post_break(body: messages.Nothing, service: Serving, beholder: Held = None) -> State:  # noqa: ARG001
    """The break is over."""
    with service.database.writing() as connection:
        session = service.session(connection, beholder)
        standing = service.standing(connection, session)
        _require(standing.step, "break")
        block = standing.trial.block if standing.trial is not None else session.breaks + 1
        return service.state(connection, service.alive(connection, session, breaks=block, presented=service.now()))


@router.post("/answer")
def post_answer(body: messages.Answer, service: Serving, beholder: Held = None) -> State:
    """An answer: on the disk before it is acknowledged, and once, however often it is sent."""
    with service.database.writing() as connection:
        session, now = service.session(connection, beholder), service.now()
        service.keep_place(connection, session, now=now)
        taken = take_answer(connection, service.catalogue, service.study, session, body, now=now)
        _require_owner_to_end(service, taken.session, beholder)
        state = service.state(connection, taken.session)
    known = taken.right is not None
    feedback = {"right": taken.right, "expected": taken.expected} if known else None
    return {"state": state, "feedback": feedback, "spoiled": taken.spoiled}


@router.post("/skip")
def post_skip(body: messages.Skip, service: Serving, beholder: Held = None) -> State:
    """An image that someone will not judge: paid and replaced, or, past the limit, the end of the session."""
    with service.database.writing() as connection:
        session, now = service.session(connection, beholder), service.now()
        service.keep_place(connection, session, now=now)
        after = skip_trial(connection, service.catalogue, service.study, session, body, now=now)
        _require_owner_to_end(service, after, beholder)
        return service.state(connection, after)


@router.post("/debrief")
def post_debrief(body: messages.Debrief, service: Serving, beholder: Held = None) -> State:
    """What someone thinks of the task; then the session is complete."""
    with service.database.writing() as connection:
        session = service.session(connection, beholder)
        _require(service.standing(connection, session).step, "debrief")
        now = service.now()
        connection.execute(
            insert(comments).values(
                session=session.session, clear=body.clear, fair=body.fair, text=body.comment, at=now
            )
        )
        session = service.alive(connection, session, debriefed=now)
        return service.state(connection, end_session(connection, service.study, session, "complete", now=now))


@router.post("/withdraw")
def post_withdraw(body: messages.Withdraw, service: Serving, beholder: Held = None) -> State:
    """Stop now; with ``delete``, nothing of the answers is kept, and the place is open again."""
    with service.database.writing() as connection:
        session = service.session(connection, beholder)
        service.require_owner(session, beholder)
        name = session.session
        if session.status == "running":
            abandon_unfinished_blocks(connection, service.catalogue, session)
            session = end_session(connection, service.study, session, "withdrawn", now=service.now())
        if body.delete:
            for table in (responses, skips, comments):
                connection.execute(delete(table).where(table.c.session == name))
            of_answers = events.c.kind.in_((SPOILED, TIMING))
            connection.execute(delete(events).where(events.c.session == name, of_answers))
            reopen_places(connection, service.catalogue, session)
            session = change(connection, name, screen=None)
        return service.state(connection, session)


@router.post("/heartbeat", status_code=204)
def post_heartbeat(body: messages.Nothing, service: Serving, beholder: Held = None) -> None:  # noqa: ARG001
    """A sign of life."""
    with service.database.writing() as connection:
        service.alive(connection, service.session(connection, beholder))


def _enter(service: Service, body: messages.Enter, cookie: str | None) -> tuple[Entered, State]:
    arrival = arrive(service.catalogue, service.study, service.proofs, body)
    with service.database.writing() as connection:
        now = service.now()
        complete_finished(connection, service.study, now=now)
    with service.database.writing() as connection:
        entered = enter(connection, service.catalogue, service.study, body, arrival, cookie=cookie, now=now)
        session = service.alive(connection, entered.session)
        return entered, service.state(connection, session, guest=entered.guest)


def _require_owner_to_end(service: Service, after: Row[Any], cookie: str | None) -> None:
    """Refuse a guest whose act would give the session up; what was written for it is undone."""
    if after.status == "returned":
        service.require_owner(after, cookie)


def _require(step: str, wanted: str) -> None:
    if step != wanted:
        raise RefusedError(409, "other-step", f"the session is at the step '{step}', not '{wanted}'")
