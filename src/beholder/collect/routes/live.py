"""The HTTP interface of live results: consent, prompts, results and their images; and their moderation."""

from pathlib import Path as FilePath
from typing import Annotated, Any

from fastapi import APIRouter, Cookie, Depends, Path, Response
from pydantic import Field
from sqlalchemy import Row, select

from beholder.collect.database.schema import trials
from beholder.collect.live import moderation
from beholder.collect.live.room import LiveRoom, request_results
from beholder.collect.live.targets import allowance_of, target_of
from beholder.collect.routes.images import HEADERS
from beholder.collect.routes.rater import Serving, State
from beholder.collect.routes.researcher import may_change, signed_in
from beholder.collect.server.service import COOKIE, Service
from beholder.collect.server.threads import ImageRoute
from beholder.collect.session.catalogue import Trial
from beholder.collect.session.messages import NO_NUL, Message, Token
from beholder.collect.session.trial_view import image_token, trial_token
from beholder.errors import RefusedError
from beholder.images.display import MEDIA_TYPE, display_size
from beholder.study.kinds.catalogue import AnyQuestion

router = APIRouter(prefix="/api/live", tags=["rater"])
images = APIRouter(prefix="/api/live/image", tags=["rater"], route_class=ImageRoute)
reading = APIRouter(prefix="/researcher/api/moderation", tags=["researcher"], dependencies=[Depends(signed_in)])
changing = APIRouter(prefix="/researcher/api/moderation", tags=["researcher"], dependencies=[Depends(may_change)])

SessionCookie = Annotated[str | None, Cookie(alias=COOKIE)]
Name = Annotated[str, Path(max_length=64)]


class Prompt(Message):
    """A prompt, or another image of the same prompt, for the current trial."""

    trial: Token
    text: str = Field("", max_length=4000, pattern=NO_NUL)
    picked: Token | None = None


class Decisions(Message):
    """What others may see."""

    attempts: list[Token] = Field(max_length=1000)
    decision: moderation.Decision


class Words(Message):
    """All banned words."""

    words: list[Annotated[str, Field(max_length=100, pattern=NO_NUL)]] = Field(max_length=5000)


@router.get("")
def get_standing(service: Serving, beholder: SessionCookie = None) -> State:
    """Whether the rater agreed, how many results are left, and the last one; other images, where one is picked."""
    session, question, trial = _current(service, beholder)
    standing = _room(service).standing(session.session, trial.trial, allowance_of(question))
    others = _others(service, session, question, trial) if target_of(question)[1] else {}
    rows = []
    for token, name in others.items():
        picture = service.catalogue.pictures[name]
        width, height = display_size(picture.width, picture.height, service.side)
        rows.append({"token": token, "width": width, "height": height})
    return standing | {"others": rows}


@router.post("/agree")
def post_agree(service: Serving, beholder: SessionCookie = None) -> State:
    """Go on after the warning."""
    session, _, _ = _current(service, beholder)
    _room(service).agree(session.session)
    return {"agreed": True}


@router.post("")
def post_prompt(body: Prompt, service: Serving, beholder: SessionCookie = None) -> State:
    """Ask for a result; it is fetched by its name once it is there."""
    session, question, trial = _current(service, beholder)
    key = service.catalogue.secret("token")
    if body.trial != trial_token(key, session.session, trial.trial):
        raise RefusedError(409, "not-current", "this is not the trial that the session is at")
    target, scored = target_of(question)
    text, picked, files = body.text, None, tuple[FilePath, ...]()
    if scored:
        picked = _others(service, session, question, trial).get(body.picked or "")
        if picked is None:
            raise RefusedError(422, "no-image", "another image of this prompt is to be picked")
        text = trial.prompt or ""
        files = tuple(service.folder / service.catalogue.pictures[name].path for name in (trial.images[0], picked))
    return request_results(
        _room(service), session.session, trial.trial, text, [target], allowance_of(question), picked, files
    )


@router.get("/result/{attempt}")
def get_result(attempt: Name, service: Serving, beholder: SessionCookie = None) -> State:
    """A result as far as it is there."""
    with service.database.reading() as connection:
        session = service.session(connection, beholder, locked=False)
    view = _room(service).result(session.session, attempt)
    if view["width"] is not None:
        view["width"], view["height"] = display_size(view["width"], view["height"], service.side)
    return view | {"picked": None}


@images.get("/{attempt}", response_class=Response)
def get_image(attempt: Name, service: Serving, beholder: SessionCookie = None) -> Response:
    """The image of a result, for its author alone."""
    with service.database.reading() as connection:
        session = service.session(connection, beholder, locked=False)
    return _image(service, session.session, attempt)


@images.get("/other/{token}", response_class=Response)
def get_other(token: Name, service: Serving, beholder: SessionCookie = None) -> Response:
    """Another image of the prompt of the current trial."""
    session, question, trial = _current(service, beholder)
    name = _others(service, session, question, trial).get(token)
    if name is None:
        raise RefusedError(404, "no-image", "there is no such image for this session now")
    return Response(service.images.content(name), media_type=MEDIA_TYPE, headers=HEADERS)


@reading.get("")
def get_moderation(service: Serving, everything: bool = False) -> State:
    """Results to decide on, and the banned words."""
    with _room(service).database.reading() as connection:
        return {
            "queue": moderation.moderation_queue(connection, everything=everything),
            "banned": moderation.banned_words(connection),
        }


@reading.get("/image/{attempt}", response_class=Response)
def get_moderated_image(attempt: Name, service: Serving) -> Response:
    """The image of a result, for the researcher."""
    return _image(service, None, attempt)


@changing.post("")
def post_decisions(body: Decisions, service: Serving) -> State:
    """Approve or hide results."""
    with _room(service).database.writing() as connection:
        return {"changed": moderation.decide(connection, body.attempts, body.decision)}


@changing.post("/banned")
def post_banned(body: Words, service: Serving) -> State:
    """Replace the banned words."""
    with _room(service).database.writing() as connection:
        return {"banned": moderation.ban_words(connection, body.words)}


for part in (images, reading, changing):
    router.routes.extend(part.routes)


def _room(service: Service) -> LiveRoom:
    if service.live is None:
        raise RefusedError(404, "not-live", "no question of this study makes results while raters wait")
    return service.live


def _image(service: Service, author: str | None, attempt: str) -> Response:
    collect, background = service.study.collect, service.study.images.background
    content = _room(service).content(
        author, attempt, side=service.side, quality=collect.image_quality, background=background
    )
    return Response(content, media_type=MEDIA_TYPE, headers=HEADERS)


def _current(service: Service, cookie: str | None) -> tuple[Row[Any], AnyQuestion, Trial]:
    """The session, its question and its trial; refuse where no result may be asked for."""
    with service.database.reading() as connection:
        session = service.session(connection, cookie, locked=False)
        progress = service.progress(connection, session)
    _room(service)
    if progress.step != "trial" or progress.trial is None:
        raise RefusedError(409, "other-step", f"the session is at the step '{progress.step}', not 'trial'")
    return session, progress.question, progress.trial


def _others(service: Service, session: Row[Any], question: AnyQuestion, trial: Trial) -> dict[str, str]:
    """Other images of the trial's prompt that the question has, by their tokens."""
    same = (trials.c.question == question.name) & (trials.c.prompt == trial.prompt)
    with service.database.reading() as connection:
        rows = connection.scalars(select(trials.c.images).where(same)).all()
    names = sorted({name for row in rows for name in row} - set(trial.images))
    key = service.catalogue.secret("token")
    return {image_token(key, session.session, trial.trial, name): name for name in names}
