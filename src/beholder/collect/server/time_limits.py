"""Middleware that bounds how long a request may take and how many may be pending; beyond that it replies 503.

The work of an abandoned request goes on in its thread, if it has one, and is never acknowledged. The page sends
the request again with the same key, and an answer that was written after all is recognised by it.
"""

import asyncio

from anyio import CancelScope
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from beholder.collect.server.error_replies import try_again

LONGEST_SECONDS = 10.0
RESEARCHER_SECONDS = 30.0
"""For the researcher's page, which reads whole tables."""

MOST_AT_ONCE = 1000
"""Limit of requests that are processed or wait for a thread."""

UNLIMITED = ("/researcher/api/export/", "/researcher/api/results", "/researcher/api/extend", "/api/delete")
"""Paths whose work runs in child processes, which have a time limit of their own."""

UNCOUNTED = ("/static/", "/api/health", "/api/ready")


class TimeLimit:
    """The middleware; plain ASGI, because every request passes through it."""

    def __init__(self, app: ASGIApp, *, seconds: float = LONGEST_SECONDS, most: int = MOST_AT_ONCE) -> None:
        self._app, self._seconds, self._most = app, seconds, most
        self._pending = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and reply 503 if the application does not start its reply in time."""
        if scope["type"] != "http" or scope["path"].startswith(UNCOUNTED):
            await self._app(scope, receive, send)
            return
        if self._pending >= self._most:
            await try_again("busy", f"{self._most:,} requests are waiting already")(scope, receive, send)
            return
        self._pending += 1
        try:
            await self._bounded(scope, receive, send)
        finally:
            self._pending -= 1

    async def _bounded(self, scope: Scope, receive: Receive, send: Send) -> None:
        path, loop = scope["path"], asyncio.get_running_loop()
        seconds = max(RESEARCHER_SECONDS, self._seconds) if path.startswith("/researcher") else self._seconds
        has_started = is_given_up = False
        replies: list[asyncio.Task[None]] = []

        async def only_in_time(message: Message) -> None:
            nonlocal has_started
            if not is_given_up:
                has_started = True
                await send(message)

        def give_up() -> None:
            nonlocal is_given_up
            if not has_started:
                is_given_up = True
                refusal = try_again("busy", f"there was no answer within {seconds:g} s; send the same again")
                replies.append(loop.create_task(refusal(scope, receive, send)))
                waiting.cancel()  # ends a wait for a thread; what runs in a thread ends by itself

        if path.startswith(UNLIMITED):
            await self._app(scope, receive, send)
            return
        with CancelScope() as waiting:
            timer = loop.call_later(seconds, give_up)
            try:
                await self._app(scope, receive, only_in_time)
            finally:
                timer.cancel()
        for reply in replies:
            await reply
