"""Threads that share a commit: each one's work is whole or undone, and none goes on before it is on the disk."""

import sqlite3
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import event, insert, select
from sqlalchemy.exc import IntegrityError, OperationalError

from beholder.collect.database.address import default_url
from beholder.collect.database.schema import Database, control
from beholder.errors import StorageError


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    database = Database(default_url(tmp_path))
    database.create()
    yield database
    database.engine.dispose()


def names(folder: Path) -> set[str]:
    """What another connection sees."""
    with closing(sqlite3.connect(folder / "collect.sqlite")) as connection:
        return {name for (name,) in connection.execute("select name from control")}


def together(database: Database, works: int, fails: set[int]) -> tuple[list[object], int]:
    """Let all threads wait for one that holds the turn; how each ended, and how many commits there were."""
    commits: list[object] = []
    event.listen(database.engine, "commit", commits.append)
    ready = threading.Barrier(works + 1)

    def work(number: int) -> object:
        ready.wait()
        try:
            with database.writing() as connection:
                connection.execute(insert(control).values(name=f"a{number}", value=""))
                if number in fails:
                    raise LookupError(number)
                connection.execute(insert(control).values(name=f"b{number}", value=""))
        except LookupError as error:
            return error
        return f"a{number}" in names(Path(str(database.engine.url.database)).parent)

    with ThreadPoolExecutor(works) as pool:
        with database.writing():
            futures = [pool.submit(work, number) for number in range(works)]
            ready.wait()
            while database._group_commit.waiting < works:
                pass
        ended: list[object] = [future.result(30) for future in futures]
    return ended, len(commits)


@pytest.mark.parametrize("fails", [set(), {0}, {7}, {0, 1, 2, 3}, set(range(8))], ids=str)
def test_each_work_is_whole_or_undone(database: Database, tmp_path: Path, fails: set[int]) -> None:
    ended, commits = together(database, 8, fails)
    assert [isinstance(end, LookupError) for end in ended] == [number in fails for number in range(8)]
    assert [end for end in ended if not isinstance(end, LookupError)] == [True] * (8 - len(fails))
    good = set(range(8)) - fails
    assert names(tmp_path) == {f"{letter}{number}" for number in good for letter in "ab"}
    assert commits <= 2  # the holder and all who waited share one; a straggler may have its own


def test_a_broken_rule_of_the_database_undoes_one_work_only(database: Database, tmp_path: Path) -> None:
    with database.writing() as connection:
        connection.execute(insert(control).values(name="taken", value=""))

    def work(name: str) -> bool:
        try:
            with database.writing() as connection:
                connection.execute(insert(control).values(name=f"with {name}", value=""))
                connection.execute(insert(control).values(name=name, value=""))
        except IntegrityError:
            return False
        return True

    with ThreadPoolExecutor(6) as pool:
        done = list(pool.map(work, ["one", "taken", "two", "taken", "three", "taken"]))
    assert done == [True, False] * 3
    assert names(tmp_path) == {"taken"} | {f"{w}{n}" for n in ("one", "two", "three") for w in ("", "with ")}


def test_a_commit_that_fails_fails_for_all(database: Database, tmp_path: Path) -> None:
    def refuse(_: object) -> None:
        raise OperationalError("COMMIT", {}, Exception("disk full"))

    event.listen(database.engine, "commit", refuse)
    ready = threading.Barrier(4)

    def work(number: int) -> str:
        ready.wait()
        try:
            with database.writing() as connection:
                connection.execute(insert(control).values(name=str(number), value=""))
        except StorageError:
            return "told"
        return "lost"

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, range(4))) == ["told"] * 4
    event.remove(database.engine, "commit", refuse)
    assert names(tmp_path) == set()
    with database.writing() as connection:  # and the next one works
        connection.execute(insert(control).values(name="after", value=""))
    assert names(tmp_path) == {"after"}


def test_a_reader_sees_a_moment(database: Database) -> None:
    with database.reading() as reader:
        assert reader.scalars(select(control.c.name)).all() == []
        with database.writing() as connection:
            connection.execute(insert(control).values(name="new", value=""))
        assert reader.scalars(select(control.c.name)).all() == []
    with database.reading() as reader:
        assert reader.scalars(select(control.c.name)).all() == ["new"]
