"""The researcher's own pages: signing in, the page itself, and questions as people see them."""

import json
from typing import Annotated
from urllib.parse import parse_qs

from fastapi import APIRouter, Cookie, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import FileResponse, HTMLResponse, RedirectResponse

from beholder.collect.researcher import access
from beholder.collect.researcher.forward import SESSION_COOKIE, Forwarded
from beholder.collect.researcher.preview import COOKIE as PREVIEW_COOKIE
from beholder.collect.researcher.preview import invitation, open_preview, preview_app
from beholder.collect.routes.pages import PAGES
from beholder.collect.routes.rater import Serving
from beholder.collect.routes.researcher import SignedIn
from beholder.collect.routes.researcher import router as interface
from beholder.collect.service import Service
from beholder.errors import RefusedError

PLACE = "/researcher"
DAYS = 30
LONGEST_FORM = 1000
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": (
        "default-src 'self'; img-src 'self' blob: data:; object-src 'none'; base-uri 'none'; form-action 'self'; "
        "frame-ancestors 'none'"
    ),
}

Held = Annotated[str | None, Cookie(alias=access.COOKIE)]

router = APIRouter(tags=["researcher"])
router.routes.extend(interface.routes)


@router.get(PLACE, include_in_schema=False)
def get_page(request: Request, service: Serving, token: str | None = None, cookie: Held = None) -> Response:
    """The researcher's page; by the link with the token, first a cookie and an address without it."""
    if token is not None:
        return _sign_in(request, service, token)
    try:
        access.require_cookie(service.catalogue.secret("researcher"), cookie)
    except RefusedError:
        return _ask(401)
    return FileResponse(PAGES / "researcher" / "index.html", headers=HEADERS)


@router.post(PLACE, include_in_schema=False)
async def post_token(request: Request, service: Serving) -> Response:
    """The token from the form."""
    body = (await request.body())[:LONGEST_FORM]
    token = parse_qs(body.decode("utf-8", errors="replace")).get("token", [""])[0]
    return _sign_in(request, service, token.strip())


@router.get(PLACE + "/preview/{question}", include_in_schema=False)
def get_preview(question: str, request: Request, service: Serving, cookie: SignedIn) -> Response:  # noqa: ARG001
    """A question as people see it, from the beginning; nothing that is answered here is kept."""
    key = service.catalogue.secret("researcher")
    ticket = open_preview(service.database, question, key=key)
    page = (PAGES / "index.html").read_text(encoding="utf-8")
    ours = (PAGES / "researcher" / "preview-head.html").read_text(encoding="utf-8")
    response = HTMLResponse(page.replace("<head>", f"<head>\n{ours}", 1), headers=HEADERS)
    room = f"{PLACE}/preview"
    secure = request.url.scheme == "https"
    response.set_cookie(PREVIEW_COOKIE, ticket, httponly=True, samesite="strict", secure=secure, path=room)
    response.delete_cookie(SESSION_COOKIE, path=room)
    return response


@router.api_route(PLACE + "/preview/api/{rest:path}", methods=["GET", "POST"], include_in_schema=False)
async def forward(
    rest: str,
    request: Request,
    service: Serving,
    cookie: SignedIn,  # noqa: ARG001 - must be signed in
    ticket: Annotated[str | None, Cookie(alias=PREVIEW_COOKIE)] = None,
) -> Response:
    """What the page of a preview asks of people's interface, answered from the throw-away database."""
    key = service.catalogue.secret("researcher")
    app = await run_in_threadpool(preview_app, service.folder, key, ticket)
    body = await request.body()
    if rest == "enter" and ticket is not None:
        body = _enter(body, ticket)
    return Forwarded(app, f"/api/{rest}", body)


def _enter(body: bytes, ticket: str) -> bytes:
    """The same entry by the preview's invitation."""
    try:
        language = str(json.loads(body).get("language", "en"))
    except (ValueError, AttributeError) as error:
        raise RefusedError(422, "not-json", "a JSON object was expected") from error
    return json.dumps({"parameters": {}, "path": invitation(ticket), "language": language}).encode()


def _sign_in(request: Request, service: Service, token: str) -> Response:
    secret = service.catalogue.secret("researcher")
    if not access.is_token(secret, token):
        return _ask(403)
    response = RedirectResponse(PLACE, status_code=303, headers={"Cache-Control": "no-store"})
    response.set_cookie(
        access.COOKIE,
        access.cookie_value(secret),
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
        path=PLACE,
        max_age=DAYS * 86_400,
    )
    return response


def _ask(status: int) -> Response:
    """The page that asks for the token; 403 after a wrong one, and then it says so."""
    page = (PAGES / "researcher" / "login.html").read_text(encoding="utf-8")
    if status == 403:
        page = page.replace('role="alert" hidden', 'role="alert"', 1)
    return HTMLResponse(page, status_code=status, headers=HEADERS)
