"""Middleware that limits request bodies and request rates, and adds security headers to every reply."""

import time
from collections.abc import Callable, Mapping
from functools import lru_cache
from ipaddress import IPv6Address, IPv6Network

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from beholder.collect.server.prefix import prefix_of
from beholder.collect.session.cookies import (
    RATER_COOKIE,
    RESEARCHER_COOKIE,
    RESEARCHER_PASS,
    holder_of,
    researcher_pass,
)

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
PASS_SECONDS = 30 * 86_400

ENTRIES, ENTRIES_A_SECOND = 600, 10.0
"""Burst and rate of entries per address; a whole class may share one."""

RETURNS, RETURNS_A_SECOND = 60, 1.0
"""Burst and rate of re-entries per session, whatever others behind its address do."""

SIGN_INS, SIGN_INS_A_SECOND = 60, 1.0
"""Burst and rate of requests for the researcher's page without a valid cookie, against password guessing."""

FAULTS, FAULTS_A_SECOND = 200, 5.0
"""Burst and rate of refused requests: a page makes few, someone who tries tokens makes many. They are counted per
session, and per address for requests without a session."""

ADDRESSES = 10_000

ENTRY, RESEARCHER = "/api/enter", "/researcher"
HARMLESS = ("/static/", "/api/texts/", "/api/health", "/q/", "/i/", "/r/")
"""Pages that are the same for everybody: nothing can be guessed there, and new raters need them first."""


class Buckets:
    """Token buckets, one per key, refilled with time. Addresses are kept only in memory, and only while active."""

    def __init__(self, size: float, a_second: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._size, self._rate, self._clock = size, a_second, clock
        self._left: dict[str, tuple[float, float]] = {}

    def is_empty(self, address: str) -> bool:
        """Whether the address has no token left."""
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
        self._left = {address: left for address, left in self._left.items() if self._tokens(address) < self._size}
        if len(self._left) >= ADDRESSES:
            self._left.clear()


class Guard:
    """The middleware; plain ASGI, because every request passes through it.

    ``key`` is the secret of the study, or of the panel, by which issued cookies are distinguished from forged
    ones: the holder of a valid cookie is never refused for what others behind the same address do.
    """

    def __init__(
        self, app: ASGIApp, *, key: str, cookie: str = RATER_COOKIE, limited: bool = True, images_from: str = ""
    ) -> None:
        """``images_from``: another origin that pages may fetch images from."""
        self._app, self._key, self._cookie, self._limited = app, key, cookie, limited
        policy = POLICY.replace("connect-src 'self'", f"connect-src 'self' {images_from}".rstrip())
        self._headers = HEADERS | {"Content-Security-Policy": policy}
        self._entries = Buckets(ENTRIES, ENTRIES_A_SECOND)
        self._returns = Buckets(RETURNS, RETURNS_A_SECOND)
        self._sign_ins = Buckets(SIGN_INS, SIGN_INS_A_SECOND)
        self._faults = Buckets(FAULTS, FAULTS_A_SECOND)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse the request, or pass it on with its body read and the security headers added to the reply."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        path, address = scope["path"], network_of(scope["client"][0] if scope.get("client") else "")
        cookies = _cookies(scope)
        holder = holder_of(self._key, cookies, researcher=_is_researchers(path), rater_cookie=self._cookie)
        requester = f"session {holder}" if holder else f"address {address}"

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                _add_headers(path, message, self._headers)
                if 400 <= message["status"] < 500 and message["status"] != 429:
                    self._faults.take(requester)
                elif message["status"] < 300 and holder is None and path.startswith(f"{RESEARCHER}/api/"):
                    self._give_pass(scope, cookies, message)
            await send(message)

        if self._limited and self._is_flooding(path, requester, has_session=holder is not None):
            who = "you" if holder else "this address"
            await _refusal(429, "too-many", f"too many requests from {who}; try again in a moment")(
                scope, receive, guarded
            )
            return
        body = await _body(scope, receive)
        if body is None:
            refusal = _refusal(413, "too-large", f"a body of at most {LARGEST_BODY:,} bytes is accepted")
            await refusal(scope, receive, guarded)
            return
        await self._app(scope, _replay(body, receive), guarded)

    def _is_flooding(self, path: str, requester: str, *, has_session: bool) -> bool:
        """Whether a rate limit is exceeded; entries and sign-ins are counted separately from faults."""
        if path == "/" or path.startswith(HARMLESS):
            return False
        if path == ENTRY:
            bucket = self._returns if has_session else self._entries
        elif path == RESEARCHER and not has_session:
            bucket = self._sign_ins
        else:
            return self._faults.is_empty(requester)
        if bucket.is_empty(requester):
            return True
        bucket.take(requester)
        return False

    def _give_pass(self, scope: Scope, cookies: dict[str, str], message: Message) -> None:
        """Set a pass beside the researcher's cookie, which has just proved to be valid."""
        cookie = cookies.get(RESEARCHER_COOKIE)
        if cookie:
            secure = "; Secure" if scope.get("scheme") == "https" else ""
            MutableHeaders(raw=message["headers"]).append(
                "Set-Cookie",
                f"{RESEARCHER_PASS}={researcher_pass(self._key, cookie)}; HttpOnly; SameSite=strict; "
                f"Path={prefix_of(scope)}{RESEARCHER}; Max-Age={PASS_SECONDS}{secure}",
            )


@lru_cache(ADDRESSES)
def network_of(address: str) -> str:
    """Return an IPv4 address as it is, and of an IPv6 address its /64 network, which one subscriber controls."""
    if ":" not in address:
        return address
    try:
        number = IPv6Address(address.partition("%")[0])
    except ValueError:
        return address
    return str(number.ipv4_mapped or IPv6Network((number, 64), strict=False))


def _is_researchers(path: str) -> bool:
    return path == RESEARCHER or path.startswith(f"{RESEARCHER}/")


def _cookies(scope: Scope) -> dict[str, str]:
    """Parse the cookies of a request; of two with the same name, the first (more specific) one counts."""
    cookies: dict[str, str] = {}
    for name, value in scope["headers"]:
        if name == b"cookie":
            for part in value.decode("latin-1").split(";"):
                label, _, content = part.strip().partition("=")
                cookies.setdefault(label, content)
    return cookies


async def _body(scope: Scope, receive: Receive) -> bytes | None:
    """Read the body; ``None`` if it is too large, declared or not."""
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


def _add_headers(path: str, message: Message, security: Mapping[str, str]) -> None:
    headers = MutableHeaders(raw=message.setdefault("headers", []))
    for name, value in security.items():
        headers.setdefault(name, value)
    if path.startswith("/api/"):
        headers.setdefault("Cache-Control", "no-store")  # an image says otherwise, a refusal of one does not


def _refusal(status: int, code: str, message: str) -> JSONResponse:
    after = {"Retry-After": "1"} if status == 429 else {}
    return JSONResponse({"detail": {"code": code, "message": message}}, status_code=status, headers=after)
