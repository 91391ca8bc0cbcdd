"""The HTTP interface of a rater's own page in a panel."""

from typing import Annotated, Any

from fastapi import APIRouter, Cookie, Depends, Header, Request, Response
from fastapi import Path as PathParameter
from sqlalchemy import delete, insert, select

from beholder.collect.database.schema import persons
from beholder.collect.panel import leaving, live_work, logins, requests, voices
from beholder.collect.panel.feed import offers
from beholder.collect.panel.logins import RaterLogin
from beholder.collect.panel.own_page import own_page
from beholder.collect.panel.schema import interests, members, work
from beholder.collect.panel.server.service import PanelService
from beholder.collect.researcher.access import CSRF_HEADER
from beholder.collect.researcher.actions import set_paused
from beholder.collect.routes.pages import PAGES, get_health, get_ready
from beholder.collect.server.child_process import run_child
from beholder.collect.server.service import Service
from beholder.collect.server.static_files import page_file
from beholder.collect.server.threads import FILES
from beholder.collect.session.cookies import PANEL_COOKIE, stamped
from beholder.collect.session.messages import Nothing
from beholder.collect.session.texts import panel_texts
from beholder.errors import RefusedError, StageError

router = APIRouter(tags=["panel"])

PanelCookie = Annotated[str | None, Cookie(alias=PANEL_COOKIE)]
JsonObject = dict[str, Any]


async def panel_of(request: Request) -> PanelService:
    """Return the service of the panel."""
    service: PanelService = request.app.state.service
    return service


Panel = Annotated[PanelService, Depends(panel_of)]


def signed_in(panel: Panel, cookie: PanelCookie = None) -> RaterLogin:
    """Return the rater who is signed in; refuse anyone else."""
    with panel.database.reading() as connection:
        return logins.login_of(connection, cookie, now=panel.now())


SignedIn = Annotated[RaterLogin, Depends(signed_in)]


def from_own_page(login: SignedIn, value: Annotated[str | None, Header(alias=CSRF_HEADER)] = None) -> RaterLogin:
    """Refuse a change that another site may have sent."""
    logins.require_csrf(login, value)
    return login


Changing = Annotated[RaterLogin, Depends(from_own_page)]


@router.get("/", include_in_schema=False)
@router.get("/i/{link}", include_in_schema=False)
async def get_page() -> Response:
    """Return the rater's own page; it requests everything else itself."""
    return await page_file(PAGES / "panel" / "index.html", {"Cache-Control": "no-cache"})


@router.get("/api/texts/{language}")
async def get_texts(language: Annotated[str, PathParameter(pattern="^[a-z]{2}$")]) -> JsonObject:
    """Return all texts of a language."""
    return await FILES.run(panel_texts, language)


router.add_api_route("/api/health", get_health)
router.add_api_route("/api/ready", get_ready)


@router.post("/api/enter")
def post_enter(body: requests.EnterPanel, request: Request, response: Response, panel: Panel) -> JsonObject:
    """Sign in by a personal link, and set the cookie."""
    with panel.database.writing() as connection:
        login = logins.sign_in(connection, body.link, now=panel.now())
    response.set_cookie(
        PANEL_COOKIE,
        stamped(panel.catalogue.secret("token"), login.token),
        httponly=True,
        secure=request.url.scheme == "https",
        samesite="lax",
        path="/",
        max_age=logins.DAYS * 86_400,
    )
    return {"rater": login.rater}


@router.get("/api/me")
def get_me(panel: Panel, login: SignedIn) -> JsonObject:
    """Return all that the page shows, and the token that every change must carry."""
    _note_work(panel, login.rater)
    with panel.database.reading() as connection:
        page = own_page(connection, panel.served, panel.progress, login.rater, now=panel.now())
    return page | {"csrf": login.csrf}


@router.post("/api/take")
def post_take(body: requests.StudyMessage, panel: Panel, login: Changing) -> JsonObject:
    """Take a study that is open to the rater, or go on with it; return its address."""
    now = panel.now()
    with panel.database.reading() as connection:
        place = (members.c.study == body.study) & (members.c.rater == login.rater)
        joined = connection.scalar(select(members.c.rater).where(place).limit(1)) is not None
        if not joined or body.study not in panel.services:
            listed = {
                offer.study: offer
                for offer in offers(connection, panel.served, panel.progress, login.rater, now=now)
            }
            if body.study not in listed:
                raise RefusedError(409, "study-closed", "this study takes nobody now")
            if listed[body.study].opens_in > 0:
                raise RefusedError(409, "study-later", "this study is not open to you yet")
    if not joined:
        service = panel.services[body.study]
        with panel.database.writing() as connection:
            live_work.take_part(connection, service.study, service.database, login.rater)
    return {"address": f"/s/{body.study}/"}


@router.post("/api/rate")
def post_rate(body: requests.Rate, panel: Panel, login: Changing) -> JsonObject:
    """Rate a study that the rater took part in."""
    _require_work(panel, body.study, login.rater)
    with panel.database.writing() as connection:
        voices.rate(connection, body.study, login.rater, body.rating, giver="rater", now=panel.now())
    return {"rating": body.rating}


@router.post("/api/flag")
def post_flag(body: requests.Flag, panel: Panel, login: Changing) -> JsonObject:
    """Flag a study; the flags of several raters pause it, and with it its trials."""
    _require_work(panel, body.study, login.rater)
    with panel.database.writing() as connection:
        paused = voices.flag_study(connection, body.study, login.rater, body.kind, body.text, now=panel.now())
    if paused and body.study in panel.services:
        service = panel.services[body.study]
        with service.database.writing() as connection:
            set_paused(connection, paused=True, reason="flagged by raters", now=service.now(), who="panel")
    return {"paused": paused}


@router.post("/api/appeal")
def post_appeal(body: requests.Appeal, panel: Panel, login: Changing) -> JsonObject:
    """Answer the reason of an exclusion or of a frozen report; one answer is open at a time."""
    _require_work(panel, body.study, login.rater)
    with panel.database.writing() as connection:
        held = connection.execute(
            select(work).where(work.c.study == body.study, work.c.rater == login.rater)
        ).all()
        reason = next((row.excluded for row in held if row.excluded is not None), None)
        reason = reason if reason is not None else next((row.frozen for row in held if row.frozen), None)
        if reason is None:
            raise RefusedError(409, "nothing-to-appeal", "nothing was decided against you in this study")
        if voices.open_appeal(connection, body.study, login.rater) is not None:
            raise RefusedError(409, "appeal-open", "your answer is being read")
        number = voices.appeal(connection, body.study, login.rater, reason, body.statement, now=panel.now())
    return {"appeal": number}


@router.post("/api/contact")
def post_contact(body: requests.Contact, panel: Panel, login: Changing) -> JsonObject:
    """Agree to be contacted; the hash of the text is recorded."""
    text = panel_texts(body.language)["panel.contact.consent"]
    with panel.database.writing() as connection:
        leaving.agree_to_contact(connection, login.rater, body.address, text, now=panel.now())
    return {"contact": True}


@router.post("/api/opt-out")
def post_opt_out(body: Nothing, panel: Panel, login: Changing) -> JsonObject:  # noqa: ARG001
    """End all contact and all offers; the address is deleted."""
    with panel.database.writing() as connection:
        leaving.opt_out(connection, login.rater, now=panel.now())
    return {"opted_out": True}


@router.post("/api/opt-in")
def post_opt_in(body: Nothing, panel: Panel, login: Changing) -> JsonObject:  # noqa: ARG001
    """Be offered studies again, without contact."""
    with panel.database.writing() as connection:
        leaving.opt_in(connection, login.rater)
    return {"opted_out": False}


@router.post("/api/interests")
def post_interests(body: requests.Interests, panel: Panel, login: Changing) -> JsonObject:
    """Say which kinds of questions come first."""
    served_kinds = {question.kind for study in panel.served.values() for question in study.questions}
    kinds = sorted(served_kinds.intersection(body.kinds))
    with panel.database.writing() as connection:
        connection.execute(delete(interests).where(interests.c.rater == login.rater))
        for kind in kinds:
            connection.execute(insert(interests).values(rater=login.rater, kind=kind))
    return {"interests": kinds}


@router.post("/api/sign-out")
def post_sign_out(body: Nothing, response: Response, panel: Panel, login: Changing) -> JsonObject:  # noqa: ARG001
    """End the cookie of this browser."""
    with panel.database.writing() as connection:
        logins.sign_out(connection, login)
    response.delete_cookie(PANEL_COOKIE, path="/")
    return {"signed_out": True}


@router.post("/api/delete")
def post_delete(body: requests.Leave, response: Response, panel: Panel, login: Changing) -> JsonObject:
    """Delete the rater and, if wished, the answers in every study; refused while money is owed."""
    _note_work(panel, login.rater)
    with panel.database.reading() as connection:
        leaving.require_no_open_payments(connection, login.rater)
        places = connection.execute(select(members).where(members.c.rater == login.rater)).all()
    for place in places:
        service = panel.services.get(place.study)
        if service is not None and _has_person(service, place.pseudonym):
            options = () if body.answers else ("--keep-answers",)
            url = "" if service.database.is_sqlite else service.database.url
            run_child(
                "beholder", "forget", service.folder, "--rater", place.pseudonym, *options, "--json", url=url
            )
    try:
        leaving.forget_rater(panel.database, login.rater, now=panel.now())
    except StageError as error:
        raise RefusedError(409, "money-owed", str(error)) from error
    response.delete_cookie(PANEL_COOKIE, path="/")
    return {"deleted": True}


def _note_work(panel: PanelService, rater: str) -> None:
    """Bring what the panel knows of the rater's sessions up to date."""
    with panel.database.reading() as connection:
        names = set(connection.scalars(select(members.c.study).where(members.c.rater == rater)))
    for name in names.intersection(panel.services):
        service = panel.services[name]
        with panel.database.reading() as connection:
            changed = live_work.work_changes(connection, service.study, service.database, rater)
        if changed:
            with panel.database.writing() as connection:
                live_work.note_work(connection, service.study, service.database, rater)


def _require_work(panel: PanelService, study: str, rater: str) -> None:
    """Refuse a voice about a study that the rater took no part in."""
    _note_work(panel, rater)
    with panel.database.reading() as connection:
        place = (work.c.study == study) & (work.c.rater == rater)
        if connection.scalar(select(work.c.session).where(place).limit(1)) is None:
            raise RefusedError(404, "no-part", "you took no part in such a study")


def _has_person(service: Service, pseudonym: str) -> bool:
    with service.database.reading() as connection:
        return connection.scalar(select(persons.c.person).where(persons.c.person == pseudonym)) is not None
