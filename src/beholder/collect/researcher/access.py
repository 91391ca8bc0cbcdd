"""Who is the researcher: the link's token, a cookie made from it, and a second value that every change needs."""

import hmac

from beholder.collect.identity import opaque
from beholder.errors import RefusedError

COOKIE = "beholder_researcher"
CSRF_HEADER = "X-Beholder-CSRF"


def is_token(secret: str, given: str) -> bool:
    """Whether the token is the study's, found out in the same time for any token."""
    return hmac.compare_digest(given.encode(), secret.encode())


def cookie_value(secret: str) -> str:
    """What the cookie holds: made from the token, and of no use where the token is asked for."""
    return opaque(secret, "researcher", "cookie")


def csrf_value(secret: str, cookie: str) -> str:
    """What a change must bring along in a header; another site can neither read nor guess it."""
    return opaque(secret, "researcher", "csrf", cookie)


def require_cookie(secret: str, cookie: str | None) -> str:
    """The cookie, if it is the researcher's; a refusal otherwise."""
    if cookie is None or not hmac.compare_digest(cookie.encode(), cookie_value(secret).encode()):
        raise RefusedError(401, "not-signed-in", "open the researcher's link, or enter its token")
    return cookie


def require_csrf(secret: str, cookie: str, given: str | None) -> None:
    """Refuse a change that does not come from our own page."""
    if given is None or not hmac.compare_digest(given.encode(), csrf_value(secret, cookie).encode()):
        raise RefusedError(403, "no-csrf", f"a change needs the header {CSRF_HEADER}, as the overview gives it")
