"""Middleware that counts requests and logs them, on a server with metrics or a log of requests."""

import os
import time
from importlib import import_module

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from beholder.collect.server.json_log import FIELDS, REQUESTS, log_as_json
from beholder.collect.server.operation import Operation
from beholder.collect.server.prefix import prefix_of

METRICS = "beholder.collect.server.metrics"
"""The module that needs an extra, and the counters' folder in the environment when it is imported."""

UNMATCHED = "other"
"""The route of requests that match none: their paths are anybody's, and must not become labels."""

OF_A_STUDY = "/s/{study}"
"""What routes of a study begin with on the server of a panel."""

ENDED_EARLY = 499
"""Status under which a request counts whose client left before the reply."""


class Observation:
    """The outermost middleware; plain ASGI, because every request passes through it."""

    def __init__(self, app: ASGIApp, *, operation: Operation) -> None:
        self._app = app
        self._counters = import_module(METRICS).request_counters() if operation.metrics else None
        self._logs = operation.log_json
        if operation.log_json:
            log_as_json()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and count it when its reply is complete."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status = time.perf_counter(), ENDED_EARLY

        async def noting_status(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, noting_status)
        finally:
            self._note(scope["method"], route_of(scope), status, time.perf_counter() - began)

    def _note(self, method: str, route: str, status: int, seconds: float) -> None:
        if self._counters is not None:
            self._counters.count(method, route, status, seconds)
        if self._logs:
            fields = {"method": method, "route": route, "status": status, "ms": round(1e3 * seconds, 1)}
            REQUESTS.info("request", extra={FIELDS: fields | {"process": os.getpid()}})


def route_of(scope: Scope) -> str:
    """Return the pattern that a path matched, such as ``/api/image/{token}``: never the token itself.

    >>> route_of({"type": "http", "path": "/api/image/0123"})
    'other'
    """
    before = OF_A_STUDY if prefix_of(scope) else ""
    path = getattr(scope.get("route"), "path", None)
    if isinstance(path, str):
        return before + path
    is_static = scope.get("path", "").startswith("/static/") and "endpoint" in scope
    return f"{before}/static" if is_static else UNMATCHED
