"""Databases of an earlier version: opened with nothing lost; and the migrations make what the program expects."""

import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, create_engine, inspect, text
from sqlalchemy.exc import OperationalError
from sqlalchemy.pool import NullPool

from beholder.cli.main import main
from beholder.collect.database.address import default_url
from beholder.collect.database.migrations.upgrade import configuration, migrate
from beholder.collect.database.schema import Database, metadata
from beholder.collect.database.schema_version import CURRENT, REVISIONS, bring_up_to_date, is_current
from beholder.collect.exchange.export import collected_tables
from beholder.collect.exchange.load import load
from beholder.collect.server.application import create_app
from beholder.collect.server.serve import is_ready, note_ready
from beholder.collect.simulate.rehearsal import listening
from beholder.errors import StageError, StorageError
from beholder.study.kinds.realism import RealismQuestion
from beholder.study.question import Design

Serve = Callable[..., Any]
Rows = dict[str, list[dict[str, Any]]]

BEFORE = (Path(__file__).parent / "before_versions.sql").read_text(encoding="utf-8")
QUESTION = RealismQuestion(name="q", design=Design(raters=3, trials=6))


def plain(path: Path) -> Engine:
    return create_engine(f"sqlite:///{path}", poolclass=NullPool)


def content(connection: Connection) -> Rows:
    """Every table row for row."""
    tables: Rows = {}
    for name in inspect(connection).get_table_names():
        rows = connection.execute(text(f'select * from "{name}"'))
        tables[name] = sorted((dict(row._mapping) for row in rows), key=repr)
    return tables


def turn_back(path: Path) -> Rows:
    """Turn a database into one of the version before, with the same people; its rows."""
    old = path.with_name("old.sqlite")
    with closing(sqlite3.connect(old)) as connection:
        connection.executescript(BEFORE)
        connection.execute("attach ? as new", (str(path),))
        for (name,) in connection.execute("select name from main.sqlite_master where type = 'table'").fetchall():
            columns = ", ".join(f'"{row[1]}"' for row in connection.execute(f"pragma main.table_info({name})"))
            connection.execute(f"insert into main.{name} ({columns}) select {columns} from new.{name}")
        connection.commit()
    for left in path.parent.glob(f"{path.name}*"):
        left.unlink()
    old.rename(path)
    engine = plain(path)
    with engine.connect() as connection_before:
        return content(connection_before)


@pytest.fixture
def before(serve: Serve) -> tuple[Any, str, Rows]:
    """A study of the version before with answers, a skip and a comment; and the cookie of a rater halfway."""
    served = serve(QUESTION)
    served.visitor().enter(PROLIFIC_PID="ada")
    served.visitor().begin().walk()
    halfway = served.visitor().begin()
    halfway.answer()
    halfway.answer(spoiled=True)
    trial = halfway.trial
    halfway.post("skip", trial=trial["trial"], attempt=trial["attempt"], reason="broken", comment="a comment")
    cookie = halfway.client.cookies["beholder"]
    served.service.database.engine.dispose()
    rows = turn_back(served.folder / "collect.sqlite")
    assert all(rows[name] for name in ("sessions", "responses", "skips", "comments", "persons", "identities"))
    return served, cookie, rows


def without_new(rows: Rows, before: Rows) -> Rows:
    """What there was before, as it is now."""
    return {
        name: sorted(({column: row[column] for column in before[name][0]} for row in rows[name]), key=repr)
        for name in before
        if before[name]
    }


def test_a_study_of_the_version_before_opens_with_nothing_lost_and_goes_on(
    before: tuple[Any, str, Rows],
) -> None:
    served, cookie, rows = before
    path = served.folder / "collect.sqlite"
    assert not is_ready(served.folder, served.url)
    message = load(served.folder, served.url)
    engine = plain(path)
    with engine.connect() as connection:
        after = content(connection)
    assert after.pop("alembic_version") == [{"version_num": CURRENT}]
    assert without_new(after, rows) == {name: held for name, held in rows.items() if held}
    assert {name for name, held in after.items() if not held} >= {"researchers", "logins"}
    (copy,) = path.parent.glob("collect.sqlite.before-*")
    assert str(copy) in message
    assert copy.stat().st_mode & 0o777 == 0o600
    with plain(copy).connect() as connection:
        assert content(connection) == rows
    note_ready(served.folder, served.url)
    assert is_ready(served.folder, served.url)
    app = create_app(served.folder, served.url)
    with listening(app) as address, httpx.Client(base_url=address, cookies={"beholder": cookie}) as client:
        state = client.get("/api/state").json()
        assert state["step"] == "trial"
        choice = state["trial"]["instruction"] or state["trial"]["options"][0]
        aspects = [{"aspect": "realism", "choice": choice}]
        body = {
            "trial": state["trial"]["trial"],
            "attempt": state["trial"]["attempt"],
            "seconds": 1,
            "said": aspects,
        }
        assert client.post("/api/answer", json=body | {"key": "k" * 16}).status_code == 200
    app.state.service.database.engine.dispose()
    assert collected_tables(served.url)["sessions"].height == len(rows["sessions"])
    assert load(served.folder, served.url) == ""


def test_commands_open_an_earlier_version_too(before: tuple[Any, str, Rows]) -> None:
    served, _, rows = before
    assert main(["export", str(served.folder), "--format", "csv", "--out", str(served.folder / "out.zip")]) == 0
    database = Database(served.url)
    assert is_current(database.engine)
    database.engine.dispose()
    assert collected_tables(served.url)["sessions"].height == len(rows["sessions"])


def test_no_copy_no_migration(before: tuple[Any, str, Rows], monkeypatch: pytest.MonkeyPatch) -> None:
    served, _, rows = before

    class Full(sqlite3.Connection):
        def backup(self, *_: object, **__: object) -> None:
            raise sqlite3.OperationalError("database or disk is full")

    connect = sqlite3.connect
    monkeypatch.setattr(
        sqlite3, "connect", lambda *arguments, **settings: connect(*arguments, factory=Full, **settings)
    )
    with pytest.raises(StorageError, match=r"disk is full\. Make room"):
        bring_up_to_date(plain(served.folder / "collect.sqlite"), metadata)
    monkeypatch.undo()
    assert list(served.folder.glob("collect.sqlite.before-*")) == []
    with plain(served.folder / "collect.sqlite").connect() as connection:
        assert content(connection) == rows


def test_a_migration_that_fails_halfway_changes_nothing(before: tuple[Any, str, Rows]) -> None:
    served, _, rows = before
    path = served.folder / "collect.sqlite"
    with closing(
        sqlite3.connect(path)
    ) as connection:  # so that the last step of the migration finds it in the way
        connection.execute("create table logins (other text)")
    with pytest.raises(OperationalError, match="logins"):
        load(served.folder, served.url)
    with plain(path).connect() as after:
        assert without_new(content(after), rows) == {name: held for name, held in rows.items() if held}
        assert "guest_hash" not in {column["name"] for column in inspect(after).get_columns("sessions")}


def test_a_later_version_is_refused_in_a_sentence(serve: Serve) -> None:
    served = serve(QUESTION)
    with closing(sqlite3.connect(served.folder / "collect.sqlite")) as connection:
        connection.execute("update alembic_version set version_num = '999'")
        connection.commit()
    with pytest.raises(StageError, match=r"version 999 .* made by a later one"):
        is_ready(served.folder, served.url)
    command = [sys.executable, "-m", "beholder", "collect", str(served.folder), "--port", "0"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 2
    assert "made by a later one" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_revisions_are_those_that_the_program_knows() -> None:
    script = ScriptDirectory.from_config(configuration())
    assert tuple(reversed([str(step.revision) for step in script.walk_revisions()])) == REVISIONS
    assert script.get_current_head() == CURRENT


def differences(connection: Connection) -> list[Any]:
    settings = {
        "compare_type": True,
        "include_name": lambda name, kind, _: (kind, name) != ("table", "alembic_version"),
    }
    return list(compare_metadata(MigrationContext.configure(connection, opts=settings), metadata))


def test_migrations_and_metadata_agree(tmp_path: Path) -> None:
    for name in ("empty", "before"):
        path = tmp_path / f"{name}.sqlite"
        if name == "before":
            with closing(sqlite3.connect(path)) as old:
                old.executescript(BEFORE)
        with plain(path).begin() as connection:
            migrate(connection)
        with plain(path).connect() as connection:
            assert differences(connection) == [], name


def test_the_baseline_is_the_version_before(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "before.sqlite")) as old:
        old.executescript(BEFORE)
    with plain(tmp_path / "baseline.sqlite").begin() as connection:
        migrate(connection, REVISIONS[0])
    described = []
    for name in ("before", "baseline"):
        with plain(tmp_path / f"{name}.sqlite").connect() as connection:
            looked = inspect(connection)
            described.append(
                {
                    table: (
                        [{**column, "type": str(column["type"])} for column in looked.get_columns(table)],
                        looked.get_pk_constraint(table),
                        looked.get_foreign_keys(table),
                        sorted(looked.get_unique_constraints(table), key=str),
                        looked.get_indexes(table),
                    )
                    for table in looked.get_table_names()
                    if table != "alembic_version"
                }
            )
    assert described[0] == described[1]


def test_a_new_database_is_current_and_alembic_is_not_loaded(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom beholder.collect.database.schema import Database\n"
        f"for _ in range(2):\n    Database({default_url(tmp_path)!r}).create()\n"
        "print('alembic' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
    database = Database(default_url(tmp_path))
    assert is_current(database.engine)
    with database.reading() as connection:
        assert differences(connection) == []
    database.engine.dispose()
