"""Forwarding of requests to the application of a preview, under another path and cookie."""

from collections.abc import Iterable
from http.cookies import SimpleCookie
from typing import Any

from fastapi import FastAPI, Response

from beholder.collect.server.prefix import PREFIX, prefix_of
from beholder.collect.server.service import COOKIE as RATER_COOKIE

SESSION_COOKIE = "beholder_preview_session"
"""Cookie of a preview's session; it does not replace that of a real session."""

Headers = list[tuple[bytes, bytes]]


class ForwardedResponse(Response):
    """The reply of another application to this request."""

    def __init__(self, app: FastAPI, path: str, body: bytes) -> None:
        super().__init__()
        self._app, self._path, self._body_sent = app, path, body

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:  # noqa: ANN401 - ASGI's own types
        """Call the other application with the path and the cookie that it expects."""
        waiting = [{"type": "http.request", "body": self._body_sent, "more_body": False}]

        async def replay() -> Any:  # noqa: ANN401
            return waiting.pop() if waiting else await receive()

        async def rename(message: Any) -> None:  # noqa: ANN401
            if message["type"] == "http.response.start":
                message = message | {"headers": _outward(message.get("headers", ()), prefix_of(scope))}
            await send(message)

        inner = {
            **scope,
            "path": self._path,
            "raw_path": self._path.encode(),
            "headers": _inward(scope["headers"], len(self._body_sent)),
            "state": {},
        }
        for name in ("app", "router", "endpoint", "path_params", "route", "root_path", PREFIX):
            inner.pop(name, None)
        await self._app(inner, replay, rename)


def _inward(headers: Iterable[tuple[bytes, bytes]], length: int) -> Headers:
    """Rename the cookie of the preview's session as the application expects it, and drop all others."""
    forwarded: Headers = []
    for name, value in headers:
        if name == b"cookie":
            cookie = SimpleCookie(value.decode("latin-1")).get(SESSION_COOKIE)
            if cookie is not None:
                forwarded.append((b"cookie", f"{RATER_COOKIE}={cookie.value}".encode()))
        elif name == b"content-length":
            forwarded.append((name, str(length).encode()))
        else:
            forwarded.append((name, value))
    return forwarded


def _outward(headers: Iterable[tuple[bytes, bytes]], prefix: str) -> Headers:
    path = f"Path={prefix}/researcher/preview".encode()
    before, after = f"{RATER_COOKIE}=".encode(), f"{SESSION_COOKIE}=".encode()
    return [
        (name, after + value.removeprefix(before).replace(b"Path=/", path))
        if name == b"set-cookie" and value.startswith(before)
        else (name, value)
        for name, value in headers
    ]
