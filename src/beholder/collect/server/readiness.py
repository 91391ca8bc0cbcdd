"""The readiness check: the database accepts a transaction, the disk has free space, nobody asked it to stop."""

import asyncio
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import Column
from sqlalchemy.exc import SQLAlchemyError

from beholder.collect.database.schema import Database, responses, sessions
from beholder.collect.server.operation import Operation
from beholder.collect.server.threads import PROBES
from beholder.errors import StorageError

LONGEST_SECONDS = 2.0
LEAST_FREE_BYTES = 50_000_000
NOBODY = ""
"""No session and no rater has this id."""

ANSWER = (sessions.c.session, responses.c.session)
"""The ids in the tables that an answer changes."""


class Readiness:
    """The check, run one at a time so that probes of a hanging database do not pile up."""

    def __init__(
        self, folder: Path, database: Database, operation: Operation, ids: Sequence[Column[Any]] = ANSWER
    ) -> None:
        """Check that the tables with these columns of ids can be written; by default those of an answer."""
        self._folder, self._database, self._operation, self._ids = folder, database, operation, ids
        self._running: asyncio.Task[str] | None = None

    async def faults(self) -> dict[str, str]:
        """Return the faults by component (``database``, ``disk``, ``server``); empty if the server is ready."""
        if self._operation.is_draining:
            return {"server": "it is about to stop; send requests elsewhere"}
        faults = {"database": await self._database_fault(), "disk": await PROBES.run(disk_fault, self._folder)}
        return {part: fault for part, fault in faults.items() if fault}

    async def _database_fault(self) -> str:
        if self._running is None or self._running.done():
            self._running = asyncio.create_task(PROBES.run(_database_fault, self._database, self._ids))
        done, _ = await asyncio.wait({self._running}, timeout=LONGEST_SECONDS)
        return self._running.result() if done else f"it did not answer within {LONGEST_SECONDS:g} s"


def disk_fault(folder: Path) -> str:
    """Say why the disk of the study is too full; empty if it is not."""
    try:
        free = shutil.disk_usage(folder).free
    except OSError as error:
        return f"the study folder cannot be read: {error.strerror}"
    return "" if free >= LEAST_FREE_BYTES else f"only {free / 1e6:.0f} MB are free in the study folder"


def _database_fault(database: Database, ids: Sequence[Column[Any]]) -> str:
    """Say why nothing could be written; empty if it could. Takes the locks of writing, but changes no row."""
    try:
        with database.writing() as connection:
            for column in ids:
                connection.execute(column.table.delete().where(column == NOBODY))
    except (SQLAlchemyError, StorageError) as error:
        cause = getattr(error, "orig", None) or error
        return str(cause).strip().partition("\n")[0]
    return ""
