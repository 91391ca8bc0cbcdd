"""The HTTP interface of the researcher's page: queries and actions."""

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
from beholder.collect.researcher.child_processes import CachedOutcome, run_module
from beholder.collect.researcher.downloads import formats_for
from beholder.collect.researcher.overview import overview, warnings
from beholder.collect.researcher.raters import comment_rows, rater_rows
from beholder.collect.researcher.sign_in_link import is_local_request
from beholder.collect.routes.rater import Serving
from beholder.collect.server.prefix import prefix_of
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
"""Those of ``formats/catalogue.py`` that can be written; a test compares the two, as the server does not
load that module."""

NO_STORE = {"Cache-Control": "no-store"}

JsonObject = dict[str, Any]


def signed_in(
    request: Request,
    service: Serving,
    response: Response,
    cookie: Annotated[str | None, Cookie(alias=access.COOKIE)] = None,
) -> Login:
    """Return the signed-in researcher; refuse anyone else."""
    response.headers.update(NO_STORE)
    with service.database.reading() as connection:
        return access.login_of(connection, cookie, now=service.now(), local=is_local_request(request))


SignedIn = Annotated[Login, Depends(signed_in)]


def from_own_page(login: SignedIn, value: Annotated[str | None, Header(alias=access.CSRF_HEADER)] = None) -> Login:
    """Refuse a request that another site may have sent."""
    access.require_csrf(login, value)
    return login


def may_change(login: Annotated[Login, Depends(from_own_page)]) -> Login:
    """Return a researcher who may change the study; refuse one who may only view it."""
    access.require_manage(login)
    return login


Manager = Annotated[Login, Depends(may_change)]

router = APIRouter(prefix="/researcher/api", tags=["researcher"], dependencies=[Depends(signed_in)])
changing = APIRouter(prefix="/researcher/api", tags=["researcher"], dependencies=[Depends(may_change)])


@router.get("/overview")
def get_overview(service: Serving, login: SignedIn) -> JsonObject:
    """Return the overview, the signed-in account, and the token that every change must carry."""
    with service.database.reading() as connection:
        summary = overview(connection, service.catalogue, service.study, service.images, now=service.now())
    you = {"name": login.name, "role": login.role, "may_change": login.may_change}
    return summary | {
        "you": you,
        "csrf": login.csrf,
        "formats": formats_for(service.study, FORMATS),
        "prototype": service.prototype is not None,
        "moderated": service.live is not None,
    }


@router.post("/sign-out", dependencies=[Depends(from_own_page)])
def post_sign_out(
    body: messages.Nothing,  # noqa: ARG001
    request: Request,
    response: Response,
    service: Serving,
    login: SignedIn,
) -> JsonObject:
    """Invalidate the cookie of this request."""
    with service.database.writing() as connection:
        access.sign_out(connection, login)
    response.delete_cookie(access.COOKIE, path=f"{prefix_of(request.scope)}/researcher")
    return {"signed_out": True}


@router.get("/warnings")
def get_warnings(service: Serving) -> JsonObject:
    """Return the warnings; the page asks every few seconds, whatever it shows."""
    return {"warnings": warnings(service.images)}


@router.get("/raters")
def get_raters(
    service: Serving,
    question: Annotated[str | None, Query(max_length=64, pattern=requests.LINE)] = None,
    offset: Annotated[int, Query(ge=0, le=100_000_000)] = 0,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
    code: Annotated[str | None, Query(max_length=64)] = None,
) -> JsonObject:
    """Return the conduct of raters, one page of sessions at a time; with ``code``, the session of that code."""
    with service.database.reading() as connection:
        total, rows = rater_rows(
            connection, service.catalogue, service.study, question=question, offset=offset, limit=limit, code=code
        )
    return {"total": total, "offset": offset, "rows": rows}


@router.get("/comments")
def get_comments(service: Serving) -> JsonObject:
    """Return the raters' comments."""
    with service.database.reading() as connection:
        return {"rows": comment_rows(connection)}


@router.get("/results/job")
def get_job_survey(service: Serving) -> JsonObject:
    """Return the scores of the job survey; nothing where the study does not ask it."""
    if not service.study.collect.job_survey:
        return {"raters": 0, "rows": [], "motivating": None, "weakest": None}
    scores: JsonObject = run_module("beholder.collect.researcher.job_survey", service.database.url)
    return scores


@router.get("/results")
def get_results(request: Request, service: Serving) -> JsonObject:
    """Return the leaderboard now; computed again only if answers, exclusions or sessions changed."""
    with service.database.reading() as connection:
        key = (
            connection.scalar(select(func.count()).select_from(responses)),
            connection.scalar(select(func.count()).where(responses.c.valid.is_(False))),
            connection.scalar(select(func.count()).where(persons.c.excluded.is_(True))),
            connection.scalar(select(func.count()).where(sessions.c.status == "withdrawn")),
            connection.scalar(select(func.count()).where(sessions.c.status != "running")),
        )
    if not hasattr(request.app.state, "results"):
        request.app.state.results = CachedOutcome()
    cached: CachedOutcome = request.app.state.results
    module = "beholder.collect.researcher.results"
    boards: JsonObject = cached.get(key, module, service.database.url, service.folder)
    return boards | {"responses": key[0]}


@router.get("/export/{name}", response_class=FileResponse)
def get_export(name: str, service: Serving) -> FileResponse:
    """Return the study in one of the formats, as a zip file, from the current content of the database."""
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
def post_pause(body: requests.StudyAction, service: Serving, login: Manager) -> JsonObject:
    """Pause the study: nobody gets another trial until it is resumed."""
    with service.database.writing() as connection:
        actions.set_paused(connection, paused=True, reason=body.reason, now=service.now(), who=login.name)
    return {"paused": True}


@changing.post("/resume")
def post_resume(body: requests.StudyAction, service: Serving, login: Manager) -> JsonObject:
    """Resume the study."""
    with service.database.writing() as connection:
        actions.set_paused(connection, paused=False, reason=body.reason, now=service.now(), who=login.name)
    return {"paused": False}


@changing.post("/extend")
def post_extend(body: requests.ExtendQuestion, service: Serving, login: Manager) -> JsonObject:
    """Add slots to a question, drawn by its design and appended to the existing ones."""
    module = "beholder.collect.researcher.extend"
    arguments = (service.database.url, service.folder, body.question, body.slots, body.reason, login.name)
    added: JsonObject = run_module(module, *arguments)
    return added


@changing.post("/exclude")
def post_exclude(body: requests.RaterAction, service: Serving, login: Manager) -> JsonObject:
    """Exclude a rater; their trials go to other raters."""
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
def post_include(body: requests.RaterAction, service: Serving, login: Manager) -> JsonObject:
    """Include a rater again."""
    with service.database.writing() as connection:
        closed = actions.include(connection, body.rater, reason=body.reason, now=service.now(), who=login.name)
    return {"closed": closed}


@changing.post("/invite")
def post_invite(body: requests.MakeInvitations, service: Serving, login: Manager) -> JsonObject:
    """Make invitation links, one per rater; they cannot be shown again."""
    with service.database.writing() as connection:
        links = actions.invite(
            connection, body.count, about=body.note, reason=body.reason, now=service.now(), who=login.name
        )
    return {"links": links}


@changing.post("/close")
def post_close(body: requests.CloseSession, service: Serving, login: Manager) -> JsonObject:
    """End a running session."""
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
