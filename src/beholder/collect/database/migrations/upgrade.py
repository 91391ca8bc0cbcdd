"""Upgrade of a database of an earlier version in one transaction, after a backup copy where it is SQLite."""

import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.pool import NullPool

from beholder.collect.database.private_files import create_private
from beholder.collect.database.schema_version import BASELINE, CURRENT, MIGRATIONS, UPGRADE_LOCK, VERSIONS
from beholder.errors import StageError, StorageError


def upgrade(engine: Engine, package: str = MIGRATIONS, current: str = CURRENT) -> str:
    """Migrate in one transaction, by the scripts of a package; return a sentence about what was done."""
    if engine.dialect.name == "sqlite":
        return _upgrade_sqlite(engine, package, current)
    with engine.begin() as connection:
        connection.execute(text("set local statement_timeout = 0"))
        connection.execute(text("select pg_advisory_xact_lock(:number)"), {"number": UPGRADE_LOCK})
        migrate(connection, package=package)
    return f"database: brought to version {current}"


def migrate(connection: Connection, revision: str = "head", *, package: str = MIGRATIONS) -> None:
    """Migrate over a connection; tables that predate versioning count as the first revision."""
    config = configuration(connection, package)
    dialect = connection.dialect
    if not dialect.has_table(connection, VERSIONS.name) and dialect.has_table(connection, "sessions"):
        command.stamp(config, BASELINE)
    command.upgrade(config, revision)


def configuration(connection: Connection | None = None, package: str = MIGRATIONS) -> Config:
    """Build the Alembic configuration: location of the revisions, and the connection to use."""
    config = Config()
    config.set_main_option("script_location", package.replace(".", ":", 1).replace(".", "/"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    return config


def _upgrade_sqlite(engine: Engine, package: str, current: str) -> str:
    """Migrate SQLite without foreign-key checks: it changes a table by rebuilding it."""
    file = Path(str(engine.url.database))
    copy = _back_up(file, current)
    own = create_engine(engine.url, poolclass=NullPool, connect_args={"timeout": 30, "isolation_level": None})

    @event.listens_for(own, "begin")
    def begin(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    with own.begin() as connection:  # foreign keys are not enforced here: that is SQLite's default
        migrate(connection, package=package)
        broken = connection.exec_driver_sql("PRAGMA foreign_key_check").all()
        if broken:
            raise StageError(f"{file}: {len(broken)} rows refer to rows that are not there; nothing was migrated")
    return f"database: brought to version {current}; as it was before it is kept in {copy}"


def _back_up(file: Path, current: str) -> Path:
    """Copy the database to a file beside it, including what is still in the write-ahead log."""
    moment = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    copy = file.with_name(f"{file.name}.before-{current}-{moment}")
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
