"""Start the server: fill the database, print the links, serve until interrupted."""

import errno
import gc
import os
import signal
import socket
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI
from sqlalchemy import select
from sqlalchemy.exc import DBAPIError, OperationalError

from beholder import __version__
from beholder.collect.database.address import DATABASE
from beholder.collect.database.clock import set_clock
from beholder.collect.database.schema import Database, control
from beholder.collect.database.schema_version import is_current
from beholder.collect.display.fill_cache import filling
from beholder.collect.display.offloaded_images import copying
from beholder.collect.researcher.sign_in_link import researcher_address
from beholder.collect.server.application import create_app
from beholder.collect.server.child_process import run_child
from beholder.collect.server.disk import disk_watched
from beholder.collect.server.observation import METRICS
from beholder.collect.server.operation import Operation, operating, operation_of_process
from beholder.collect.server.processes import DrainingProcesses, DrainingServer, end_with_supervisor
from beholder.collect.server.service import Service
from beholder.errors import StageError
from beholder.study.study import FILE_NAME
from beholder.tables.provenance import file_hash

Say = Callable[[str], None]

READY = "ready"
GRACE_SECONDS = 10
BACKLOG = 2048
KEEP_ALIVE_SECONDS = 75
"""Longer than a rater looks at a trial, so that an answer does not need a new connection."""


def prepare(folder: Path, url: str) -> str:
    """Fill the database from the tables of the study; return what was migrated, if anything."""
    return run_child("beholder.collect.exchange.load", folder, url=url)


def is_ready(folder: Path, url: str) -> bool:
    """Whether the database was filled by this version from the study, images and trials as they are now."""
    database = Database(url)
    try:
        if not is_current(database.engine):
            return False
        with database.reading() as connection:
            fingerprint = connection.scalar(select(control.c.value).where(control.c.name == READY))
    except OperationalError:
        if not database.is_sqlite:
            raise
        return False  # there is no file yet
    except DBAPIError:  # there are no tables yet
        return False
    finally:
        database.engine.dispose()
    return fingerprint is not None and fingerprint == _fingerprint(folder)


def note_ready(folder: Path, url: str) -> None:
    """Record that the trials are drawn and the database is filled, so that the next start is quicker."""
    database = Database(url)
    with database.writing() as connection:
        connection.execute(control.delete().where(control.c.name == READY))
        connection.execute(control.insert().values(name=READY, value=_fingerprint(folder)))
    database.engine.dispose()


def _fingerprint(folder: Path) -> str:
    tables = [folder / "tables" / f"{name}.parquet" for name in ("prompts", "images", "trials")]
    hashes = [file_hash(path) if path.is_file() else "absent" for path in (folder / FILE_NAME, *tables)]
    return " ".join([__version__, *hashes])


def start_clock(url: str) -> None:
    """Set the clock that all processes of this server and concurrent commands share."""
    database = Database(url)
    set_clock(database)
    database.engine.dispose()


def listen(host: str, port: int) -> socket.socket:
    """Open a listening socket; port 0 means any free one.

    The protocol is stated to be TCP, because asyncio sets TCP_NODELAY only then; without it, delayed
    acknowledgements of the browser would add 40 ms to every reply.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
        listening.listen(BACKLOG)
    except OSError as error:
        listening.close()
        raise StageError(f"cannot listen on port {port} of {host}: {_why_not(error)}") from error
    listening.set_inheritable(True)
    return listening


def _why_not(error: OSError) -> str:
    """Say why a socket could not be opened, and which option to change: the host or the port."""
    reason = error.strerror or str(error)
    if isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL:
        return (
            f"{reason}. --host must be an address or a name of this machine, such as 127.0.0.1, or 0.0.0.0 for "
            "all its addresses"
        )
    return f"{reason}. Choose another with --port, or 0 for any that is free"


def address_of(listening: socket.socket) -> str:
    """Return the URL of a listening socket; for a wildcard address, that of the outgoing interface."""
    host, port = listening.getsockname()[:2]
    if host in ("0.0.0.0", "::"):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            try:
                probe.connect(("192.0.2.1", 9))  # sends nothing: it only selects the outgoing interface
                host = probe.getsockname()[0]
            except OSError:
                host = "127.0.0.1"
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def serve(
    folder: Path,
    url: str,
    *,
    host: str,
    port: int,
    processes: int,
    say: Say,
    rehearsal: bool = False,
    operation: Operation | None = None,
) -> None:
    """Serve until interrupted; several processes share one PostgreSQL database.

    A rehearsal is served for the researcher only: it admits nobody.
    """
    if processes > 1 and url.startswith("sqlite"):
        raise StageError("several processes need PostgreSQL: --database postgresql://…")
    listening = listen(host, port)
    start_clock(url)
    address = address_of(listening)
    link = researcher_address(folder, url, address)
    raters = "nobody is admitted to a rehearsal" if rehearsal else f"{address}/"
    say(f"raters:     {raters}\nresearcher: {link}\nStop with Ctrl-C; nothing is lost.")
    signal.signal(signal.SIGTERM, lambda *_: None)  # uvicorn stops, and the final export still runs
    with operating(operation or Operation()) as shared:
        settings = uvicorn_settings(host, port, shared)
        if processes == 1:
            _serve_here(folder, url, listening, settings, shared)
        else:
            _serve_by_processes(folder, url, listening, settings | {"workers": processes}, shared)


def uvicorn_settings(host: str, port: int, operation: Operation) -> dict[str, Any]:
    """Return how uvicorn serves a study or a panel."""
    settings: dict[str, Any] = {"host": host, "port": port, "log_level": "warning", "access_log": False}
    if operation.log_json:
        settings["log_config"] = None  # its records go where all others go
    settings |= {"ws": "none", "lifespan": "off"}
    return settings | {"timeout_graceful_shutdown": GRACE_SECONDS, "timeout_keep_alive": KEEP_ALIVE_SECONDS}


def _serve_here(
    folder: Path, url: str, listening: socket.socket, settings: dict[str, Any], operation: Operation
) -> None:
    """Serve in this process."""
    app = create_app(folder, url, fill=False, operation=operation)
    gc.freeze()  # what exists now stays: scanning it for garbage would only delay answers
    gc.enable()
    service: Service = app.state.service
    with (
        metrics_of(operation, {"": service.database}),
        filling(service.images),
        copying(service.offloaded),
        disk_watched(folder),
        suppress(KeyboardInterrupt),  # uvicorn raises it at its end
    ):
        DrainingServer(uvicorn.Config(app, **settings), operation).run(sockets=[listening])


def _serve_by_processes(
    folder: Path, url: str, listening: socket.socket, settings: dict[str, Any], operation: Operation
) -> None:
    """Serve in processes that this one watches."""
    os.environ["BEHOLDER_FOLDER"], os.environ[DATABASE] = str(folder), url
    config = uvicorn.Config("beholder.collect.server.serve:worker", factory=True, **settings)
    service = Service(folder, url, images_at=operation.images)
    service.database.engine.dispose()
    with (
        metrics_of(operation, {"": service.database}),
        filling(service.images),
        copying(service.offloaded),
        disk_watched(folder),
    ):
        DrainingProcesses(config, [listening], operation).run()


def metrics_of(operation: Operation, databases: Mapping[str, Database]) -> AbstractContextManager[None]:
    """Serve metrics while the block runs, if there is an address for them.

    Args:
        operation: Of the server.
        databases: Of its studies, by name; of a study alone, under an empty name.

    Returns:
        The block.
    """
    if not operation.metrics:
        return nullcontext()
    served: AbstractContextManager[None] = import_module(METRICS).metrics_served(operation, databases)
    return served


def worker() -> FastAPI:
    """Create the application of a worker process; folder and database come from the environment."""
    end_with_supervisor()
    folder, url = Path(os.environ["BEHOLDER_FOLDER"]), os.environ[DATABASE]
    return create_app(folder, url, fill=False, operation=operation_of_process())
