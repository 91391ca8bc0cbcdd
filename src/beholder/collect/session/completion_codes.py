"""A completion code of each rater's own, by which a claim to have taken part can be checked."""

import hmac
from collections.abc import Iterable

LETTERS = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"
"""32 that nobody confuses: without 0 and O, 1 and I."""

LENGTH = 10


def personal_code(key: str, session: str, outcome: str) -> str:
    """HMAC of the session and its outcome under the study's secret, as ten letters in two groups (50 bits).

    Whoever ended otherwise has another code, and nobody can make one without the secret.
    """
    digest = hmac.digest(key.encode(), f"code\n{session}\n{outcome}".encode(), "sha256")
    letters = "".join(LETTERS[byte % len(LETTERS)] for byte in digest[:LENGTH])
    return f"{letters[:5]}-{letters[5:]}"


def session_of_code(key: str, code: str, ended: Iterable[tuple[str, str]]) -> str | None:
    """The session whose code this is, of those that ended so; ``None`` where it is nobody's."""
    claimed = _plain(code)
    for session, outcome in ended:
        if hmac.compare_digest(_plain(personal_code(key, session, outcome)).encode(), claimed.encode()):
            return session
    return None


def _plain(code: str) -> str:
    """The code as people may write it: small letters, blanks and hyphens do not matter."""
    return "".join(letter for letter in code.upper() if letter.isalnum())
