"""Folders in object storage as arguments of any command: it works in a local copy, published afterwards."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, redirect_stdout
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from beholder.cli.main import COMMANDS, load_command
from beholder.cli.options import VARIABLE, database_url, stated_database
from beholder.errors import StageError, SupersededError, UserError
from beholder.storage.hub_address import is_hub
from beholder.storage.local_copy import LocalCopy, local_copy
from beholder.storage.plain_copy import PlainCopy
from beholder.storage.remote_folder import is_remote
from beholder.storage.transfer import Transfer
from beholder.storage.watched_files import published_when_changed
from beholder.storage.working_copy import ATTEMPTS, WorkingCopy
from beholder.study.study import FILE_NAME
from beholder.tables.stages import COLLECT, DESIGN

if TYPE_CHECKING:
    from beholder.storage.hub_copy import HubCopy

OWN = ("copy",)
"""Commands that take addresses themselves."""

OWN_OPTIONS = ("--images-at",)
"""Options that take addresses themselves."""

WRITE_TABLES = "--write-tables"
"""Option of ``collect`` by which it only writes the tables again, from the database."""

SLOTS = tuple(f"tables/{name}.parquet" for name in DESIGN.outputs)
"""What ``collect`` adds slots to, on any host, as soon as a researcher asks for them."""

COLLECTED = (*SLOTS, *(f"tables/{name}.parquet" for name in COLLECT.outputs))
"""What ``collect`` writes from the database, however many hosts serve the study."""

OTHER_SERVERS = ("--simulate", "--arena", "--prototype")
"""Options of ``collect`` by which the answers are not in the database of the study."""

OWN_PARAMETERS = {"site": "out"}
"""Command -> its parameter that takes an address itself."""

ASPECT_OPTIONS = ("--scorer",)
"""Options that take a folder with an aspect behind it (``s3://bucket/model:plausibility``)."""


@dataclass(frozen=True, slots=True)
class _Typed:
    """An argument with an address: what comes before it, and what behind."""

    before: str
    address: str
    behind: str


def with_working_copies(arguments: Sequence[str], run: Callable[[list[str]], object]) -> object:
    """Run a command with local copies in place of addresses, and publish what it changed if it succeeded.

    An address is an argument of its own (``s3://bucket/study``) or follows a name (``aurora=s3://bucket/aurora``).
    Where another host that collects published meanwhile, the answers are written again, from the database that the
    hosts share, over what that host published.
    """
    command = next((argument for argument in arguments if not argument.startswith("-")), "")
    own = {place for place, name in enumerate(arguments, start=1) if name in OWN_OPTIONS}
    own |= {place for place, name in enumerate(arguments) if name.partition("=")[0] in OWN_OPTIONS}
    target = _own_parameter(command, arguments)
    own |= {place for place, text in enumerate(arguments) if text == target}
    typed = {
        place: with_address
        for place, argument in enumerate(arguments)
        if place not in own and (with_address := _typed(argument, arguments[max(place - 1, 0)]))
    }
    addresses = list(dict.fromkeys(argument.address for argument in typed.values()))
    if not addresses or command in OWN:
        return run(list(arguments))
    _refuse_own_database(command, arguments)
    made_again = COLLECTED if _collects(command, arguments) else ()
    with ExitStack() as held:
        copies = {address: held.enter_context(_updated(address, made_again)) for address in addresses}
        local = list(arguments)
        for place, argument in typed.items():
            local[place] = f"{argument.before}{copies[argument.address].place}{argument.behind}"
        with ExitStack() as watched:
            if made_again and WRITE_TABLES not in arguments:
                for copy in copies.values():
                    watched.enter_context(_publishing_slots(copy, local))
            code = run(local)
        if not code:
            for copy in copies.values():
                if made_again and isinstance(copy, WorkingCopy):
                    _publish_collected(copy, lambda: run(_writing_tables(local)))
                else:
                    _say("published to", copy, copy.publish())
        return code


def _publishing_slots(copy: LocalCopy, arguments: Sequence[str]) -> AbstractContextManager[None]:
    """Publish slots as soon as they were added, while ``collect`` runs; those of other hosts stay."""
    if not isinstance(copy, WorkingCopy):
        return nullcontext()
    from beholder.collect.server.child_process import run_child

    options = _parsed("collect", arguments).params
    address = stated_database(options.get("database"), options.get("database_file"))

    def take_over() -> None:
        run_child("beholder.collect.exchange.slots_of_hosts", copy.place, url=database_url(copy.place, address))

    def say(outcome: Transfer | UserError) -> None:
        if isinstance(outcome, Transfer):
            _say("published to", copy, outcome)
        else:
            click.echo(f"slots that were added are not published yet: {outcome}", err=True)

    return published_when_changed(copy, SLOTS, take_over, say)


def _publish_collected(copy: WorkingCopy, write_tables: Callable[[], object]) -> None:
    """Publish the answers; where another host did so meanwhile, write them again over what it published."""
    for _ in range(ATTEMPTS):
        try:
            _say("published to", copy, copy.publish())
        except SupersededError:
            address = copy.remote.address
            click.echo(f"another host published {address} meanwhile; the tables are written again", err=True)
            copy.update(COLLECTED)
            with redirect_stdout(sys.stderr):  # stdout has what the command printed, which may be JSON
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


def _collects(command: str, arguments: Sequence[str]) -> bool:
    """Whether a command writes the tables of a study from a database that other hosts write, too."""
    options = {argument.partition("=")[0] for argument in arguments}
    return command == "collect" and options.isdisjoint(OTHER_SERVERS)


def open_copy(address: str) -> "AbstractContextManager[WorkingCopy | PlainCopy | HubCopy]":
    """The copy of what is at an address, in object storage or on the hub, whose client is imported only for it."""
    if not is_hub(address):
        return local_copy(address)
    from beholder.storage.hub_copy import hub_copy

    return hub_copy(address)


def is_address(text: str) -> bool:
    """Whether a text is an address from which can be read."""
    return is_remote(text) or is_hub(text)


@contextmanager
def _updated(address: str, made_again: Sequence[str]) -> Iterator[LocalCopy]:
    with open_copy(address) as copy:
        if not isinstance(copy, WorkingCopy) and copy.has(FILE_NAME):
            raise StageError(
                f"{address} holds a study as plain files, which cannot be replaced together. Make a folder of "
                f"beholder of it first: beholder copy {address} s3://BUCKET/STUDY"
            )
        fetched = copy.update(made_again) if isinstance(copy, WorkingCopy) else copy.update()
        _say("fetched from", copy, fetched)
        yield copy


def _typed(argument: str, option: str) -> _Typed | None:
    """Find the address in an argument; ``option`` is what was typed before it."""
    name, equals, text = argument.rpartition("=")
    if not is_address(text):
        return None
    address, colon, aspect = text.rpartition(":")
    if (option in ASPECT_OPTIONS or name in ASPECT_OPTIONS) and is_address(address):
        return _Typed(name + equals, address.rstrip("/"), colon + aspect)
    return _Typed(name + equals, text.rstrip("/"), "")


def _own_parameter(command: str, arguments: Sequence[str]) -> str | None:
    """Return what was typed for the parameter that takes an address itself."""
    if command not in OWN_PARAMETERS:
        return None
    typed = _parsed(command, arguments).params.get(OWN_PARAMETERS[command])
    return typed if isinstance(typed, str) else None


def _parsed(command: str, arguments: Sequence[str]) -> click.Context:
    """Return what the arguments mean to the command."""
    behind = list(arguments[list(arguments).index(command) + 1 :])
    return load_command(COMMANDS[command][0]).make_context(command, behind, resilient_parsing=True)


def _refuse_own_database(command: str, arguments: Sequence[str]) -> None:
    """Refuse to collect answers into a database that is on this machine only, since storage never gets it."""
    import os

    named = any(argument.startswith("--database") for argument in arguments) or os.environ.get(VARIABLE)
    if command == "collect" and not named:
        raise StageError(
            "answers of a study in object storage need a database that outlives this machine: "
            f"--database postgresql://…, --database-file FILE or {VARIABLE}"
        )


def _say(what: str, copy: LocalCopy, transfer: Transfer) -> None:
    if transfer.files:
        files = "1 file" if transfer.files == 1 else f"{transfer.files:,} files"
        click.echo(f"{what} {copy.address}: {files}, {transfer.bytes / 1e6:.1f} MB", err=True)
