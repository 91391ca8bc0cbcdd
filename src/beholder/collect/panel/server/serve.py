"""Serve a panel: prepare its studies, print the links, serve until interrupted, write what was collected."""

import gc
import logging
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import uvicorn
from sqlalchemy import select

from beholder.collect.database.address import default_url
from beholder.collect.database.schema import secrets
from beholder.collect.database.unavailable import usable_database
from beholder.collect.display.fill_cache import filling
from beholder.collect.panel.schema import open_panel, panel_url, studies
from beholder.collect.panel.server.application import PanelApplication, create_panel_app
from beholder.collect.researcher.sign_in_link import is_loopback
from beholder.collect.server.child_process import WaitingChild, run_child
from beholder.collect.server.disk import disk_watched
from beholder.collect.server.serve import (
    GRACE_SECONDS,
    KEEP_ALIVE_SECONDS,
    address_of,
    is_ready,
    listen,
    note_ready,
    start_clock,
)
from beholder.errors import StageError

REFRESH_SECONDS = 600.0
"""How often what raters and researchers see of quality is computed again."""

REFRESH = "beholder.collect.panel.refresh"

log = logging.getLogger(__name__)


def serve_panel(folder: Path, url: str | None, *, host: str, port: int, say: Callable[[str], None]) -> list[str]:
    """Serve the panel and its open studies until interrupted; then write the answers to the studies' tables.

    Args:
        folder: Of the panel.
        url: Of its database, where that is PostgreSQL.
        host: To listen on.
        port: To listen on; 0 means any free one.
        say: Prints a line.

    Returns:
        The studies that were served.
    """
    places = open_studies(folder, url)
    for name, (place, address) in places.items():
        prepare_study(place, address, say)
        say(f"study:      {name} ({place})")
    listening = listen(host, port)
    address = address_of(listening)
    app = create_panel_app(folder, url, places, fill=False)
    say(f"raters:     {address}/ (links: `beholder panel links {folder}`)")
    say(f"researcher: {_researcher_link(app, folder, address, host)}\nStop with Ctrl-C; nothing is lost.")
    signal.signal(signal.SIGTERM, lambda *_: None)  # uvicorn stops, and the final refresh still runs
    gc.freeze()
    gc.enable()
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        log_level="warning",
        access_log=False,
        ws="none",
        lifespan="off",
        timeout_graceful_shutdown=GRACE_SECONDS,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
    )
    with ExitStack() as stack:
        for study in app.studies.values():
            stack.enter_context(filling(study.state.service.images))
        stack.enter_context(disk_watched(folder))
        stack.enter_context(_refreshing(folder, url))
        stack.enter_context(suppress(KeyboardInterrupt))
        uvicorn.Server(config).run(sockets=[listening])
    say(run_child(REFRESH, folder, url=url or panel_url(folder)))
    return sorted(places)


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
        with database.reading() as connection:
            rows = connection.execute(select(studies).where(studies.c.opened.is_not(None))).all()
        database.engine.dispose()
    if not rows:
        raise StageError(f"{folder} has no open study: beholder panel open {folder} STUDY --researcher NAME")
    gone = [f"{row.study}: {row.folder}" for row in rows if not Path(row.folder).is_dir()]
    if gone:
        raise StageError(f"{folder}: these studies are not where they were: {'; '.join(gone)}")
    return {row.study: (Path(row.folder), default_url(Path(row.folder))) for row in rows}


def prepare_study(folder: Path, url: str, say: Callable[[str], None]) -> None:
    """Draw the trials of a study and fill its database, unless that was done.

    Args:
        folder: Of the study.
        url: Of its database.
        say: Prints a line.
    """
    with usable_database():
        ready = is_ready(folder, url)
    if not ready:
        say(WaitingChild("beholder.api.first_start", folder, url=url).work())
        note_ready(folder, url)
    start_clock(url)


def _researcher_link(app: PanelApplication, folder: Path, address: str, host: str) -> str:
    if not is_loopback(host):
        return f"{address}/researcher (accounts: `beholder panel account {folder} NAME`)"
    with app.state.service.database.reading() as connection:
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
