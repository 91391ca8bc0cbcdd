"""The application: routes, and how errors leave it."""

import logging
from pathlib import Path

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from sqlalchemy.exc import DBAPIError, OperationalError

from beholder import __version__
from beholder.collect.guard import Guard
from beholder.collect.routes import images, pages, rater, researcher_pages
from beholder.collect.service import Service
from beholder.errors import RefusedError

AGAIN = {"Retry-After": "1"}

log = logging.getLogger(__name__)


def create_app(folder: Path, url: str, *, limited: bool = True) -> FastAPI:
    """The server of one study; ``limited`` is off where a test floods it on purpose."""
    app = FastAPI(title="beholder", version=__version__, docs_url=None, redoc_url=None)
    app.state.service = service = Service(folder, url)
    for router in (rater.router, images.router, pages.router, researcher_pages.router):
        app.router.routes.extend(router.routes)  # as they are: including a router would build each of them again
    app.mount("/static", pages.static_files(), name="static")
    app.add_exception_handler(RefusedError, _refused)
    app.add_exception_handler(RequestValidationError, _malformed)
    app.add_exception_handler(DBAPIError, _database_gone)
    app.add_middleware(Guard, key=service.catalogue.secret("token"), limited=limited)
    return app


async def _refused(request: Request, error: Exception) -> Response:  # noqa: ARG001 - FastAPI's signature
    if not isinstance(error, RefusedError):
        raise error
    return _reply(error.status, error.code, error.message)


async def _malformed(request: Request, error: Exception) -> Response:  # noqa: ARG001
    """All faults of a body at once; what was sent is not sent back."""
    if not isinstance(error, RequestValidationError):
        raise error
    faults = [f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors()]
    return _reply(422, "malformed", "; ".join(faults).encode("ascii", "backslashreplace").decode())


async def _database_gone(request: Request, error: Exception) -> Response:  # noqa: ARG001
    """The database is down or starts anew: nothing was written, and the page sends the same again."""
    gone = isinstance(error, OperationalError) or (isinstance(error, DBAPIError) and error.connection_invalidated)
    if not gone:
        raise error
    log.error("the database cannot be reached: %s", str(error).partition("\n")[0])
    return _reply(503, "no-database", "the database cannot be reached; nothing was written", AGAIN)


def _reply(status: int, code: str, message: str, headers: dict[str, str] | None = None) -> JSONResponse:
    return JSONResponse({"detail": {"code": code, "message": message}}, status_code=status, headers=headers)
