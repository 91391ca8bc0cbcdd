"""Personal links of a panel, and sign-ins of raters by them.

A link holds 192 random bits, and the database only its hash. Who follows it gets a cookie of their own on each
device; the same link leads the same rater back. A cookie is a random token too, whose row can be deleted.
"""

import hmac
import secrets as randomness
from dataclasses import dataclass

from sqlalchemy import Connection, delete, insert, select, update

from beholder.collect.database.schema import secrets
from beholder.collect.panel.schema import identities, links, rater_logins, raters
from beholder.collect.session.arrival import PANEL
from beholder.collect.session.cookies import token_of
from beholder.collect.session.identity import hash_of, new_token, opaque
from beholder.errors import RefusedError, StageError

DAYS = 180
"""Lifetime of a cookie."""

SECRETS = ("token", "researcher")


@dataclass(frozen=True, slots=True)
class RaterLogin:
    """A rater who is signed in."""

    rater: str
    token: str

    @property
    def csrf(self) -> str:
        """The token that a change must carry in a header; another site can neither read nor guess it."""
        return opaque(self.token, "panel", "csrf")


def create_secrets(connection: Connection) -> None:
    """Create the secrets of a panel that is served, unless it has them."""
    existing = set(connection.scalars(select(secrets.c.name)))
    for name in SECRETS:
        if name not in existing:
            connection.execute(insert(secrets).values(name=name, value=randomness.token_urlsafe(32)))


def make_links(connection: Connection, count: int, *, note: str, now: float) -> list[str]:
    """Make personal links for raters who are new to the panel; they cannot be shown again.

    Args:
        connection: In a write transaction.
        count: How many.
        note: For whom.
        now: The time.

    Returns:
        The paths of the links.
    """
    tokens = [new_token() for _ in range(count)]
    connection.execute(
        insert(links), [{"link_hash": hash_of(t), "rater": None, "note": note, "at": now} for t in tokens]
    )
    return [f"/i/{token}" for token in tokens]


def replace_link(connection: Connection, rater: str, *, now: float) -> str:
    """Make a new link for a rater; earlier ones and all cookies of the rater end.

    Args:
        connection: In a write transaction.
        rater: Who.
        now: The time.

    Returns:
        The path of the link.
    """
    if connection.scalar(select(raters.c.rater).where(raters.c.rater == rater)) is None:
        raise StageError(f"there is no rater {rater} in this panel; `beholder panel raters` lists them")
    connection.execute(delete(links).where(links.c.rater == rater))
    connection.execute(delete(rater_logins).where(rater_logins.c.rater == rater))
    token = new_token()
    connection.execute(insert(links).values(link_hash=hash_of(token), rater=rater, note="", at=now))
    return f"/i/{token}"


def sign_in(connection: Connection, link: str, *, now: float) -> RaterLogin:
    """Sign in by a link; at its first use a rater joins the panel.

    Args:
        connection: In a write transaction.
        link: Its token.
        now: The time.

    Returns:
        The login, with the token of a new cookie.
    """
    row = connection.execute(select(links).where(links.c.link_hash == hash_of(link)).with_for_update()).first()
    if row is None:
        raise RefusedError(404, "no-such-link", "this link leads to nobody's page")
    rater = row.rater or _join(connection, row.link_hash, now=now)
    connection.execute(delete(rater_logins).where(rater_logins.c.expires <= now))
    token = new_token()
    connection.execute(
        insert(rater_logins).values(
            token_hash=hash_of(token), rater=rater, created=now, expires=now + DAYS * 86_400
        )
    )
    return RaterLogin(rater, token)


def login_of(connection: Connection, cookie: str | None, *, now: float) -> RaterLogin:
    """Return the rater of a cookie, or refuse it.

    Args:
        connection: In any transaction.
        cookie: With its stamp.
        now: The time.

    Returns:
        The login.
    """
    rater = None
    if cookie:
        rater = connection.scalar(
            select(rater_logins.c.rater).where(
                rater_logins.c.token_hash == hash_of(token_of(cookie)), rater_logins.c.expires > now
            )
        )
    if cookie is None or rater is None:
        raise RefusedError(401, "not-signed-in", "open your personal link")
    return RaterLogin(str(rater), token_of(cookie))


def sign_out(connection: Connection, login: RaterLogin) -> None:
    """Invalidate the cookie of this browser."""
    connection.execute(delete(rater_logins).where(rater_logins.c.token_hash == hash_of(login.token)))


def require_csrf(login: RaterLogin, value: str | None) -> None:
    """Refuse a change that does not come from the rater's own page."""
    if value is None or not hmac.compare_digest(value.encode("utf-8", "replace"), login.csrf.encode()):
        raise RefusedError(403, "no-csrf", "a change needs the header that the own page was given")


def _join(connection: Connection, link_hash: str, *, now: float) -> str:
    rater = f"p-{randomness.token_hex(10)}"
    connection.execute(insert(raters).values(rater=rater, joined=now, simulated=False))
    connection.execute(insert(identities).values(rater=rater, platform=PANEL, identity=rater))
    connection.execute(update(links).where(links.c.link_hash == link_hash).values(rater=rater))
    return rater
