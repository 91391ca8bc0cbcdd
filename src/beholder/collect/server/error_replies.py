"""Replies to errors: a status, a code for the page, and a sentence for debugging."""

import logging
import math
import time

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from beholder.collect.server.disk import NO_ROOM
from beholder.errors import RefusedError, StorageError
from beholder.tables.full import is_full

AGAIN = {"Retry-After": "1"}
QUIET_SECONDS = 5.0

log = logging.getLogger(__name__)


def handle_errors(app: FastAPI) -> None:
    """Install the exception handlers of this module in an application."""
    app.add_exception_handler(RefusedError, _refused)
    app.add_exception_handler(RequestValidationError, _malformed)
    for error in (DBAPIError, PoolTimeoutError, StorageError, MemoryError):
        app.add_exception_handler(error, _no_database)
    app.add_exception_handler(OSError, _disk_full)


def try_again(code: str, message: str) -> JSONResponse:
    """Return a reply to a temporary fault (503); the page sends the same request again."""
    return _reply(503, code, message, AGAIN)


async def _refused(request: Request, error: Exception) -> Response:  # noqa: ARG001 - FastAPI's signature
    if not isinstance(error, RefusedError):
        raise error
    return _reply(error.status, error.code, error.message, AGAIN if error.status == 503 else None)


async def _malformed(request: Request, error: Exception) -> Response:  # noqa: ARG001
    """Name all faults of a body at once, without echoing what was sent."""
    if not isinstance(error, RequestValidationError):
        raise error
    faults = [f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors()]
    return _reply(422, "malformed", "; ".join(faults).encode("ascii", "backslashreplace").decode())


async def _no_database(request: Request, error: Exception) -> Response:  # noqa: ARG001
    """The database is down, busy or full: nothing was written, and the page sends the request again."""
    if isinstance(error, DBAPIError) and not (isinstance(error, OperationalError) or error.connection_invalidated):
        raise error
    _report(str(error).partition("\n")[0] or type(error).__name__)
    return try_again("no-database", "the database cannot be used now (away, busy or full); nothing was written")


async def _disk_full(request: Request, error: Exception) -> Response:  # noqa: ARG001
    """A temporary file of a download or a preview did not fit on the disk."""
    if not is_full(error):
        raise error
    return _reply(507, "disk-full", NO_ROOM)


class _Report:
    """Logs database errors at a limited rate, so that an outage does not write one line per request."""

    def __init__(self) -> None:
        self._last, self._suppressed = -math.inf, 0

    def __call__(self, fault: str) -> None:
        now = time.monotonic()
        if now < self._last + QUIET_SECONDS:
            self._suppressed += 1
            return
        more = f" (and {self._suppressed} more since the last line)" if self._suppressed else ""
        log.error("the database cannot be used: %s%s", fault, more)
        self._last, self._suppressed = now, 0


_report = _Report()


def _reply(status: int, code: str, message: str, headers: dict[str, str] | None = None) -> JSONResponse:
    return JSONResponse({"detail": {"code": code, "message": message}}, status_code=status, headers=headers)
