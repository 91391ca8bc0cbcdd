"""Sign-in of researchers: by an account's password, or on the server's own machine by the link's token.

A cookie is a random token; the database keeps its hash, its account and when it expires. Deleting that row
invalidates the cookie from the next request on.
"""

import hmac
import secrets as randomness
import time
from dataclasses import dataclass

from sqlalchemy import Connection, delete, insert, select, update

from beholder.collect.database.schema import Database, logins, researchers, secrets
from beholder.collect.researcher.accounts import COMMAND, LINK, MANAGE, is_name
from beholder.collect.researcher.actions import log_action
from beholder.collect.researcher.passwords import LONGEST, is_password
from beholder.collect.session.identity import hash_of, new_token, opaque
from beholder.errors import RefusedError, StageError

COOKIE = "beholder_researcher"
CSRF_HEADER = "X-Beholder-CSRF"
DAYS = 30
"""Lifetime of a cookie."""


@dataclass(frozen=True, slots=True)
class Login:
    """A signed-in researcher, under the name of the account or of the link."""

    name: str
    role: str
    cookie: str

    @property
    def may_change(self) -> bool:
        """Whether the role allows changes."""
        return self.role == MANAGE

    @property
    def csrf(self) -> str:
        """The token that a change must carry in a header; another site can neither read nor guess it."""
        return opaque(self.cookie, "researcher", "csrf")


def sign_in_by_link(database: Database, token: str, *, now: float) -> str | None:
    """Return a cookie for the link's token; ``None`` for any other token."""
    with database.writing() as connection:
        secret = connection.scalar(
            select(secrets.c.value).where(secrets.c.name == "researcher").with_for_update(read=True)
        )
        if secret is None or not hmac.compare_digest(token.encode("utf-8", "replace"), str(secret).encode()):
            return None
        return _new_cookie(connection, LINK, MANAGE, now=now)


def sign_in_by_password(database: Database, name: str, password: str, *, now: float) -> str | None:
    """Return a cookie for the account; ``None`` for a wrong password or an unknown name, after the same time.

    The password is checked outside any transaction, because that is slow. So the account is read again before the
    cookie is made: it may have been deleted, or its password changed, in the meantime.
    """
    password_hash = _password_hash(database, name) if is_name(name) else None
    if not is_password(password[:LONGEST], password_hash) or len(password) > LONGEST:
        return None
    with database.writing() as connection:
        row = connection.execute(select(researchers).where(researchers.c.name == name).with_for_update()).first()
        if row is None or row.password_hash != password_hash:
            return None
        return _new_cookie(connection, name, row.role, now=now)


def login_of(connection: Connection, cookie: str | None, *, now: float, local: bool) -> Login:
    """Return the login of a cookie, or refuse it; one by the link is valid only for a ``local`` request."""
    row = None
    if cookie:
        row = connection.execute(
            select(logins).where(logins.c.token_hash == hash_of(cookie), logins.c.expires > now)
        ).first()
    if cookie is None or row is None or (row.researcher == LINK and not local):
        raise RefusedError(401, "not-signed-in", "sign in on the researcher's page")
    return Login(row.researcher, row.role, cookie)


def sign_out(connection: Connection, login: Login) -> None:
    """Invalidate this cookie; others of the same account stay valid."""
    connection.execute(delete(logins).where(logins.c.token_hash == hash_of(login.cookie)))


def require_manage(login: Login) -> None:
    """Refuse a change by a role that may not make it."""
    if not login.may_change:
        raise RefusedError(403, "view-only", f"the account {login.name} may look at everything and change nothing")


def require_csrf(login: Login, value: str | None) -> None:
    """Refuse a change that does not come from the researcher's page."""
    if value is None or not hmac.compare_digest(value.encode("utf-8", "replace"), login.csrf.encode()):
        raise RefusedError(403, "no-csrf", f"a change needs the header {CSRF_HEADER}, as the overview gives it")


def rotate_token(url: str) -> str:
    """Replace the link's token and invalidate all cookies, on running servers too; return the new token."""
    database = Database(url)
    database.create()
    token = randomness.token_urlsafe(32)
    with database.writing() as connection:
        changed = connection.execute(update(secrets).where(secrets.c.name == "researcher").values(value=token))
        if changed.rowcount == 0:
            raise StageError("the study was not served yet: it has no token that could be replaced")
        ended = connection.execute(delete(logins)).rowcount
        log_action(connection, "token-rotated", "", now=time.time(), who=COMMAND, cookies_ended=ended)
    database.engine.dispose()
    return token


def _password_hash(database: Database, name: str) -> str | None:
    with database.reading() as connection:
        return connection.scalar(select(researchers.c.password_hash).where(researchers.c.name == name))


def _new_cookie(connection: Connection, name: str, role: str, *, now: float) -> str:
    connection.execute(delete(logins).where(logins.c.expires <= now))
    token = new_token()
    connection.execute(
        insert(logins).values(
            token_hash=hash_of(token), researcher=name, role=role, created=now, expires=now + DAYS * 86_400
        )
    )
    return token
