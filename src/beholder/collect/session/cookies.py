"""Cookies that the guard can tell from invented ones, without asking the database."""

import hmac

from beholder.collect.session.identity import opaque

RATER_COOKIE = "beholder"
RESEARCHER_COOKIE = "beholder_researcher"
RESEARCHER_PASS = "beholder_researcher_pass"
"""Set beside the researcher's cookie once that has opened something; of no use without it."""


def stamped(key: str, token: str) -> str:
    """A rater's cookie: the session's token, and a stamp that only this study's servers can make."""
    return f"{token}.{opaque(key, 'stamp', token)}"


def token_of(cookie: str) -> str:
    """The session's token in a cookie; cookies of before had no stamp."""
    return cookie.partition(".")[0]


def researcher_pass(key: str, cookie: str) -> str:
    """What goes beside a researcher's cookie."""
    return opaque(key, "researcher-pass", cookie)


def holder_of(key: str, cookies: dict[str, str], *, researcher: bool) -> str | None:
    """A name for whoever holds these cookies; ``None`` where they are missing or invented.

    It says that the cookie was given out by this study, not that its session still runs.
    """
    if researcher:
        cookie, stamp = cookies.get(RESEARCHER_COOKIE, ""), cookies.get(RESEARCHER_PASS, "")
        expected = researcher_pass(key, cookie)
    else:
        cookie = cookies.get(RATER_COOKIE, "")
        stamp, expected = cookie, stamped(key, token_of(cookie))
    return cookie if cookie and hmac.compare_digest(stamp.encode(), expected.encode()) else None
