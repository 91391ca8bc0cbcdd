"""Sign-in of researchers, and the page behind it."""

import hmac
import math
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import parse_qs

from anyio import CapacityLimiter, to_thread
from fastapi import APIRouter, Cookie, Request, Response
from fastapi import Path as PathParameter
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import FileResponse, HTMLResponse, RedirectResponse
from sqlalchemy.exc import OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from beholder.collect.researcher import access
from beholder.collect.researcher.accounts import is_name
from beholder.collect.researcher.sign_in_attempts import Attempts
from beholder.collect.researcher.sign_in_link import is_local_request
from beholder.collect.routes.pages import PAGES
from beholder.collect.routes.rater import Serving
from beholder.collect.server.prefix import prefix_of
from beholder.collect.server.service import Service
from beholder.collect.server.threads import FILES
from beholder.collect.session.identity import opaque
from beholder.collect.session.texts import researcher_texts
from beholder.errors import RefusedError, StorageError

PAGE_PATH = "/researcher"
LONGEST_FORM = 4000
FAMILIAR = "beholder_familiar"
"""Cookie of a browser that has signed in to an account before; it grants no access."""

CHECKED_AT_ONCE = 2
"""Number of passwords that are checked at the same time, each with one core and 32 MiB."""

WAITING = 20
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": (
        "default-src 'self'; img-src 'self' blob: data:; object-src 'none'; base-uri 'none'; form-action 'self'; "
        "frame-ancestors 'none'"
    ),
}

CANNOT_STORE = (OperationalError, PoolTimeoutError, StorageError)
"""Errors of a database that is full, busy or down."""

LoginCookie = Annotated[str | None, Cookie(alias=access.COOKIE)]

router = APIRouter(tags=["researcher"])


@router.get(PAGE_PATH, include_in_schema=False)
def get_page(request: Request, service: Serving, token: str | None = None, cookie: LoginCookie = None) -> Response:
    """Return the researcher's page; a link with the token first gets a cookie and a redirect without the token."""
    if token is not None:
        return _sign_in_by_link(request, service, token)
    try:
        with service.database.reading() as connection:
            access.login_of(connection, cookie, now=service.now(), local=is_local_request(request))
    except RefusedError:
        return _sign_in_page(request, 401)
    page: Path = getattr(request.app.state, "researcher_page", PAGES / "researcher" / "index.html")
    return FileResponse(page, headers=HEADERS)


@router.get(PAGE_PATH + "/texts/{language}", include_in_schema=False)
async def get_texts(language: Annotated[str, PathParameter(pattern="^[a-z]{2}$")]) -> dict[str, Any]:
    """Return the texts of the researcher's pages, which hold no data; the sign-in page needs them, too."""
    return await FILES.run(researcher_texts, language)


@router.post(PAGE_PATH, include_in_schema=False)
async def post_sign_in(request: Request, service: Serving) -> Response:
    """Sign in by name and password from the form, or by the link's token."""
    if request.headers.get("sec-fetch-site") == "cross-site":
        return _sign_in_page(request, 403, "elsewhere")
    body = (await request.body())[:LONGEST_FORM]
    fields = parse_qs(body.decode("utf-8", errors="replace"), keep_blank_values=True)
    if "token" in fields:
        return await run_in_threadpool(_sign_in_by_link, request, service, fields["token"][0].strip())
    name = fields.get("name", [""])[0].strip().lower()
    return await _sign_in_by_password(request, service, name, fields.get("password", [""])[0])


def _sign_in_by_link(request: Request, service: Service, token: str) -> Response:
    if not is_local_request(request):
        return _sign_in_page(request, 403, "link")
    try:
        cookie = access.sign_in_by_link(service.database, token, now=service.now())
    except CANNOT_STORE:
        return _sign_in_page(request, 503, "storage", wait=1)
    return _sign_in_page(request, 403, "token") if cookie is None else _signed_in(request, cookie)


async def _sign_in_by_password(request: Request, service: Service, name: str, password: str) -> Response:
    """Check a password in a thread, few at a time; wrong passwords are slowed down."""
    checks = _password_checks(request)
    if checks.threads.statistics().tasks_waiting >= WAITING:
        return _sign_in_page(request, 503, "busy", wait=1)
    address, account = request.client.host if request.client else "", name if is_name(name) else ""
    proof = opaque(service.catalogue.secret("token"), FAMILIAR, name)
    familiar = hmac.compare_digest(request.cookies.get(FAMILIAR, "").encode("utf-8", "replace"), proof.encode())
    wait = checks.attempts.take(account, address, familiar=familiar)
    if wait > 0:
        return _sign_in_page(request, 429, "often", wait=math.ceil(wait))
    check = partial(access.sign_in_by_password, service.database, name, password, now=service.now())
    try:
        cookie = await to_thread.run_sync(check, limiter=checks.threads)
    except CANNOT_STORE:
        return _sign_in_page(request, 503, "storage", wait=1)
    if cookie is None:
        return _sign_in_page(request, 403, "password")
    checks.attempts.give_back(account, address, familiar=familiar)
    response = _signed_in(request, cookie)
    _set_cookie(request, response, FAMILIAR, proof, days=365)
    return response


@dataclass
class PasswordChecks:
    """The limits of password checks: attempts, and threads."""

    attempts: Attempts = field(default_factory=Attempts)
    threads: CapacityLimiter = field(default_factory=lambda: CapacityLimiter(CHECKED_AT_ONCE))


def _password_checks(request: Request) -> PasswordChecks:
    if not hasattr(request.app.state, "password_checks"):
        request.app.state.password_checks = PasswordChecks()
    checks: PasswordChecks = request.app.state.password_checks
    return checks


def _signed_in(request: Request, cookie: str) -> Response:
    response = RedirectResponse(
        prefix_of(request.scope) + PAGE_PATH, status_code=303, headers={"Cache-Control": "no-store"}
    )
    _set_cookie(request, response, access.COOKIE, cookie, days=access.DAYS)
    return response


def _set_cookie(request: Request, response: Response, name: str, value: str, *, days: int) -> None:
    response.set_cookie(
        name,
        value,
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
        path=prefix_of(request.scope) + PAGE_PATH,
        max_age=days * 86_400,
    )


def _sign_in_page(request: Request, status: int, case: str = "", *, wait: int = 0) -> Response:
    """Return the sign-in page, with the reason of a refusal; the token field is there only for local requests."""
    page = (PAGES / "researcher" / "login.html").read_text(encoding="utf-8")
    if case:
        page = page.replace(f'data-case="{case}" hidden', f'data-case="{case}"', 1)
    if is_local_request(request):
        page = page.replace('id="by-link" hidden', 'id="by-link"', 1)
    headers = HEADERS | ({"Retry-After": str(wait)} if wait else {})
    return HTMLResponse(page.replace("{seconds}", str(wait)), status_code=status, headers=headers)
