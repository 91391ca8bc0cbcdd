"""The researcher's pages: sign-in, the page itself, and previews of questions."""

import json
from typing import Annotated

from fastapi import APIRouter, Cookie, Request, Response
from fastapi import Path as PathParameter
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, PlainTextResponse

from beholder.collect.researcher.forward import SESSION_COOKIE, ForwardedResponse
from beholder.collect.researcher.preview import COOKIE as PREVIEW_COOKIE
from beholder.collect.researcher.preview import invitation, open_preview, preview_app
from beholder.collect.researcher.requests import LINE
from beholder.collect.routes import signing_in
from beholder.collect.routes.pages import PAGES
from beholder.collect.routes.rater import Serving
from beholder.collect.routes.researcher import SignedIn
from beholder.collect.routes.researcher import router as interface
from beholder.collect.routes.signing_in import HEADERS, PAGE_PATH
from beholder.collect.server.prefix import prefix_of
from beholder.collect.session.examples import require_examples
from beholder.errors import RefusedError, StudyError
from beholder.study.study import FILE_NAME, load_study

router = APIRouter(tags=["researcher"])
router.routes.extend(interface.routes)
router.routes.extend(signing_in.router.routes)


@router.get(PAGE_PATH + "/preview/{question}", include_in_schema=False)
def get_preview(
    question: Annotated[str, PathParameter(max_length=64, pattern=LINE)],
    request: Request,
    service: Serving,
    login: SignedIn,  # noqa: ARG001 - must be signed in
) -> Response:
    """Open the preview of a question as the study file has it now; its answers are not kept."""
    key = service.catalogue.secret("token")
    try:
        study = load_study(service.folder)
        require_examples(service.folder, study)
    except StudyError as error:
        return PlainTextResponse(str(error), status_code=409, headers=HEADERS)
    ticket = open_preview(service.database, study, question, key=key)
    page = (PAGES / "index.html").read_text(encoding="utf-8")
    head = (PAGES / "researcher" / "preview-head.html").read_text(encoding="utf-8")
    response = HTMLResponse(page.replace("<head>", f"<head>\n{head}", 1), headers=HEADERS)
    path = f"{prefix_of(request.scope)}{PAGE_PATH}/preview"
    secure = request.url.scheme == "https"
    response.set_cookie(PREVIEW_COOKIE, ticket, httponly=True, samesite="strict", secure=secure, path=path)
    response.delete_cookie(SESSION_COOKIE, path=path)
    return response


@router.get(PAGE_PATH + "/preview-version", include_in_schema=False)
def get_preview_version(service: Serving, login: SignedIn) -> dict[str, str]:  # noqa: ARG001 - must be signed in
    """Return a number that changes with the study file, so that a preview knows when it is out of date."""
    return {"version": str((service.folder / FILE_NAME).stat().st_mtime_ns)}


@router.api_route(PAGE_PATH + "/preview/api/{rest:path}", methods=["GET", "POST"], include_in_schema=False)
async def forward(
    rest: str,
    request: Request,
    service: Serving,
    login: SignedIn,  # noqa: ARG001 - must be signed in
    ticket: Annotated[str | None, Cookie(alias=PREVIEW_COOKIE)] = None,
) -> Response:
    """Forward a request of a preview's page to the application on its temporary database."""
    key = service.catalogue.secret("token")
    app = await run_in_threadpool(preview_app, service.folder, key, ticket)
    body = await request.body()
    if rest == "enter" and ticket is not None:
        body = _enter(body, ticket)
    return ForwardedResponse(app, f"/api/{rest}", body)


def _enter(body: bytes, ticket: str) -> bytes:
    """Replace the body of an entry: by the preview's invitation, in the same language."""
    try:
        language = str(json.loads(body).get("language", "en"))
    except (ValueError, AttributeError) as error:
        raise RefusedError(422, "not-json", "a JSON object was expected") from error
    return json.dumps({"parameters": {}, "path": invitation(ticket), "language": language}).encode()
