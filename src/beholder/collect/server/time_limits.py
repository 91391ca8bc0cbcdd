"""No request waits without end: past a time, or past a number that wait, the server says so and is asked again.

The work of a request that was given up goes on in its thread, if it has one, and is never acknowledged. The page
sends the same again with the same key, and an answer that was written after all is found to be there.
"""

import asyncio

from anyio import CancelScope
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from beholder.collect.server.error_replies import try_again

LONGEST_SECONDS = 10.0
RESEARCHER_SECONDS = 30.0
"""Their page reads whole tables."""

MOST_AT_ONCE = 1000
"""Requests that are in work or wait for a thread."""

WITHOUT_END = ("/researcher/api/export/", "/researcher/api/results", "/researcher/api/extend")
"""Work in processes of its own, which has a limit of its own."""

UNCOUNTED = ("/static/", "/api/health", "/api/ready")


class Impatience:
    """The middleware; a plain one, since it stands before every answer."""

    def __init__(self, app: ASGIApp, *, seconds: float = LONGEST_SECONDS, most: int = MOST_AT_ONCE) -> None:
        self._app, self._seconds, self._most = app, seconds, most
        self._inside = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand on, and answer instead where nothing has been answered in time."""
        if scope["type"] != "http" or scope["path"].startswith(UNCOUNTED):
            await self._app(scope, receive, send)
            return
        if self._inside >= self._most:
            await try_again("busy", f"{self._most:,} requests are waiting already")(scope, receive, send)
            return
        self._inside += 1
        try:
            await self._bounded(scope, receive, send)
        finally:
            self._inside -= 1

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

        if path.startswith(WITHOUT_END):
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
