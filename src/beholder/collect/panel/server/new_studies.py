"""Studies that were opened while the server runs: prepared, and served without a restart."""

import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import select
from sqlalchemy.exc import DBAPIError

from beholder.collect.database.schema import Database
from beholder.collect.panel.schema import studies
from beholder.collect.panel.study_database import make_schema, study_url
from beholder.collect.server.child_process import WaitingChild
from beholder.collect.server.serve import is_ready, note_ready, start_clock
from beholder.errors import UserError

LOOK_SECONDS = 3.0
RETRY_SECONDS = 60.0
"""How long a study that cannot be served is left alone."""

AddStudy = Callable[[str, Path, str], None]
"""Serve a study: its name, folder and database."""

log = logging.getLogger(__name__)


def places_of(database: Database, url: str | None) -> dict[str, tuple[Path, str]]:
    """Return folder and database of each study that was opened in a panel, by name; closed ones are still served.

    Args:
        database: Of the panel.
        url: Its URL, where that is PostgreSQL.

    Returns:
        By name.
    """
    with database.reading() as connection:
        rows = connection.execute(select(studies).where(studies.c.opened.is_not(None))).all()
    return {row.study: (Path(row.folder), study_url(url, row.study, Path(row.folder))) for row in rows}


def prepare_study(name: str, folder: Path, url: str, panel: str | None) -> str:
    """Draw the trials of a study and fill its database, unless that was done; return what was done.

    Args:
        name: Of the study.
        folder: Of the study.
        url: Of its database.
        panel: URL of the panel's database, where that is PostgreSQL.

    Returns:
        For the researcher.
    """
    make_schema(panel, name, folder)
    done = ""
    if not is_ready(folder, url):
        done = WaitingChild("beholder.api.first_start", folder, url=url).work()
        note_ready(folder, url)
    start_clock(url)
    return done


@contextmanager
def watched(
    database: Database, url: str | None, names: Iterable[str], add: AddStudy, *, prepares: bool
) -> Iterator[None]:
    """Look for studies that are opened while the block runs, in a thread, and add them.

    Args:
        database: Of the panel.
        url: Its URL, where that is PostgreSQL.
        names: Studies that are served already.
        add: Serves one more.
        prepares: Whether this process draws trials and fills databases; otherwise it waits until another has.
    """
    over, served = threading.Event(), set(names)
    failed: dict[str, float] = {}

    def look() -> None:
        for name, (place, address) in places_of(database, url).items():
            if name in served or time.monotonic() < failed.get(name, 0.0):
                continue
            try:
                if prepares:
                    prepare_study(name, place, address, url)
                elif not is_ready(place, address):
                    continue
                add(name, place, address)
            except (UserError, RuntimeError, OSError) as error:
                failed[name] = time.monotonic() + RETRY_SECONDS
                log.warning("the study %s cannot be served: %s", name, error)
            else:
                served.add(name)

    def work() -> None:
        while not over.wait(LOOK_SECONDS):
            try:
                look()
            except (UserError, DBAPIError) as error:
                log.warning("the panel could not be looked at for new studies: %s", error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(timeout=60)
