"""What options of several commands mean."""

import functools
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from beholder.engines.engine import ENGINES
from beholder.errors import StageError, UserError
from beholder.images.background import DEFAULT_BACKGROUND, checked_background

VARIABLE = "BEHOLDER_DATABASE"


Decorator = Callable[[Callable[..., None]], Callable[..., None]]


def background_option(default: str | None = DEFAULT_BACKGROUND) -> Decorator:
    """Return the option for the background of a command without a study; ``None``: that of a study."""
    return click.option(
        "--background",
        metavar="COLOUR",
        default=default,
        show_default="that of the study, else #7f7f7f" if default is None else True,
        callback=lambda _context, _option, colour: colour and checked_background(colour),
        help="What transparent images are flattened on, as #rrggbb.",
    )


def engine_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options for where networks work on shards: ``cluster_options``, and ``gpus``."""
    gpus = click.option(
        "--gpus",
        type=click.FloatRange(min=0, min_open=True),
        help="GPUs of each of Ray's workers; .5 shares one between two.",
    )
    return cluster_options(gpus(command))


def cluster_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options for where shards are worked on, as ``engine``, ``address`` and ``workers``."""
    for option in (
        click.option(
            "--workers",
            type=click.IntRange(min=1),
            help="Shards that Ray works on at a time, a core each.",
        ),
        click.option("--address", help="Of a Ray cluster, such as ray://HOST:10001; else Ray starts here."),
        click.option(
            "--engine",
            type=click.Choice(ENGINES),
            default="local",
            show_default=True,
            help="Who does the work: this process, or workers of Ray (the extra `ray`).",
        ),
    ):
        command = option(command)
    return command


def keep_option(command: Callable[..., None]) -> Callable[..., None]:
    """Add the option for the folder in which an engine's shards are kept, as ``keep``."""

    @click.option(
        "--keep",
        type=click.Path(path_type=Path, file_okay=False),
        help="Folder for shards that are done: a run that was stopped goes on with the rest. Needs an engine.",
    )
    @functools.wraps(command)
    def checked(*, keep: Path | None, engine: str, **others: object) -> None:
        if keep is not None and engine == "local":
            raise click.UsageError("--keep is for the shards of an engine: give --engine ray too")
        command(keep=keep, engine=engine, **others)

    return checked


def database_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options for the database of a command, which gets its address as ``database``, or ``None``."""

    @click.option(
        "--database",
        metavar="URL",
        envvar=VARIABLE,
        help=f"PostgreSQL, as postgresql://…, or from {VARIABLE}. [default: SQLite in FOLDER]",
    )
    @click.option(
        "--database-file",
        metavar="FILE",
        type=click.Path(path_type=Path, dir_okay=False),
        help="A file that holds this address, which keeps its password out of the process list.",
    )
    @functools.wraps(command)
    def with_address(*, database: str | None, database_file: Path | None, **others: Any) -> None:  # noqa: ANN401 - click's
        typed = click.get_current_context().get_parameter_source("database") is ParameterSource.COMMANDLINE
        if typed and database_file is not None:
            raise click.UsageError("name one: --database or --database-file")
        address = stated_database(database, database_file)
        if database_file is not None:
            _warn_if_readable(database_file)
        if typed and address and has_password(address):
            click.echo(
                "warning: others on this machine can see the password of --database in the list of processes; "
                f"use {VARIABLE} or --database-file",
                err=True,
            )
        command(database=address, **others)

    return with_address


def stated_database(database: str | None, database_file: Path | None) -> str | None:
    """Return the address that the options for the database state, as users write it."""
    return database if database_file is None else _address_in(database_file)


def database_url(folder: Path, address: str | None) -> str:
    """Return the database of a study: SQLite in its folder, or PostgreSQL by an address as users write it."""
    if address is None:
        from beholder.collect.database.address import default_url

        return default_url(folder)
    for plain in ("postgresql://", "postgres://"):
        if address.startswith(plain):
            return "postgresql+psycopg://" + address.removeprefix(plain)
    return address


def existing_database_url(folder: Path, address: str | None) -> str:
    """Return ``database_url`` for a command that works on collected answers; an error where there are none."""
    from beholder.collect.database.address import FILE_NAME

    if address is None and not (folder / FILE_NAME).is_file():
        raise StageError(
            f"{folder} has no {FILE_NAME}. If the answers are kept elsewhere, say where: --database-file FILE, "
            f"{VARIABLE} or --database URL"
        )
    return database_url(folder, address)


def has_password(address: str) -> bool:
    """Say whether an address of a database holds a password, before the host or among the parameters."""
    before, _, parameters = address.partition("?")
    user, at, _ = before.partition("://")[2].rpartition("@")
    return bool(at and ":" in user) or "password=" in parameters


def _address_in(path: Path) -> str:
    try:
        lines = path.read_text(encoding="utf-8").split()
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: cannot be read ({error})") from error
    if len(lines) != 1:
        raise UserError(
            f"{path}: {len(lines)} words; one address such as postgresql://user:password@host/name is expected"
        )
    return lines[0]


def _warn_if_readable(path: Path) -> None:
    if path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        click.echo(f"warning: others may read {path}; `chmod 600 {path}` keeps its password", err=True)


def operation_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of whoever operates a server; the command gets them as ``operation``."""

    @click.option(
        "--metrics",
        metavar="HOST:PORT",
        default="",
        callback=_checked_metrics,
        help="Serve OpenMetrics at /metrics there; needs the extra scale.",
    )
    @click.option(
        "--log",
        type=click.Choice(["text", "json"]),
        default="text",
        show_default=True,
        help="Form of log lines; json has one per request.",
    )
    @click.option(
        "--drain",
        type=click.FloatRange(0, 3600),
        default=0.0,
        metavar="SECONDS",
        help="On SIGTERM, be not ready for so long before stopping.",
    )
    @click.option(
        "--images-at",
        metavar="ADDRESS",
        default="",
        help="Let browsers fetch images from object storage, as s3://bucket/served, by signed addresses.",
    )
    @functools.wraps(command)
    def with_operation(*, metrics: str, log: str, drain: float, images_at: str, **others: Any) -> None:  # noqa: ANN401 - click's
        from beholder.collect.server.operation import Operation

        settings = Operation(metrics, log_json=log == "json", drain_seconds=drain, images=images_at)
        command(operation=settings, **others)

    return with_operation


def _checked_metrics(_context: click.Context, _option: click.Parameter, address: str) -> str:
    host, _, port = address.rpartition(":")
    if address and not (host and port.isdigit() and 0 < int(port) < 65536):
        raise click.BadParameter(f"'{address}' is not HOST:PORT, such as 127.0.0.1:9090")
    return address
