"""The schema version of a database, and the upgrade of an earlier one.

An ordinary start runs a single query. Alembic is imported only if there is something to migrate.
"""

from sqlalchemy import Column, Connection, Engine, MetaData, String, Table, inspect, select, text
from sqlalchemy.exc import DBAPIError

from beholder.errors import StageError

REVISIONS = ("1", "2", "3", "4")
"""The revisions of ``migrations/versions``, earliest first; a test compares the two."""

BASELINE, CURRENT = REVISIONS[0], REVISIONS[-1]

MIGRATIONS = "beholder.collect.database.migrations"
"""Package with Alembic's scripts of a study's database."""

VERSIONS = Table("alembic_version", MetaData(), Column("version_num", String(32), primary_key=True))
"""The version table as Alembic creates it; not part of the study's metadata, because Alembic maintains it."""

UPGRADE_LOCK = 0x6265686F6C646572
"""Key of the advisory lock that keeps processes on one PostgreSQL from migrating at the same time."""


def bring_up_to_date(
    engine: Engine, metadata: MetaData, revisions: tuple[str, ...] = REVISIONS, package: str = MIGRATIONS
) -> str:
    """Create the tables at the current version, or migrate those of an earlier one; return what was migrated.

    ``revisions`` are those of the schema in ``metadata``, earliest first, and ``package`` holds their scripts: a
    study's, unless others are named.
    """
    if is_current(engine, revisions):
        return ""
    with engine.connect().execution_options(writes=True) as connection, connection.begin():
        _wait_for_others(connection)
        version = _version(connection)
        if version is None:
            metadata.create_all(connection)
            VERSIONS.create(connection)
            connection.execute(VERSIONS.insert().values(version_num=revisions[-1]))
            return ""
    if version == revisions[-1]:
        return ""
    from beholder.collect.database.migrations.upgrade import upgrade  # noqa: PLC0415 - only here is Alembic worth its time

    return upgrade(engine, package, revisions[-1])


def is_current(engine: Engine, revisions: tuple[str, ...] = REVISIONS) -> bool:
    """Whether the database has the version of this program; raise an error if its version is later."""
    try:
        with engine.connect() as connection, connection.begin():
            version = connection.scalar(select(VERSIONS.c.version_num))
    except DBAPIError as error:
        if error.connection_invalidated or not _is_missing_table(error):
            raise
        return False
    if version is not None and version not in revisions:
        raise StageError(
            f"the database has version {version} of the schema, and this beholder knows {', '.join(revisions)}: "
            "it was made by a later one. Install that"
        )
    return version == revisions[-1]


def _wait_for_others(connection: Connection) -> None:
    if connection.dialect.name == "postgresql":
        connection.execute(text("select pg_advisory_xact_lock(:number)"), {"number": UPGRADE_LOCK})


def _version(connection: Connection) -> str | None:
    """Return the version; the first one for tables that predate versioning, ``None`` without tables."""
    names = inspect(connection).get_table_names()
    if VERSIONS.name in names:
        return str(connection.scalar(select(VERSIONS.c.version_num)))
    return BASELINE if "sessions" in names else None


def _is_missing_table(error: DBAPIError) -> bool:
    code = getattr(error.orig, "sqlstate", None)
    return code == "42P01" if code is not None else "no such table" in str(error.orig)
