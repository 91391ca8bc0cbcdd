"""Bringing a database of an earlier version up to date, whole or not at all, with a copy of it as it was."""

import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.pool import NullPool

from beholder.collect.database.private_files import create_private
from beholder.collect.database.schema_version import BASELINE, CURRENT, UPGRADE_LOCK, VERSIONS
from beholder.errors import StageError, StorageError

HERE = Path(__file__).parent


def upgrade(engine: Engine) -> str:
    """Migrate in one transaction; what was done, in a sentence."""
    if engine.dialect.name == "sqlite":
        return _upgrade_sqlite(engine)
    with engine.begin() as connection:
        connection.execute(text("set local statement_timeout = 0"))
        connection.execute(text("select pg_advisory_xact_lock(:number)"), {"number": UPGRADE_LOCK})
        migrate(connection)
    return f"database: brought to version {CURRENT}"


def migrate(connection: Connection, revision: str = "head") -> None:
    """Migrate over a connection; tables from before versions were noted count as the first one."""
    config = configuration(connection)
    dialect = connection.dialect
    if not dialect.has_table(connection, VERSIONS.name) and dialect.has_table(connection, "sessions"):
        command.stamp(config, BASELINE)
    command.upgrade(config, revision)


def configuration(connection: Connection | None = None) -> Config:
    """Where Alembic finds the revisions, and what it works on."""
    config = Config()
    config.set_main_option("script_location", str(HERE))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    return config


def _upgrade_sqlite(engine: Engine) -> str:
    """SQLite makes a table again to change it, and that works only while nothing checks references to it."""
    file = Path(str(engine.url.database))
    copy = _copied(file)
    own = create_engine(engine.url, poolclass=NullPool, connect_args={"timeout": 30, "isolation_level": None})

    @event.listens_for(own, "begin")
    def begin(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    with own.begin() as connection:  # references are not checked here: that is SQLite's default
        migrate(connection)
        broken = connection.exec_driver_sql("PRAGMA foreign_key_check").all()
        if broken:
            raise StageError(f"{file}: {len(broken)} rows refer to rows that are not there; nothing was migrated")
    return f"database: brought to version {CURRENT}; as it was before it is kept in {copy}"


def _copied(file: Path) -> Path:
    """A copy of the database beside it, complete with what is still in its log."""
    moment = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    copy = file.with_name(f"{file.name}.before-{CURRENT}-{moment}")
    create_private(copy)
    try:
        with closing(sqlite3.connect(file, timeout=30)) as source, closing(sqlite3.connect(copy)) as target:
            source.backup(target)
    except sqlite3.Error as error:
        copy.unlink(missing_ok=True)
        raise StorageError(
            f"{file} is of an earlier version, and no copy of it could be written before the change: {error}. "
            "Make room on the disk and start again"
        ) from error
    return copy
