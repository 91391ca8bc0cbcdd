"""Folders in object storage as arguments of any command: it works in a local copy, published afterwards."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager

import click

from beholder.cli.options import VARIABLE
from beholder.errors import StageError, SupersededError
from beholder.storage.remote_folder import is_remote
from beholder.storage.working_copy import Transfer, WorkingCopy, working_copy
from beholder.tables.stages import COLLECT

OWN = ("copy",)
"""Commands that take addresses themselves."""

OWN_OPTIONS = ("--images-at",)
"""Options that take addresses themselves."""

WRITE_TABLES = "--write-tables"
"""Option of ``collect`` by which it only writes the tables again, from the database."""

COLLECTED = tuple(f"tables/{name}.parquet" for name in COLLECT.outputs)
"""What ``collect`` writes from the database, however many hosts serve the study."""

OTHER_SERVERS = ("--simulate", "--arena", "--prototype")
"""Options of ``collect`` by which the answers are not in the database of the study."""

ATTEMPTS = 8
"""How often tables are written again where other hosts publish at the same time."""


def with_working_copies(arguments: Sequence[str], run: Callable[[list[str]], object]) -> object:
    """Run a command with local copies in place of addresses, and publish what it changed if it succeeded.

    An address is an argument of its own (``s3://bucket/study``) or follows a name (``aurora=s3://bucket/aurora``).
    Where another host that collects published meanwhile, the answers are written again, from the database that the
    hosts share, over what that host published.
    """
    own = {place for place, name in enumerate(arguments, start=1) if name in OWN_OPTIONS}
    own |= {place for place, name in enumerate(arguments) if name.partition("=")[0] in OWN_OPTIONS}
    folders = [argument for place, argument in enumerate(arguments) if place not in own]
    addresses = list(dict.fromkeys(filter(None, map(_address_in, folders))))
    if not addresses or arguments[0] in OWN:
        return run(list(arguments))
    _refuse_own_database(arguments)
    made_again = COLLECTED if _collects(arguments) else ()
    with ExitStack() as held:
        copies = {address: held.enter_context(_updated(address, made_again)) for address in addresses}
        local = [
            argument if place in own else _localised(argument, copies) for place, argument in enumerate(arguments)
        ]
        code = run(local)
        if not code:
            for copy in copies.values():
                if made_again:
                    _publish_collected(copy, lambda: run(_writing_tables(local)))
                else:
                    _say("published to", copy, copy.publish())
        return code


def _publish_collected(copy: WorkingCopy, write_tables: Callable[[], object]) -> None:
    """Publish the answers; where another host did so meanwhile, write them again over what it published."""
    for _ in range(ATTEMPTS):
        try:
            _say("published to", copy, copy.publish())
        except SupersededError:
            address = copy.remote.address
            click.echo(f"another host published {address} meanwhile; the tables are written again", err=True)
            copy.update(COLLECTED)
            write_tables()
        else:
            return
    raise SupersededError(
        f"other hosts published {copy.remote.address} {ATTEMPTS} times meanwhile. The answers are in the "
        f"database: beholder collect {copy.remote.address} {WRITE_TABLES}"
    )


def _writing_tables(arguments: Sequence[str]) -> list[str]:
    """The arguments by which ``collect`` only writes the tables; what it collected is printed once."""
    return [*(argument for argument in arguments if argument != "--json"), WRITE_TABLES]


def _collects(arguments: Sequence[str]) -> bool:
    """Whether a command writes the tables of a study from a database that other hosts write, too."""
    options = {argument.partition("=")[0] for argument in arguments}
    return arguments[0] == "collect" and options.isdisjoint(OTHER_SERVERS)


@contextmanager
def _updated(address: str, made_again: Sequence[str]) -> Iterator[WorkingCopy]:
    with working_copy(address) as copy:
        _say("fetched from", copy, copy.update(made_again))
        yield copy


def _address_in(argument: str) -> str | None:
    text = argument.rpartition("=")[2]
    return text.rstrip("/") if is_remote(text) else None


def _localised(argument: str, copies: dict[str, WorkingCopy]) -> str:
    address = _address_in(argument)
    if address is None:
        return argument
    name, separator, _ = argument.rpartition("=")
    return f"{name}{separator}{copies[address].folder}"


def _refuse_own_database(arguments: Sequence[str]) -> None:
    """Refuse to collect answers into a database that is on this machine only, since storage never gets it."""
    import os

    named = any(argument.startswith("--database") for argument in arguments) or os.environ.get(VARIABLE)
    if arguments[0] == "collect" and not named:
        raise StageError(
            "answers of a study in object storage need a database that outlives this machine: "
            f"--database postgresql://…, --database-file FILE or {VARIABLE}"
        )


def _say(what: str, copy: WorkingCopy, transfer: Transfer) -> None:
    if transfer.files:
        files = "1 file" if transfer.files == 1 else f"{transfer.files:,} files"
        click.echo(f"{what} {copy.remote.address}: {files}, {transfer.bytes / 1e6:.1f} MB", err=True)
