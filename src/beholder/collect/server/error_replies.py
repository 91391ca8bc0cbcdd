"""How errors leave the server: a code for the page, a sentence for whoever reads along."""

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
    """Let an application answer with these replies."""
    app.add_exception_handler(RefusedError, _refused)
    app.add_exception_handler(RequestValidationError, _malformed)
    for error in (DBAPIError, PoolTimeoutError, StorageError, MemoryError):
        app.add_exception_handler(error, _no_database)
    app.add_exception_handler(OSError, _disk_full)


def try_again(code: str, message: str) -> JSONResponse:
    """A reply for what is temporary: the page sends the same again."""
    return _reply(503, code, message, AGAIN)


async def _refused(request: Request, error: Exception) -> Response:  # noqa: ARG001 - FastAPI's signature
    if not isinstance(error, RefusedError):
        raise error
    return _reply(error.status, error.code, error.message, AGAIN if error.status == 503 else None)


async def _malformed(request: Request, error: Exception) -> Response:  # noqa: ARG001
    """All faults of a body at once; what was sent is not sent back."""
    if not isinstance(error, RequestValidationError):
        raise error
    faults = [f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors()]
    return _reply(422, "malformed", "; ".join(faults).encode("ascii", "backslashreplace").decode())


async def _no_database(request: Request, error: Exception) -> Response:  # noqa: ARG001
    """The database is down, busy or full: nothing was written, and the page sends the same again."""
    if isinstance(error, DBAPIError) and not (isinstance(error, OperationalError) or error.connection_invalidated):
        raise error
    _report(str(error).partition("\n")[0] or type(error).__name__)
    return try_again("no-database", "the database cannot be used now (away, busy or full); nothing was written")


async def _disk_full(request: Request, error: Exception) -> Response:  # noqa: ARG001
    """A temporary file, of a download or a preview, did not fit."""
    if not is_full(error):
        raise error
    return _reply(507, "disk-full", NO_ROOM)


class _Report:
    """Errors of the database in the log: not one line for each request while it is away."""

    def __init__(self) -> None:
        self._last, self._left_out = -math.inf, 0

    def __call__(self, fault: str) -> None:
        now = time.monotonic()
        if now < self._last + QUIET_SECONDS:
            self._left_out += 1
            return
        more = f" (and {self._left_out} more such faults since the last line)" if self._left_out else ""
        log.error("the database cannot be used: %s%s", fault, more)
        self._last, self._left_out = now, 0


_report = _Report()


def _reply(status: int, code: str, message: str, headers: dict[str, str] | None = None) -> JSONResponse:
    return JSONResponse({"detail": {"code": code, "message": message}}, status_code=status, headers=headers)
