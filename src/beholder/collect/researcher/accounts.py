"""Accounts of researchers and their roles."""

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, delete, func, insert, select, update

from beholder.collect.database.schema import logins, researchers
from beholder.collect.researcher.actions import log_action
from beholder.collect.researcher.passwords import check_password, hash_password
from beholder.errors import StageError, UserError

VIEW, MANAGE = "view", "manage"
ROLES = (VIEW, MANAGE)
"""``view`` sees everything and changes nothing; ``manage`` changes the study, too."""

LINK = "link"
"""Name under which actions by the researcher's link are logged."""

COMMAND = "command line"
"""Name under which actions by a command on the server are logged."""

RESERVED = (LINK, "researcher", "anonymous")
NAME = re.compile(r"[a-z0-9][a-z0-9._@-]{0,63}")


@dataclass(frozen=True, slots=True)
class Account:
    """An account, and the number of browsers that are signed in to it."""

    name: str
    role: str
    created: float
    signed_in: int


def list_accounts(connection: Connection, *, now: float) -> list[Account]:
    """Return all accounts, ordered by name."""
    browsers = (
        select(func.count())
        .where(logins.c.researcher == researchers.c.name, logins.c.expires > now)
        .scalar_subquery()
    )
    rows = connection.execute(select(researchers, browsers.label("browsers")).order_by(researchers.c.name))
    return [Account(row.name, row.role, row.created, row.browsers) for row in rows]


def add_account(connection: Connection, name: str, role: str, password: str) -> None:
    """Create an account; its name must be new."""
    check_name(name)
    check_password(password)
    if role not in ROLES:
        raise UserError(f"the role is '{role}'; {' or '.join(ROLES)} is expected")
    if connection.scalar(select(researchers.c.name).where(researchers.c.name == name)) is not None:
        raise StageError(f"there is an account '{name}' already; give it a new password with --password {name}")
    now = time.time()
    connection.execute(
        insert(researchers).values(name=name, role=role, password_hash=hash_password(password), created=now)
    )
    log_action(connection, "account-added", "", now=now, who=COMMAND, account=name, role=role)


def change_password(connection: Connection, name: str, password: str) -> None:
    """Change the password of an account, and invalidate its cookies."""
    check_password(password)
    changed = connection.execute(
        update(researchers).where(researchers.c.name == name).values(password_hash=hash_password(password))
    )
    if changed.rowcount == 0:
        raise _unknown(connection, name)
    _end_cookies(connection, name)
    log_action(connection, "password-changed", "", now=time.time(), who=COMMAND, account=name)


def remove_account(connection: Connection, name: str) -> None:
    """Delete an account and invalidate its cookies; its actions stay in the log under its name."""
    if connection.execute(delete(researchers).where(researchers.c.name == name)).rowcount == 0:
        raise _unknown(connection, name)
    _end_cookies(connection, name)
    log_action(connection, "account-removed", "", now=time.time(), who=COMMAND, account=name)


def check_name(name: str) -> None:
    """Refuse a malformed or reserved name."""
    if not is_name(name):
        raise UserError(
            f"the name is {name!r}; up to 64 lower-case letters a–z, digits and . _ - @ are expected, a letter or "
            "digit first"
        )
    if name in RESERVED:
        raise UserError(f"the name '{name}' is reserved; choose another")


def is_name(name: str) -> bool:
    """Whether an account may have this name."""
    return NAME.fullmatch(name) is not None


def _end_cookies(connection: Connection, name: str) -> None:
    connection.execute(delete(logins).where(logins.c.researcher == name))


def _unknown(connection: Connection, name: str) -> StageError:
    names: Sequence[str] = list(connection.scalars(select(researchers.c.name).order_by(researchers.c.name)))
    return StageError(f"there is no account '{name}'; known: {', '.join(names) or 'none'}")
