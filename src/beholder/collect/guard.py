"""What stands before every request: a limit to bodies and to floods, and headers that keep the pages safe."""

import time
from collections.abc import Callable

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = (
    "default-src 'self'; img-src 'self' blob:; style-src 'self'; script-src 'self'; connect-src 'self'; "
    "object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'self' https://*.mturk.com"
)

HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}

LARGEST_BODY = 1_000_000

ENTRIES, ENTRIES_A_SECOND = 600, 10.0
"""How often one address may come in at once, and then from second to second: a whole class may share it."""

FAULTS, FAULTS_A_SECOND = 200, 5.0
"""The same for requests that are refused: a page makes few, someone who tries tokens makes many."""

ADDRESSES = 10_000


class Buckets:
    """A bucket of tokens for each address, refilled with time. Addresses are kept in memory alone, while busy."""

    def __init__(self, size: float, a_second: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._size, self._rate, self._clock = size, a_second, clock
        self._left: dict[str, tuple[float, float]] = {}

    def is_empty(self, address: str) -> bool:
        """Whether the address has used up its share."""
        return self._tokens(address) < 1

    def take(self, address: str) -> None:
        """Use a token."""
        if len(self._left) >= ADDRESSES:
            self._forget_full()
        self._left[address] = (self._tokens(address) - 1, self._clock())

    def _tokens(self, address: str) -> float:
        left, at = self._left.get(address, (self._size, self._clock()))
        return min(left + (self._clock() - at) * self._rate, self._size)

    def _forget_full(self) -> None:
        self._left = {address: kept for address, kept in self._left.items() if self._tokens(address) < self._size}
        if len(self._left) >= ADDRESSES:
            self._left.clear()


class Guard:
    """The middleware; a plain one, since it stands before every answer."""

    def __init__(self, app: ASGIApp, *, limited: bool = True) -> None:
        self._app, self._limited = app, limited
        self._entries, self._faults = Buckets(ENTRIES, ENTRIES_A_SECOND), Buckets(FAULTS, FAULTS_A_SECOND)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, or hand on with the body at hand and the headers to be added."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        address = scope["client"][0] if scope.get("client") else ""
        path = scope["path"]

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                _add_headers(path, message)
                if 400 <= message["status"] < 500 and message["status"] != 429:
                    self._faults.take(address)
            await send(message)

        if self._limited and self._is_flooding(address, path):
            await _refusal(429, "too-many", "too many requests from this address; try again in a moment")(
                scope, receive, guarded
            )
            return
        body = await _body(scope, receive)
        if body is None:
            refusal = _refusal(413, "too-large", f"a body of at most {LARGEST_BODY:,} bytes is taken")
            await refusal(scope, receive, guarded)
            return
        await self._app(scope, _replay(body, receive), guarded)

    def _is_flooding(self, address: str, path: str) -> bool:
        if path == "/api/enter":
            if self._entries.is_empty(address):
                return True
            self._entries.take(address)
        return self._faults.is_empty(address)


async def _body(scope: Scope, receive: Receive) -> bytes | None:
    """The whole body; ``None`` for one that is too large, whether it says so or not."""
    length = Headers(scope=scope).get("content-length", "0")
    if not length.isdecimal() or int(length) > LARGEST_BODY:
        return None
    parts, size = [], 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return b""
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > LARGEST_BODY:
            return None
        if not message.get("more_body", False):
            return b"".join(parts)


def _replay(body: bytes, receive: Receive) -> Receive:
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return waiting.pop() if waiting else await receive()

    return replay


def _add_headers(path: str, message: Message) -> None:
    headers = MutableHeaders(raw=message.setdefault("headers", []))
    for name, value in HEADERS.items():
        headers.setdefault(name, value)
    if path.startswith("/api/"):
        headers.setdefault("Cache-Control", "no-store")  # an image says otherwise, a refusal of one does not


def _refusal(status: int, code: str, message: str) -> JSONResponse:
    after = {"Retry-After": "1"} if status == 429 else {}
    return JSONResponse({"detail": {"code": code, "message": message}}, status_code=status, headers=after)
