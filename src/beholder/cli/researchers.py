"""``beholder researchers``: who may sign in on the researcher's page of a study."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

import click
from sqlalchemy import Connection

from beholder.cli.options import database_options, database_url
from beholder.cli.output import show_json, show_table
from beholder.collect.database.address import FILE_NAME as DATABASE_FILE
from beholder.collect.database.schema import Database
from beholder.collect.database.unavailable import usable_database
from beholder.collect.researcher.accounts import (
    MANAGE,
    ROLES,
    VIEW,
    Account,
    add_account,
    change_password,
    check_name,
    list_accounts,
    remove_account,
)
from beholder.collect.researcher.passwords import check_password, new_password
from beholder.errors import StageError
from beholder.study.study import FILE_NAME

MAY = {VIEW: "sees everything, changes nothing", MANAGE: "sees and changes everything"}


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option("--add", "added", metavar="NAME", help="Make an account; with --role.")
@click.option("--role", type=click.Choice(ROLES), help="What the new account may do.")
@click.option("--password", "renewed", metavar="NAME", help="Give an account a new password.")
@click.option("--remove", "removed", metavar="NAME", help="Delete an account.")
@click.option("--prompt", is_flag=True, help="Ask for the password instead of making one.")
@click.option(
    "--password-stdin", "from_stdin", is_flag=True, help="Read the password from the first line of stdin."
)
@database_options
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def researchers(
    folder: Path,
    added: str | None,
    role: str | None,
    renewed: str | None,
    removed: str | None,
    database: str | None,
    *,
    prompt: bool,
    from_stdin: bool,
    as_json: bool,
) -> None:
    """List, add or remove accounts for the researcher's page.

    An account opens the researcher's page from anywhere. Its role is `view` (sees everything, changes nothing) or
    `manage`. A password is made and printed once, unless --prompt or --password-stdin brings one. A new password,
    and removing an account, end its cookies at once, also on a server that runs.
    """
    if sum(name is not None for name in (added, renewed, removed)) > 1:
        raise click.UsageError("name one: --add, --password or --remove")
    if (added is None) != (role is None):
        raise click.UsageError("--add and --role belong together")
    if (prompt or from_stdin) and (added is None) == (renewed is None):
        raise click.UsageError("--prompt and --password-stdin belong to --add or --password")
    if prompt and from_stdin:
        raise click.UsageError("name one: --prompt or --password-stdin")
    if not (folder / FILE_NAME).is_file():
        raise StageError(f"{folder} is no study: it has no {FILE_NAME}. `beholder new` makes one.")
    if added is not None and role is not None:
        check_name(added)
        password = _password(added, prompt=prompt, from_stdin=from_stdin)
        with _writing(folder, database) as connection:
            add_account(connection, added, role, password)
        _tell(added, f"{added} may sign in now ({role}: {MAY[role]})", password, prompt or from_stdin, as_json)
    elif renewed is not None:
        password = _password(renewed, prompt=prompt, from_stdin=from_stdin)
        with _writing(folder, database) as connection:
            change_password(connection, renewed, password)
        _tell(
            renewed,
            f"{renewed} has a new password; old cookies are ended",
            password,
            prompt or from_stdin,
            as_json,
        )
    elif removed is not None:
        with _writing(folder, database) as connection:
            remove_account(connection, removed)
        show_json({"removed": removed}) if as_json else click.echo(f"{removed} is removed; old cookies are ended")
    else:
        _show(_listed(folder, database), as_json)


def _password(name: str, *, prompt: bool, from_stdin: bool) -> str:
    if prompt:
        password = str(click.prompt(f"Password of {name}", hide_input=True, confirmation_prompt=True, err=True))
    elif from_stdin:
        password = sys.stdin.readline().rstrip("\r\n")
    else:
        return new_password()
    check_password(password)
    return password


@contextmanager
def _writing(folder: Path, address: str | None) -> Iterator[Connection]:
    """A transaction on the database, which is made if the study was never served."""
    database = Database(database_url(folder, address))
    try:
        with usable_database():
            database.create()
            with database.writing() as connection:
                yield connection
    finally:
        database.engine.dispose()


def _listed(folder: Path, address: str | None) -> list[Account]:
    if address is None and not (folder / DATABASE_FILE).is_file():
        return []
    with _writing(folder, address) as connection:
        return list_accounts(connection, now=time.time())


def _tell(name: str, deed: str, password: str, chosen: bool, as_json: bool) -> None:
    """What was done, and the password where nobody else knows it."""
    if as_json:
        show_json({"name": name, "password": None if chosen else password})
        return
    click.echo(deed)
    if not chosen:
        click.echo(f"password: {password}\nIt is not shown again.")


def _show(accounts: list[Account], as_json: bool) -> None:
    if as_json:
        show_json([asdict(account) for account in accounts])
    elif not accounts:
        click.echo("no accounts; add one with --add NAME --role view|manage")
    else:
        rows = [
            (
                account.name,
                account.role,
                datetime.fromtimestamp(account.created, UTC).strftime("%Y-%m-%d"),
                str(account.signed_in),
            )
            for account in accounts
        ]
        show_table(("name", "role", "since", "browsers signed in"), rows)
