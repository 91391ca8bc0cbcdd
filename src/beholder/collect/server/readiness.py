"""The readiness check: the database accepts a transaction, the disk has free space, nobody asked it to stop."""

import asyncio
import shutil
from pathlib import Path

from sqlalchemy.exc import SQLAlchemyError

from beholder.collect.database.schema import Database, responses, sessions
from beholder.collect.server.operation import Operation
from beholder.collect.server.threads import PROBES
from beholder.errors import StorageError

LONGEST_SECONDS = 2.0
LEAST_FREE_BYTES = 50_000_000
NO_SESSION = ""


class Readiness:
    """The check, run one at a time so that probes of a hanging database do not pile up."""

    def __init__(self, folder: Path, database: Database, operation: Operation) -> None:
        self._folder, self._database, self._operation = folder, database, operation
        self._running: asyncio.Task[str] | None = None

    async def faults(self) -> dict[str, str]:
        """Return the faults by component (``database``, ``disk``, ``server``); empty if the server is ready."""
        if self._operation.is_draining:
            return {"server": "it is about to stop; send requests elsewhere"}
        faults = {"database": await self._database_fault(), "disk": await PROBES.run(disk_fault, self._folder)}
        return {part: fault for part, fault in faults.items() if fault}

    async def _database_fault(self) -> str:
        if self._running is None or self._running.done():
            self._running = asyncio.create_task(PROBES.run(_database_fault, self._database))
        done, _ = await asyncio.wait({self._running}, timeout=LONGEST_SECONDS)
        return self._running.result() if done else f"it did not answer within {LONGEST_SECONDS:g} s"


def disk_fault(folder: Path) -> str:
    """Say why the disk of the study is too full; empty if it is not."""
    try:
        free = shutil.disk_usage(folder).free
    except OSError as error:
        return f"the study folder cannot be read: {error.strerror}"
    return "" if free >= LEAST_FREE_BYTES else f"only {free / 1e6:.0f} MB are free in the study folder"


def _database_fault(database: Database) -> str:
    """Say why no answer could be written; empty if one could. Takes the locks of an answer, but changes no row."""
    try:
        with database.writing() as connection:
            for table in (sessions, responses):
                connection.execute(table.delete().where(table.c.session == NO_SESSION))
    except (SQLAlchemyError, StorageError) as error:
        cause = getattr(error, "orig", None) or error
        return str(cause).strip().partition("\n")[0]
    return ""
