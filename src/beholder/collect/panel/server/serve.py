"""Serve a panel: prepare its studies, print the links, serve until interrupted, write what was collected."""

import gc
import logging
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import uvicorn
from sqlalchemy import select

from beholder.collect.database.address import DATABASE
from beholder.collect.database.schema import Database, secrets
from beholder.collect.database.unavailable import usable_database
from beholder.collect.display.fill_cache import filling
from beholder.collect.display.offloaded_images import copying
from beholder.collect.panel.schema import open_panel, panel_url
from beholder.collect.panel.server.application import PanelApplication, create_panel_app
from beholder.collect.panel.server.new_studies import places_of, prepare_study, watched
from beholder.collect.panel.server.service import PanelService
from beholder.collect.researcher.sign_in_link import is_loopback
from beholder.collect.server.application import create_app
from beholder.collect.server.child_process import run_child
from beholder.collect.server.disk import disk_watched
from beholder.collect.server.operation import Operation, operating, operation_of_process
from beholder.collect.server.processes import DrainingProcesses, DrainingServer, end_with_supervisor
from beholder.collect.server.serve import address_of, is_ready, listen, metrics_of, uvicorn_settings
from beholder.collect.server.service import Service
from beholder.errors import StageError

REFRESH_SECONDS = 600.0
"""How often what raters and researchers see of quality is computed again."""

REFRESH = "beholder.collect.panel.refresh"

log = logging.getLogger(__name__)


def serve_panel(
    folder: Path,
    url: str | None,
    *,
    host: str,
    port: int,
    processes: int = 1,
    say: Callable[[str], None],
    operation: Operation | None = None,
) -> list[str]:
    """Serve the panel and its open studies until interrupted; then write the answers to the studies' tables.

    Args:
        folder: Of the panel.
        url: Of its database, where that is PostgreSQL; each study has a schema of its own there.
        host: To listen on.
        port: To listen on; 0 means any free one.
        processes: That serve; several need PostgreSQL.
        say: Prints a line.
        operation: How the server is operated; by default there is nothing to operate.

    Returns:
        The studies that were served.
    """
    if processes > 1 and url is None:
        raise StageError("several processes need PostgreSQL: --database postgresql://…")
    places = open_studies(folder, url)
    for name, (place, address) in places.items():
        with usable_database():
            done = prepare_study(name, place, address, url)
        say("\n".join(filter(None, (done, f"study:      {name} ({place})"))))
    listening = listen(host, port)
    address = address_of(listening)
    service = PanelService(folder, url, {})
    say(f"raters:     {address}/ (links: `beholder panel links {folder}`)")
    say(f"researcher: {_researcher_link(service, folder, address, host)}\nStop with Ctrl-C; nothing is lost.")
    signal.signal(signal.SIGTERM, lambda *_: None)  # uvicorn stops, and the final refresh still runs
    with ExitStack() as stack:
        shared = stack.enter_context(operating(operation or Operation()))
        settings = uvicorn_settings(host, port, shared)
        stack.enter_context(disk_watched(folder))
        stack.enter_context(_refreshing(folder, url))
        stack.enter_context(suppress(KeyboardInterrupt))
        if processes == 1:
            service.database.engine.dispose()
            _serve_here(folder, url, places, settings, listening, stack, shared)
        else:
            settings |= {"workers": processes}
            _supervise(service, folder, url, places, settings, listening, stack, shared)
    say(run_child(REFRESH, folder, url=url or panel_url(folder)))
    return sorted(open_studies(folder, url))


def panel_worker() -> PanelApplication:
    """Create the application of a worker process; folder and database come from the environment."""
    end_with_supervisor()
    folder, url = Path(os.environ["BEHOLDER_FOLDER"]), os.environ[DATABASE]
    database = open_panel(folder, url)
    ready = {name: place for name, place in places_of(database, url).items() if is_ready(*place)}
    database.engine.dispose()
    operation = operation_of_process()
    app = create_panel_app(folder, url, ready, fill=False, operation=operation)

    def add(name: str, place: Path, address: str) -> None:
        app.add_study(name, create_app(place, address, fill=False, operation=operation))

    watching = ExitStack()  # until the process ends
    watching.enter_context(watched(app.state.service.database, url, ready, add, prepares=False))
    app.state.watching = watching
    return app


def open_studies(folder: Path, url: str | None) -> dict[str, tuple[Path, str]]:
    """Return folder and database of each study that is open in a panel.

    Args:
        folder: Of the panel.
        url: Of its database, where that is PostgreSQL.

    Returns:
        By name.
    """
    with usable_database():
        database = open_panel(folder, url)
        places = places_of(database, url)
        database.engine.dispose()
    if not places:
        raise StageError(f"{folder} has no open study: beholder panel open {folder} STUDY --researcher NAME")
    gone = [f"{name}: {place}" for name, (place, _) in places.items() if not place.is_dir()]
    if gone:
        raise StageError(f"{folder}: these studies are not where they were: {'; '.join(gone)}")
    return places


def _serve_here(
    folder: Path,
    url: str | None,
    places: Mapping[str, tuple[Path, str]],
    settings: dict[str, Any],
    listening: socket.socket,
    stack: ExitStack,
    operation: Operation,
) -> None:
    """Serve in this process, which also prepares studies that are opened later."""
    app = create_panel_app(folder, url, places, fill=False, operation=operation)
    images = _Images(stack)
    for name, study in app.studies.items():
        images.prepare(name, study.state.service)

    def add(name: str, place: Path, address: str) -> None:
        study = create_app(place, address, fill=False, operation=operation)
        images.prepare(name, study.state.service)
        app.add_study(name, study)

    stack.enter_context(metrics_of(operation, images.databases))
    stack.enter_context(watched(app.state.service.database, url, places, add, prepares=True))
    gc.freeze()
    gc.enable()
    DrainingServer(uvicorn.Config(app, **settings), operation).run(sockets=[listening])


def _supervise(
    service: PanelService,
    folder: Path,
    url: str | None,
    places: Mapping[str, tuple[Path, str]],
    settings: dict[str, Any],
    listening: socket.socket,
    stack: ExitStack,
    operation: Operation,
) -> None:
    """Let several processes serve; this one prepares studies that are opened later, and encodes images."""
    images = _Images(stack)

    def fill(name: str, place: Path, address: str) -> None:
        study = Service(place, address, images_at=operation.images)
        study.database.engine.dispose()
        images.prepare(name, study)

    for name, place in places.items():
        fill(name, *place)
    stack.enter_context(metrics_of(operation, images.databases))
    stack.enter_context(watched(service.database, url, places, fill, prepares=True))
    os.environ["BEHOLDER_FOLDER"], os.environ[DATABASE] = str(folder), url or ""
    config = uvicorn.Config("beholder.collect.panel.server.serve:panel_worker", factory=True, **settings)
    DrainingProcesses(config, [listening], operation).run()


class _Images:
    """Encodes and copies the images of studies until the server ends; keeps their databases for the metrics."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self.databases: dict[str, Database] = {}

    def prepare(self, name: str, service: Service) -> None:
        """Take one more study."""
        self._stack.enter_context(filling(service.images))
        self._stack.enter_context(copying(service.offloaded))
        self.databases[name] = service.database


def _researcher_link(service: PanelService, folder: Path, address: str, host: str) -> str:
    if not is_loopback(host):
        return f"{address}/researcher (accounts: `beholder panel account {folder} NAME`)"
    with service.database.reading() as connection:
        token = connection.scalar(select(secrets.c.value).where(secrets.c.name == "researcher"))
    return f"{address}/researcher?token={token}"


@contextmanager
def _refreshing(folder: Path, url: str | None) -> Iterator[None]:
    """Compute standings again from time to time, in a child process that a thread waits for."""
    over = threading.Event()

    def work() -> None:
        while not over.wait(REFRESH_SECONDS):
            try:
                run_child(REFRESH, folder, url=url or panel_url(folder))
            except (StageError, RuntimeError) as error:
                log.warning("the panel was not refreshed: %s", error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
