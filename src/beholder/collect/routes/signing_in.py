"""Signing in as a researcher, and the page behind it."""

import hmac
import math
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated
from urllib.parse import parse_qs

from anyio import CapacityLimiter, to_thread
from fastapi import APIRouter, Cookie, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import FileResponse, HTMLResponse, RedirectResponse
from sqlalchemy.exc import OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from beholder.collect.researcher import access
from beholder.collect.researcher.accounts import is_name
from beholder.collect.researcher.local_requests import is_nearby
from beholder.collect.researcher.sign_in_attempts import Attempts
from beholder.collect.routes.pages import PAGES
from beholder.collect.routes.rater import Serving
from beholder.collect.server.service import Service
from beholder.collect.session.identity import opaque
from beholder.errors import RefusedError, StorageError

PLACE = "/researcher"
LONGEST_FORM = 4000
FAMILIAR = "beholder_familiar"
"""Cookie of a browser that has signed in to an account before; it opens nothing."""

CHECKED_AT_ONCE = 2
"""How many passwords are checked at the same time: each takes a core and 32 MiB while it is."""

WAITING = 20
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": (
        "default-src 'self'; img-src 'self' blob: data:; object-src 'none'; base-uri 'none'; form-action 'self'; "
        "frame-ancestors 'none'"
    ),
}

CANNOT_STORE = (OperationalError, PoolTimeoutError, StorageError)
"""What a database raises that is full, busy or away."""

Held = Annotated[str | None, Cookie(alias=access.COOKIE)]

router = APIRouter(tags=["researcher"])


@router.get(PLACE, include_in_schema=False)
def get_page(request: Request, service: Serving, token: str | None = None, cookie: Held = None) -> Response:
    """The researcher's page; by the link with the token, first a cookie and an address without it."""
    if token is not None:
        return _sign_in_by_link(request, service, token)
    try:
        with service.database.reading() as connection:
            access.login_of(connection, cookie, now=service.now(), nearby=is_nearby(request))
    except RefusedError:
        return _ask(request, 401)
    return FileResponse(PAGES / "researcher" / "index.html", headers=HEADERS)


@router.post(PLACE, include_in_schema=False)
async def post_sign_in(request: Request, service: Serving) -> Response:
    """Name and password from the form, or the link's token."""
    if request.headers.get("sec-fetch-site") == "cross-site":
        return _ask(request, 403, "elsewhere")
    body = (await request.body())[:LONGEST_FORM]
    fields = parse_qs(body.decode("utf-8", errors="replace"), keep_blank_values=True)
    if "token" in fields:
        return await run_in_threadpool(_sign_in_by_link, request, service, fields["token"][0].strip())
    name = fields.get("name", [""])[0].strip().lower()
    return await _sign_in_by_password(request, service, name, fields.get("password", [""])[0])


def _sign_in_by_link(request: Request, service: Service, token: str) -> Response:
    if not is_nearby(request):
        return _ask(request, 403, "link")
    try:
        cookie = access.sign_in_by_link(service.database, token, now=service.now())
    except CANNOT_STORE:
        return _ask(request, 503, "storage", wait=1)
    return _ask(request, 403, "token") if cookie is None else _welcome(request, cookie)


async def _sign_in_by_password(request: Request, service: Service, name: str, password: str) -> Response:
    """Check a password in a thread, few at a time; wrong ones are slowed down."""
    desk = _desk(request)
    if desk.threads.statistics().tasks_waiting >= WAITING:
        return _ask(request, 503, "busy", wait=1)
    address, account = request.client.host if request.client else "", name if is_name(name) else ""
    proof = opaque(service.catalogue.secret("token"), FAMILIAR, name)
    familiar = hmac.compare_digest(request.cookies.get(FAMILIAR, "").encode("utf-8", "replace"), proof.encode())
    wait = desk.attempts.take(account, address, familiar=familiar)
    if wait > 0:
        return _ask(request, 429, "often", wait=math.ceil(wait))
    check = partial(access.sign_in_by_password, service.database, name, password, now=service.now())
    try:
        cookie = await to_thread.run_sync(check, limiter=desk.threads)
    except CANNOT_STORE:
        return _ask(request, 503, "storage", wait=1)
    if cookie is None:
        return _ask(request, 403, "password")
    desk.attempts.give_back(account, address, familiar=familiar)
    response = _welcome(request, cookie)
    _set_cookie(request, response, FAMILIAR, proof, days=365)
    return response


@dataclass
class Desk:
    """Where passwords are checked."""

    attempts: Attempts = field(default_factory=Attempts)
    threads: CapacityLimiter = field(default_factory=lambda: CapacityLimiter(CHECKED_AT_ONCE))


def _desk(request: Request) -> Desk:
    if not hasattr(request.app.state, "desk"):
        request.app.state.desk = Desk()
    desk: Desk = request.app.state.desk
    return desk


def _welcome(request: Request, cookie: str) -> Response:
    response = RedirectResponse(PLACE, status_code=303, headers={"Cache-Control": "no-store"})
    _set_cookie(request, response, access.COOKIE, cookie, days=access.DAYS)
    return response


def _set_cookie(request: Request, response: Response, name: str, value: str, *, days: int) -> None:
    response.set_cookie(
        name,
        value,
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
        path=PLACE,
        max_age=days * 86_400,
    )


def _ask(request: Request, status: int, case: str = "", *, wait: int = 0) -> Response:
    """The page that asks who it is; after a refusal it says why. It takes the token on the server itself only."""
    page = (PAGES / "researcher" / "login.html").read_text(encoding="utf-8")
    if case:
        page = page.replace(f'data-case="{case}" hidden', f'data-case="{case}"', 1)
    if is_nearby(request):
        page = page.replace('id="by-link" hidden', 'id="by-link"', 1)
    headers = HEADERS | ({"Retry-After": str(wait)} if wait else {})
    return HTMLResponse(page.replace("{seconds}", str(wait)), status_code=status, headers=headers)
