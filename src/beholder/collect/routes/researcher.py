"""What the researcher's page talks to: what is going on, and what can be done about it."""

import tempfile
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Cookie, Depends, Header, Query, Request, Response
from fastapi.responses import FileResponse
from sqlalchemy import func, select
from starlette.background import BackgroundTask

from beholder.collect.database.schema import persons, responses, sessions
from beholder.collect.researcher import access, actions, requests
from beholder.collect.researcher.access import Login
from beholder.collect.researcher.child_processes import Remembered, run_module
from beholder.collect.researcher.local_requests import is_nearby
from beholder.collect.researcher.overview import overview, warnings
from beholder.collect.researcher.raters import comment_rows, rater_rows
from beholder.collect.routes.rater import Serving
from beholder.collect.session import messages
from beholder.errors import RefusedError

FORMATS = (
    "parquet",
    "csv",
    "layer6",
    "hpd",
    "imagereward",
    "pickapic",
    "agiqa",
    "aigciqa",
    "richhf",
    "jspsych",
    "datasets",
)
"""Those of ``formats/catalogue.py`` that can be written; a test compares the two, since the server does not
load that module."""

NO_STORE = {"Cache-Control": "no-store"}

Part = dict[str, Any]


def signed_in(
    request: Request,
    service: Serving,
    response: Response,
    cookie: Annotated[str | None, Cookie(alias=access.COOKIE)] = None,
) -> Login:
    """The researcher who asks, or a refusal."""
    response.headers.update(NO_STORE)
    with service.database.reading() as connection:
        return access.login_of(connection, cookie, now=service.now(), nearby=is_nearby(request))


SignedIn = Annotated[Login, Depends(signed_in)]


def from_our_page(login: SignedIn, value: Annotated[str | None, Header(alias=access.CSRF_HEADER)] = None) -> Login:
    """Refuse what another site's page may have sent."""
    access.require_csrf(login, value)
    return login


def may_change(login: Annotated[Login, Depends(from_our_page)]) -> Login:
    """The researcher, who may change the study; a refusal for one who may only look."""
    access.require_manage(login)
    return login


Manager = Annotated[Login, Depends(may_change)]

router = APIRouter(prefix="/researcher/api", tags=["researcher"], dependencies=[Depends(signed_in)])
changing = APIRouter(prefix="/researcher/api", tags=["researcher"], dependencies=[Depends(may_change)])


@router.get("/overview")
def get_overview(service: Serving, login: SignedIn) -> Part:
    """The study at a glance, who is looking, and the value that every change must bring along."""
    with service.database.reading() as connection:
        found = overview(connection, service.catalogue, service.study, service.images, now=service.now())
    you = {"name": login.name, "role": login.role, "may_change": login.may_change}
    return found | {"you": you, "csrf": login.csrf, "formats": list(FORMATS)}


@router.post("/sign-out", dependencies=[Depends(from_our_page)])
def post_sign_out(body: messages.Nothing, response: Response, service: Serving, login: SignedIn) -> Part:  # noqa: ARG001
    """End the cookie that this request came with."""
    with service.database.writing() as connection:
        access.sign_out(connection, login)
    response.delete_cookie(access.COOKIE, path="/researcher")
    return {"signed_out": True}


@router.get("/warnings")
def get_warnings(service: Serving) -> Part:
    """What cannot wait: the page asks every few seconds, whatever it shows."""
    return {"warnings": warnings(service.images)}


@router.get("/raters")
def get_raters(
    service: Serving,
    question: Annotated[str | None, Query(max_length=64, pattern=requests.LINE)] = None,
    offset: Annotated[int, Query(ge=0, le=100_000_000)] = 0,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
    code: Annotated[str | None, Query(max_length=64)] = None,
) -> Part:
    """How people go about it, a page of sessions at a time; with ``code``, whose personal code that is."""
    with service.database.reading() as connection:
        total, rows = rater_rows(
            connection, service.catalogue, service.study, question=question, offset=offset, limit=limit, code=code
        )
    return {"total": total, "offset": offset, "rows": rows}


@router.get("/comments")
def get_comments(service: Serving) -> Part:
    """What people said about the task."""
    with service.database.reading() as connection:
        return {"rows": comment_rows(connection)}


@router.get("/results")
def get_results(request: Request, service: Serving) -> Part:
    """The leaderboard now; computed anew only where answers or people were added, left out or taken in again."""
    with service.database.reading() as connection:
        key = (
            connection.scalar(select(func.count()).select_from(responses)),
            connection.scalar(select(func.count()).where(responses.c.valid.is_(False))),
            connection.scalar(select(func.count()).where(persons.c.excluded.is_(True))),
            connection.scalar(select(func.count()).where(sessions.c.status == "withdrawn")),
        )
    if not hasattr(request.app.state, "results"):
        request.app.state.results = Remembered()
    remembered: Remembered = request.app.state.results
    module = "beholder.collect.researcher.results"
    found: Part = remembered.get(key, module, service.database.url, service.folder)
    return found | {"responses": key[0]}


@router.get("/export/{name}", response_class=FileResponse)
def get_export(name: str, service: Serving) -> FileResponse:
    """The study in one of the formats, as a zip file, from what the database holds now."""
    if name not in FORMATS:
        raise RefusedError(404, "no-such-format", f"there is no format '{name}'; known: {', '.join(FORMATS)}")
    with tempfile.NamedTemporaryFile(prefix="beholder-", suffix=".zip", delete=False) as file:
        path = Path(file.name)
    try:
        run_module("beholder.collect.researcher.exports", service.database.url, service.folder, name, path)
    except (RefusedError, RuntimeError):
        path.unlink(missing_ok=True)
        raise
    download = f"{service.study.name}-{name}.zip"
    return FileResponse(
        path,
        filename=download,
        media_type="application/zip",
        headers=NO_STORE,
        background=BackgroundTask(path.unlink),
    )


@changing.post("/pause")
def post_pause(body: requests.Deed, service: Serving, login: Manager) -> Part:
    """Nobody gets another trial until the study goes on."""
    with service.database.writing() as connection:
        actions.set_paused(connection, paused=True, reason=body.reason, now=service.now(), who=login.name)
    return {"paused": True}


@changing.post("/resume")
def post_resume(body: requests.Deed, service: Serving, login: Manager) -> Part:
    """The study goes on."""
    with service.database.writing() as connection:
        actions.set_paused(connection, paused=False, reason=body.reason, now=service.now(), who=login.name)
    return {"paused": False}


@changing.post("/extend")
def post_extend(body: requests.Extend, service: Serving, login: Manager) -> Part:
    """More places for a question, drawn by the design and put after those that there are."""
    module = "beholder.collect.researcher.extend"
    arguments = (service.database.url, service.folder, body.question, body.slots, body.reason, login.name)
    added: Part = run_module(module, *arguments)
    return added


@changing.post("/exclude")
def post_exclude(body: requests.About, service: Serving, login: Manager) -> Part:
    """Leave a person's answers out; their trials are asked of someone else."""
    with service.database.writing() as connection:
        opened = actions.exclude(
            connection,
            service.catalogue,
            service.study,
            body.rater,
            reason=body.reason,
            now=service.now(),
            who=login.name,
        )
    return {"opened": opened}


@changing.post("/include")
def post_include(body: requests.About, service: Serving, login: Manager) -> Part:
    """Count a person's answers again."""
    with service.database.writing() as connection:
        closed = actions.include(connection, body.rater, reason=body.reason, now=service.now(), who=login.name)
    return {"closed": closed}


@changing.post("/invite")
def post_invite(body: requests.Invite, service: Serving, login: Manager) -> Part:
    """Links, each for one person; they cannot be shown again."""
    with service.database.writing() as connection:
        links = actions.invite(
            connection, body.count, about=body.note, reason=body.reason, now=service.now(), who=login.name
        )
    return {"links": links}


@changing.post("/close")
def post_close(body: requests.Close, service: Serving, login: Manager) -> Part:
    """End a session that still runs."""
    with service.database.writing() as connection:
        actions.close_session(
            connection,
            service.catalogue,
            service.study,
            body.session,
            reason=body.reason,
            now=service.now(),
            who=login.name,
        )
    return {"closed": body.session}


router.routes.extend(changing.routes)
