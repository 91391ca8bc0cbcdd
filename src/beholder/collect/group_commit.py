"""One flush of the disk for many answers: threads take turns in one transaction of SQLite.

A thread that finds others waiting behind it leaves the commit to them; who finds nobody waiting commits for all.
None goes on before its own work is on the disk. Where a thread's work fails, only that is undone.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import SQLAlchemyError

MOST = 64
"""So many share a commit at most, so that nobody waits long and other processes find a gap."""


class GroupCommit:
    """The turns of one database."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._turn, self._counting = threading.Lock(), threading.Lock()
        self._waiting = 0
        self._batch: _Batch | None = None

    @contextmanager
    def turn(self) -> Iterator[Connection]:
        """A connection for this thread's work; it is on the disk when the block ends, or nothing of it is."""
        with self._counting:
            self._waiting += 1
        with self._turn:
            with self._counting:
                self._waiting -= 1
            batch = self._batch = self._batch or _Batch(self._engine)
            try:
                with batch.part() as connection:
                    yield connection
            finally:
                if self._waiting == 0 or batch.size >= MOST:
                    self._batch = None
                    batch.commit()
        batch.wait()


class _Batch:
    """A transaction, and those who wait for its commit."""

    def __init__(self, engine: Engine) -> None:
        self._connection = engine.connect().execution_options(writes=True)
        self._transaction = self._connection.begin()
        self._done = threading.Event()
        self._error: SQLAlchemyError | None = None
        self.size = 0

    @contextmanager
    def part(self) -> Iterator[Connection]:
        """The work of one thread, undone as a whole if it fails; the first one's is all that there is."""
        first = self.size == 0
        if not first:
            self._connection.exec_driver_sql("SAVEPOINT part")
        try:
            yield self._connection
        except BaseException:
            if first:
                self._transaction.rollback()
                self._transaction = self._connection.begin()
            else:
                self._connection.exec_driver_sql("ROLLBACK TO part")
            raise
        self.size += 1

    def commit(self) -> None:
        """Put everything on the disk, and let the others know whether that worked."""
        try:
            self._transaction.commit()
        except SQLAlchemyError as error:
            self._error = error
            self._connection.invalidate(error)  # whatever is open in it ends with it
        finally:
            self._connection.close()
            self._done.set()

    def wait(self) -> None:
        """Return when the work is on the disk; raise if it is not."""
        self._done.wait()
        if self._error is not None:
            raise self._error
