"""Group commit for SQLite: threads take turns in one transaction and share one flush to disk.

A thread that finds others waiting behind it leaves the commit to them; the last in line commits for all. No thread
continues before its own work is on the disk. If the work of one thread fails, only that is rolled back.

When the disk is full or faulty, or memory runs out, SQLite may roll back the whole transaction by itself. Python's
``commit()`` then does nothing and raises nothing; so after every error, at the end of each part and before the
commit, the driver is asked whether the transaction still exists. If not, all who shared it get an error.
"""

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, Engine
from sqlalchemy.engine import ExceptionContext
from sqlalchemy.exc import SQLAlchemyError

from beholder.errors import StorageError

MOST = 64
"""Upper limit of threads per commit, so that nobody waits long and other processes get a turn."""

LOST = "the database gave up the transaction; nothing of it was written"


class GroupCommit:
    """The queue of writers of one database."""

    def __init__(self, engine: Engine, *, patience: float) -> None:
        self._engine, self._patience = engine, patience
        self._mutex = threading.Lock()
        self._is_taken = False
        self._queue: deque[threading.Lock] = deque()
        self._batch: _Batch | None = None

    @property
    def waiting(self) -> int:
        """Number of threads that wait for their turn."""
        return len(self._queue)

    @contextmanager
    def turn(self) -> Iterator[Connection]:
        """Yield a connection for this thread's work; when the block ends, all of it is on the disk, or none."""
        self._wait_for_turn()
        try:
            batch = self._batch = self._batch or _Batch(self._engine)
            with batch.part() as connection:
                yield connection
        finally:
            self._end_turn()
        batch.wait()

    def _wait_for_turn(self) -> None:
        """Take the turn if it is free, else queue for it; raise an error if it does not come in time."""
        with self._mutex:
            if not self._is_taken:
                self._is_taken = True
                return
            ticket = threading.Lock()
            ticket.acquire()
            self._queue.append(ticket)
        if ticket.acquire(timeout=self._patience):
            return
        with self._mutex:
            if ticket not in self._queue:  # the turn came at the last moment
                return
            self._queue.remove(ticket)
        raise StorageError(f"the database was busy for {self._patience:g} s; nothing was written")

    def _end_turn(self) -> None:
        """Pass turn and batch to the next waiting thread; commit if there is none."""
        with self._mutex:
            batch = self._batch
            if batch is not None and self._queue and batch.is_open and batch.size < MOST:
                self._queue.popleft().release()
                return
            self._batch = None
        try:
            if batch is not None:
                batch.end()
        finally:
            with self._mutex:
                if self._queue:
                    self._queue.popleft().release()
                else:
                    self._is_taken = False


class _Batch:
    """A transaction, and the threads that wait for its commit."""

    def __init__(self, engine: Engine) -> None:
        self._connection = engine.connect().execution_options(writes=True)
        try:
            self._transaction = self._connection.begin()
        except BaseException:
            self._connection.close()
            raise
        self._done = threading.Event()
        self._is_written = False
        self._cause: BaseException | None = None
        self.is_open = True
        self.size = 0

    @contextmanager
    def part(self) -> Iterator[Connection]:
        """Run the work of one thread, rolled back on failure; if it was the first part, the batch ends."""
        self._begin_part()
        try:
            yield self._connection
            if not is_in_transaction(self._connection):
                raise StorageError(LOST)
        except BaseException as error:
            self._undo(error)
            raise
        self.size += 1

    def _begin_part(self) -> None:
        if self.size:
            try:
                self._connection.exec_driver_sql("SAVEPOINT part")
            except BaseException as error:  # nothing is to be undone yet; the savepoint before is another's
                self.is_open, self._cause = is_in_transaction(self._connection), error
                raise

    def _undo(self, error: BaseException) -> None:
        """Roll back a part; if that is impossible, or the transaction is gone, the whole batch has failed."""
        self.is_open = False
        self._cause = error
        if not self.size or not is_in_transaction(self._connection):
            return
        try:
            self._connection.exec_driver_sql("ROLLBACK TO part")
        except (SQLAlchemyError, MemoryError) as fault:
            self._cause = fault
            return
        self.is_open = is_in_transaction(self._connection)

    def end(self) -> None:
        """Commit everything or nothing, and wake the waiting threads."""
        try:
            if self.is_open and is_in_transaction(self._connection):
                self._transaction.commit()
                self._is_written = True
        except (SQLAlchemyError, MemoryError) as error:
            self._cause = error
        finally:
            try:
                self._leave()
            finally:
                self._done.set()

    def _leave(self) -> None:
        """Return the connection to the pool without an open transaction."""
        try:
            if not self._is_written and is_in_transaction(self._connection):
                self._transaction.rollback()
        except (SQLAlchemyError, MemoryError) as error:
            self._cause = error
        finally:
            if is_in_transaction(self._connection):
                self._connection.invalidate(self._cause)
            self._connection.close()

    def wait(self) -> None:
        """Return once the work is on the disk; raise an error if it is not."""
        self._done.wait()
        if not self._is_written:
            raise StorageError(LOST) from self._cause


def is_in_transaction(connection: Connection) -> bool:
    """Whether the SQLite driver is still inside a transaction."""
    if connection.invalidated or connection.closed:
        return False
    driver = connection.connection.driver_connection
    return driver is not None and bool(driver.in_transaction)


def end_with_its_transaction(context: ExceptionContext) -> None:
    """Invalidate a writer's connection after an error that ended its transaction.

    Without this, later statements of code that caught the error would be committed one by one.
    """
    connection = context.connection
    if connection is None or not connection.get_execution_options().get("writes", False):
        return
    if not connection.invalidated and not is_in_transaction(connection):
        context.is_disconnect = True
        context.invalidate_pool_on_disconnect = False
