"""Cookies with a keyed stamp, so that forged ones are recognised without the database."""

import hmac

from beholder.collect.session.identity import opaque

RATER_COOKIE = "beholder"
PANEL_COOKIE = "beholder_panel"
"""Cookie of a rater of a panel; it opens the own page, and the studies that were taken there."""

RESEARCHER_COOKIE = "beholder_researcher"
RESEARCHER_PASS = "beholder_researcher_pass"
"""Set beside the researcher's cookie once that has proved valid; useless without it."""


def stamped(key: str, token: str) -> str:
    """Make a rater's cookie: the session's token, and a stamp that only this study's servers can make."""
    return f"{token}.{opaque(key, 'stamp', token)}"


def token_of(cookie: str) -> str:
    """Return the session's token in a cookie; cookies of earlier versions have no stamp."""
    return cookie.partition(".")[0]


def researcher_pass(key: str, cookie: str) -> str:
    """Make the pass that goes beside a researcher's cookie."""
    return opaque(key, "researcher-pass", cookie)


def holder_of(
    key: str, cookies: dict[str, str], *, researcher: bool, rater_cookie: str = RATER_COOKIE
) -> str | None:
    """Return a name for the holder of these cookies; ``None`` if they are missing or forged.

    It proves that this study issued the cookie, not that its session still runs.
    """
    if researcher:
        cookie, stamp = cookies.get(RESEARCHER_COOKIE, ""), cookies.get(RESEARCHER_PASS, "")
        expected = researcher_pass(key, cookie)
    else:
        cookie = cookies.get(rater_cookie, "")
        stamp, expected = cookie, stamped(key, token_of(cookie))
    return cookie if cookie and hmac.compare_digest(stamp.encode(), expected.encode()) else None
