"""Faults of the disk and of memory at every statement of a shared commit: who is acknowledged is written.

Also the reverse: who is refused has left nothing. SQLite may undo no more than the statement, or the whole
transaction, and what should undo a part may fail as well.
"""

import sqlite3
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event, insert
from sqlalchemy.exc import IntegrityError, OperationalError, SQLAlchemyError

from beholder.collect.database.address import default_url
from beholder.collect.database.schema import Database, Timeouts, control
from beholder.errors import StorageError

PARTS = 40
REFUSED = range(3, PARTS, 7)
"""Parts that the server itself undoes, as it does with an answer that it does not take."""

FAULTS = {
    "FULL": (sqlite3.SQLITE_FULL, "database or disk is full"),
    "IOERR": (sqlite3.SQLITE_IOERR, "disk I/O error"),
    "NOMEM": (sqlite3.SQLITE_NOMEM, ""),
}
TRIALS = 1000
INSERT = "insert into control values (?, '')"
TOLD = (SQLAlchemyError, StorageError, MemoryError)


@dataclass
class Fault:
    """What is to go wrong: at which statement from now on, for how many statements, and what SQLite undoes."""

    name: str = ""
    after: int = -1
    times: int = 1
    rolls_back: bool = False

    def strike(self, connection: sqlite3.Connection) -> None:
        """Count a statement; at the chosen one undo what SQLite would, and raise what Python's driver would."""
        self.after -= 1
        if not -self.times <= self.after < 0 or not self.name:
            return
        if self.rolls_back and connection.in_transaction:
            sqlite3.Cursor(connection).execute("ROLLBACK")
        code, message = FAULTS[self.name]
        if self.name == "NOMEM":
            raise MemoryError
        error = sqlite3.OperationalError(message)
        error.sqlite_errorcode = code
        raise error


fault = Fault()


class FaultyCursor(sqlite3.Cursor):
    def execute(self, *arguments: Any) -> "FaultyCursor":  # noqa: ANN401
        fault.strike(self.connection)
        super().execute(*arguments)
        return self


class FaultyConnection(sqlite3.Connection):
    def cursor(self, *_: object) -> FaultyCursor:  # type: ignore[override]
        return super().cursor(FaultyCursor)

    def commit(self) -> None:
        fault.strike(self)
        super().commit()


@pytest.fixture
def faulty(tmp_path: Path) -> Iterator[Database]:
    """A database whose driver can be told to fail; it does not wait for the disk, which no test here pulls."""
    fault.name = ""
    database = Database(default_url(tmp_path), Timeouts(lock=1, turn=20, pool=5, connection=5, statement=None))

    @event.listens_for(database.engine, "do_connect")
    def replace(_: object, __: object, ___: object, settings: dict[str, Any]) -> None:
        settings["factory"] = FaultyConnection

    @event.listens_for(database.engine, "connect")
    def hurry(connection: sqlite3.Connection, _: object) -> None:
        connection.execute("PRAGMA synchronous=OFF")

    database.create()
    yield database
    fault.name = ""
    database.engine.dispose()


def batch(database: Database, pool: ThreadPoolExecutor, trial: str, **settings: Any) -> set[int]:  # noqa: ANN401
    """Let all parts share a transaction in which the fault strikes; those that were acknowledged."""

    def part(number: int) -> bool:
        try:
            with database.writing() as connection:
                connection.exec_driver_sql(INSERT, (f"{trial}/{number:02d}a",))
                if number in REFUSED:
                    raise LookupError
                connection.exec_driver_sql(INSERT, (f"{trial}/{number:02d}b",))
        except (*TOLD, LookupError):
            return False
        return True

    futures: list[Future[bool]] = []
    with suppress(LookupError), database.writing():
        for number in range(PARTS):
            futures.append(pool.submit(part, number))
            while database._group_commit.waiting <= number:
                time.sleep(0)
        fault.__init__(**settings)  # type: ignore[misc]
        fault.after += 1  # what ends this holder's own transaction does not count
        raise LookupError
    acknowledged = {number for number, future in enumerate(futures) if future.result(30)}
    fault.name = ""
    return acknowledged


def test_a_fault_at_every_statement_of_a_batch(faulty: Database, tmp_path: Path) -> None:
    variants = [
        {"name": name, "rolls_back": rolls_back, "times": times}
        for name in FAULTS
        for rolls_back, times in ((False, 1), (False, 2), (True, 1))
    ]
    struck, absent, present = 0, [], []
    with (
        ThreadPoolExecutor(PARTS) as pool,
        closing(sqlite3.connect(tmp_path / "collect.sqlite")) as behind,
    ):
        assert batch(faulty, pool, "none") == set(range(PARTS)) - set(REFUSED)
        statements = 0
        while fault.after < 0 or statements == 0:
            for variant in variants:
                trial = f"{statements:03d}-{variant['name']}-{variant['rolls_back']}-{variant['times']}"
                acknowledged = batch(faulty, pool, trial, after=statements, **variant)
                struck += fault.after < 0
                rows = behind.execute(
                    "select name from control where name between ? and ?", (f"{trial}/", f"{trial}0")
                )
                stored = {name.removeprefix(f"{trial}/") for (name,) in rows}
                due = {f"{number:02d}{letter}" for number in acknowledged for letter in "ab"}
                absent += [(trial, name) for name in due - stored]
                present += [(trial, name) for name in stored - due]
            statements += 1
    assert absent == []
    assert present == []
    assert struck >= TRIALS, (struck, statements)


def test_a_full_database_with_many_threads(tmp_path: Path) -> None:
    database = Database(default_url(tmp_path))
    database.create()

    @event.listens_for(database.engine, "connect")
    def limit(connection: sqlite3.Connection, _: object) -> None:
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count={max(pages, 120)}")
        connection.execute("PRAGMA cache_size=5")  # so that pages are written while a transaction still runs

    database.engine.dispose()
    acknowledged, refused = [], []

    def part(number: int) -> None:
        name = f"n{number:04d}"
        try:
            with database.writing() as connection:
                connection.execute(insert(control).values(name=name, value="x" * (200 + number % 7 * 2000)))
                connection.execute(insert(control).values(name=f"{name}b", value="x" * 1500))
        except TOLD:
            refused.append(name)
        else:
            acknowledged.append(name)

    for number in range(10):
        part(number)
    with ThreadPoolExecutor(32) as pool:
        list(pool.map(part, range(10, 400)))
    with closing(sqlite3.connect(tmp_path / "collect.sqlite")) as behind:
        stored = {name for (name,) in behind.execute("select name from control")}
        assert behind.execute("pragma integrity_check").fetchone() == ("ok",)
    database.engine.dispose()
    assert len(acknowledged) >= 10
    assert len(refused) >= 100
    assert [name for name in acknowledged if not {name, f"{name}b"} <= stored] == []
    assert [name for name in refused if {name, f"{name}b"} & stored] == []


@pytest.mark.parametrize("name", FAULTS)
def test_a_part_that_goes_on_after_a_fault_writes_nothing(faulty: Database, tmp_path: Path, name: str) -> None:
    with pytest.raises((StorageError, SQLAlchemyError)), faulty.writing() as connection:  # noqa: PT012
        connection.exec_driver_sql(INSERT, ("before",))
        fault.__init__(name=name, after=0, rolls_back=True)  # type: ignore[misc]
        with suppress(OperationalError, MemoryError):
            connection.exec_driver_sql(INSERT, ("struck",))
        with suppress(SQLAlchemyError):
            connection.exec_driver_sql(INSERT, ("after",))
    with closing(sqlite3.connect(tmp_path / "collect.sqlite")) as behind:
        assert behind.execute("select name from control").fetchall() == []
    with faulty.writing() as connection:  # and the next one works
        connection.exec_driver_sql(INSERT, ("next",))


def test_a_broken_rule_is_no_such_fault(faulty: Database) -> None:
    with faulty.writing() as connection:
        connection.exec_driver_sql(INSERT, ("same",))
        with suppress(IntegrityError):
            connection.exec_driver_sql(INSERT, ("same",))
        connection.exec_driver_sql(INSERT, ("other",))
    with faulty.reading() as reader:
        assert len(reader.execute(control.select()).all()) == 2


def test_who_waits_too_long_for_the_turn_is_told_and_leaves_nobody_behind(tmp_path: Path) -> None:
    database = Database(default_url(tmp_path), Timeouts(lock=1, turn=0.2, pool=1, connection=1, statement=None))
    database.create()

    def part(number: int) -> str:
        try:
            with database.writing() as connection:
                connection.exec_driver_sql(INSERT, (str(number),))
        except StorageError as error:
            return str(error)
        return "written"

    with ThreadPoolExecutor(8) as pool:
        with database.writing() as connection:
            connection.exec_driver_sql(INSERT, ("holder",))
            futures = [pool.submit(part, number) for number in range(8)]
            messages = [future.result(10) for future in futures]
            futures = [pool.submit(part, number) for number in range(8)]
            time.sleep(0.1)
        assert messages == ["the database was busy for 0.2 s; nothing was written"] * 8
        assert [future.result(10) for future in futures] == ["written"] * 8
    with database.reading() as reader:
        assert len(reader.execute(control.select()).all()) == 9
    database.engine.dispose()


def test_a_batch_that_cannot_be_opened_leaves_the_turn_free(tmp_path: Path) -> None:
    database = Database(default_url(tmp_path), Timeouts(lock=0.1, turn=10, pool=1, connection=1, statement=None))
    database.create()
    ended = []

    def part(number: int) -> None:
        try:
            with database.writing() as connection:
                connection.exec_driver_sql(INSERT, (str(number),))
        except OperationalError:
            ended.append("locked")
        else:
            ended.append("written")

    with closing(sqlite3.connect(tmp_path / "collect.sqlite", isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        threads = [threading.Thread(target=part, args=(number,)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(10)
        other.execute("ROLLBACK")
    assert ended == ["locked"] * 6
    part(7)
    assert ended[-1] == "written"
    database.engine.dispose()
