"""The server's database: its tables, engines and transactions."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    Connection,
    Engine,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    create_engine,
    event,
    func,
    select,
)
from sqlalchemy.exc import DisconnectionError
from sqlalchemy.pool import ConnectionPoolEntry, QueuePool

from beholder.collect.database.group_commit import GroupCommit, end_with_its_transaction
from beholder.collect.database.private_files import make_private
from beholder.collect.database.schema_version import MIGRATIONS, REVISIONS, bring_up_to_date

REHEARSAL = "rehearsal"
"""Control value that marks the database of a rehearsal: which simulated raters have played it, as JSON."""

LOADED = "loaded"
"""Control value with the hashes of the images and trials that it was filled from; who adds trials locks it."""

metadata = MetaData()

secrets = Table(
    "secrets", metadata, Column("name", String, primary_key=True), Column("value", String, nullable=False)
)

control = Table(
    "control", metadata, Column("name", String, primary_key=True), Column("value", Text, nullable=False)
)
"""Control values: whether the study is paused, the hashes of the loaded tables, the clock."""

questions = Table(
    "questions",
    metadata,
    Column("question", String, primary_key=True),
    Column("ordinal", Integer, nullable=False),
    Column("settings", JSON, nullable=False),
)

pictures = Table(
    "pictures",
    metadata,
    Column("image", String, primary_key=True),
    Column("path", Text, nullable=False),
    Column("sha256", String, nullable=False),
    Column("width", Integer, nullable=False),
    Column("height", Integer, nullable=False),
    Column("generator", String, nullable=False),
    Column("real", Boolean, nullable=False),
    Column("gold", Boolean, nullable=False),
)
"""The last three columns are for the researcher only: they are never sent to a rater's page."""

trials = Table(
    "trials",
    metadata,
    Column("trial", String, primary_key=True),
    Column("question", String, ForeignKey("questions.question"), nullable=False),
    Column("slot", Integer, nullable=False),
    Column("position", Integer, nullable=False),
    Column("block", Integer, nullable=False),
    Column("role", String, nullable=False),
    Column("images", JSON, nullable=False),
    Column("prompt", Text),
    Column("expected", Text),
    Column("repeats", String),
    Index("trials_by_slot", "question", "slot", "position"),
)

persons = Table(
    "persons",
    metadata,
    Column("person", String, primary_key=True),
    Column("platform", String, nullable=False),
    Column("created", Float, nullable=False),
    Column("excluded", Boolean, nullable=False, default=False),
    Column("reason", Text),
    Column("simulated", Boolean, nullable=False, default=False),
)

identities = Table(
    "identities",
    metadata,
    Column("person", String, ForeignKey("persons.person"), primary_key=True),
    Column("platform", String, nullable=False),
    Column("identity", Text, nullable=False),
)
"""Platform id behind each pseudonym, for payment: the only table that identifies raters. It may be emptied at any
time."""

sessions = Table(
    "sessions",
    metadata,
    Column("session", String, primary_key=True),
    Column("person", String, ForeignKey("persons.person"), nullable=False),
    Column("question", String, ForeignKey("questions.question"), nullable=False),
    Column("slot", Integer),
    Column("plan", JSON),
    Column("status", String, nullable=False),
    Column("token_hash", String, nullable=False, unique=True),
    Column("resume_hash", String, nullable=False, unique=True),
    Column("guest_hash", String, unique=True),
    Column("proof_hash", String),
    Column("parameters", JSON, nullable=False),
    Column("language", String, nullable=False),
    Column("consent_hash", String),
    Column("consent_version", String),
    Column("consented", Float),
    Column("checked", Float),
    Column("screen", JSON),
    Column("frame_ms", Float),
    Column("begun", Float),
    Column("breaks", Integer, nullable=False, default=0),
    Column("place", Integer, nullable=False, default=0),
    Column("attempt", Integer, nullable=False, default=1),
    Column("presented", Float),
    Column("skipped", Integer, nullable=False, default=0, server_default="0"),
    Column("active_seconds", Float, nullable=False, default=0.0, server_default="0"),
    Column("active_at", Float),
    Column("reported_seconds", Float),
    Column("debriefed", Float),
    Column("started", Float, nullable=False),
    Column("seen", Float, nullable=False),
    Column("ended", Float),
    Column("pay", Float),
    UniqueConstraint("person", "question"),
)
"""``person``: the rater's pseudonym; ``guest_hash``: hash of the cookie for an unproven id on another device;
``proof_hash``: hash of what the platform put into the link besides the id; ``place``: how many trials of the plan
are done; ``presented``: when the server first sent the current trial; ``skipped``: number of skipped trials;
``active_seconds``: time in which the rater did something, as the page measured it, and ``active_at`` when it last
said so; ``reported_seconds``: how long it took by the rater's own account."""

slots = Table(
    "slots",
    metadata,
    Column("question", String, ForeignKey("questions.question"), primary_key=True),
    Column("slot", Integer, primary_key=True),
    Column("session", String),
    Column("lease_until", Float, nullable=False, default=0.0),
    Column("done", Boolean, nullable=False, default=False),
)

responses = Table(
    "responses",
    metadata,
    Column("session", String, ForeignKey("sessions.session"), primary_key=True),
    Column("trial", String, ForeignKey("trials.trial"), primary_key=True),
    Column("attempt", Integer, primary_key=True),
    Column("key", String, nullable=False),
    Column("place", Integer, nullable=False),
    Column("said", JSON, nullable=False),
    Column("marks", JSON, nullable=False),
    Column("seconds", Float, nullable=False),
    Column("intended_ms", Float),
    Column("shown_ms", Float),
    Column("dropped", Integer),
    Column("exposure", JSON),
    Column("valid", Boolean, nullable=False),
    Column("right", Boolean),
    Column("answered", Float, nullable=False),
    UniqueConstraint("session", "key"),
    Index("responses_by_trial", "trial"),
)

skips = Table(
    "skips",
    metadata,
    Column("session", String, ForeignKey("sessions.session"), primary_key=True),
    Column("trial", String, ForeignKey("trials.trial"), primary_key=True),
    Column("place", Integer, nullable=False),
    Column("reason", String, nullable=False),
    Column("comment", Text, nullable=False),
    Column("at", Float, nullable=False),
)

replacements = Table(
    "replacements",
    metadata,
    Column("trial", String, ForeignKey("trials.trial"), primary_key=True),
    Column("session", String, ForeignKey("sessions.session"), nullable=False),
    Column("at", Float, nullable=False),
    Index("replacements_by_session", "session"),
)
"""Trials of other slots that a running session has in its plan instead of skipped ones: no other rater gets them.
The rows are deleted when the session ends."""

gold_paces = Table(
    "gold_paces",
    metadata,
    Column("session", String, ForeignKey("sessions.session"), primary_key=True),
    Column("pace", JSON, nullable=False),
    Column("next_gold", String),
)
"""How often a running session of a trusted rater is checked, as the panel knew it when the session began, and the
gold trial that comes next; deleted when the session ends, and never exported."""

thinned = Table(
    "thinned",
    metadata,
    Column("session", String, ForeignKey("sessions.session"), primary_key=True),
    Column("trial", String, ForeignKey("trials.trial"), primary_key=True),
    Column("instead", String),
    Column("at", Float, nullable=False),
)
"""Gold trials that a session of a trusted rater was spared, each with the test trial that was asked instead of it,
if a slot could spare one."""

comments = Table(
    "comments",
    metadata,
    Column("session", String, ForeignKey("sessions.session"), primary_key=True),
    Column("clear", Integer),
    Column("fair", Integer),
    Column("text", Text, nullable=False),
    Column("at", Float, nullable=False),
)

prototype_feedback = Table(
    "prototype_feedback",
    metadata,
    Column("session", String, ForeignKey("sessions.session"), primary_key=True),
    Column("vote", String, nullable=False),
    Column("clear", Integer, nullable=False),
    Column("minutes", Float, nullable=False),
    Column("pay", Integer, nullable=False),
    Column("examples", Boolean, nullable=False),
    Column("text", Text, nullable=False),
    Column("trials", JSON, nullable=False),
    Column("at", Float, nullable=False),
)
"""What a rater of a prototype round says: publish or revise, how clear it was (1 to 5), how long it took, how fair
the pay is (1 to 5), whether examples are missing, and which trials were unclear."""

job_surveys = Table(
    "job_surveys",
    metadata,
    Column("session", String, ForeignKey("sessions.session"), primary_key=True),
    Column("answers", JSON, nullable=False),
    Column("at", Float, nullable=False),
)
"""Answers to the job diagnostic survey, 1 to 7 by question."""

events = Table(
    "events",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("session", String),
    Column("at", Float, nullable=False),
    Column("kind", String, nullable=False),
    Column("detail", JSON, nullable=False),
)
"""Log of what happened besides answers: lost leases, slots passed on, refusals, actions of the researcher."""

invitations = Table(
    "invitations",
    metadata,
    Column("invitation_hash", String, primary_key=True),
    Column("note", Text, nullable=False),
    Column("person", String),
    Column("at", Float, nullable=False),
)

researchers = Table(
    "researchers",
    metadata,
    Column("name", String, primary_key=True),
    Column("role", String, nullable=False),
    Column("password_hash", String, nullable=False),
    Column("created", Float, nullable=False),
)
"""Accounts of researchers, with the role ``view`` or ``manage``."""

logins = Table(
    "logins",
    metadata,
    Column("token_hash", String, primary_key=True),
    Column("researcher", String, nullable=False),
    Column("role", String, nullable=False),
    Column("created", Float, nullable=False),
    Column("expires", Float, nullable=False),
)
"""Sign-ins of researchers; deleting a row invalidates its cookie."""


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Timeouts of database work in seconds; ``None`` means no limit."""

    lock: float
    turn: float
    pool: float
    connection: float
    statement: float | None


IDLE_SECONDS = 5.0
"""A pooled connection that was used more recently is not tested before its next use, which saves a round trip."""

CONNECTIONS = 10
"""Connections of a process to PostgreSQL, all kept: opening one costs the database more than an answer."""

INNER_POOL = {"pool_size": 2, "max_overflow": 0}
"""Settings of the pool for short reads inside another transaction."""

USED = "used"
"""Key of a pooled connection's notes: when it was last returned."""

SERVING = Timeouts(lock=4, turn=5, pool=8, connection=4, statement=20)
"""For a request: short, because the page repeats it when the database is busy."""

WORKING = Timeouts(lock=30, turn=30, pool=30, connection=10, statement=None)
"""For a command, which nothing repeats automatically."""


class Database:
    """An engine, and the transactions for reading and writing; with the tables of a study, or others."""

    def __init__(
        self,
        url: str,
        timeouts: Timeouts = WORKING,
        *,
        tables: MetaData = metadata,
        revisions: tuple[str, ...] = REVISIONS,
        migrations: str = MIGRATIONS,
        writers_lock: int | None = None,
    ) -> None:
        self.url = url
        self._writers_lock = writers_lock
        self._tables, self._revisions, self._migrations = tables, revisions, migrations
        self.is_sqlite = url.startswith("sqlite")
        if self.is_sqlite:
            pool = {"pool_size": 16, "max_overflow": 48, "pool_timeout": timeouts.pool}
            self.engine = _sqlite(url, timeouts, poolclass=QueuePool, **pool)
            self._inner = _sqlite(url, timeouts, poolclass=QueuePool, **pool | INNER_POOL)
        else:
            pool = {"pool_size": CONNECTIONS, "max_overflow": 0, "pool_timeout": timeouts.pool}
            self.engine = _postgresql(url, timeouts, **pool)
            self._inner = _postgresql(url, timeouts, **pool | INNER_POOL)
        event.listen(self.engine, "engine_disposed", lambda _: self._inner.dispose())
        self._group_commit = GroupCommit(self.engine, patience=timeouts.turn)

    def create(self) -> str:
        """Create the tables, or migrate those of an earlier version; return what was migrated."""
        return bring_up_to_date(self.engine, self._tables, self._revisions, self._migrations)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Open a read transaction, which sees a consistent snapshot of the database."""
        with self.engine.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def reading_inside(self) -> Iterator[Connection]:
        """Open a read transaction inside another one, on a connection of another pool: nobody waits for both."""
        with self._inner.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Open a write transaction; when the block ends, all of it is on the disk, or none.

        SQLite has one writer: threads of this process take turns instead of finding the file locked, and share one
        flush to disk; a transaction takes the write lock at once, so that two processes queue and do not deadlock.
        PostgreSQL has many, unless the database was opened with a lock that all its writers take.
        """
        with self._group_commit.turn() if self.is_sqlite else self.engine.begin() as connection:
            if self._writers_lock is not None and not self.is_sqlite:
                connection.execute(select(func.pg_advisory_xact_lock(self._writers_lock)))
            yield connection


def _sqlite(url: str, timeouts: Timeouts, **pool: Any) -> Engine:  # noqa: ANN401 - SQLAlchemy's own settings
    engine = create_engine(url, connect_args={"timeout": timeouts.lock, "isolation_level": None}, **pool)

    @event.listens_for(engine, "do_connect")
    def keep_private(_: object, __: object, arguments: list[Any], ___: object) -> None:
        make_private(Path(arguments[0]))

    @event.listens_for(engine, "connect")
    def prepare(connection: object, _: object) -> None:
        cursor = connection.cursor()  # type: ignore[attr-defined]
        for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get("writes", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    event.listen(engine, "handle_error", end_with_its_transaction)
    return engine


def _postgresql(url: str, timeouts: Timeouts, **pool: Any) -> Engine:  # noqa: ANN401 - SQLAlchemy's own settings
    engine = create_engine(url, connect_args={"connect_timeout": round(timeouts.connection)}, **pool)

    @event.listens_for(engine, "connect")
    def limit(connection: Any, _: object) -> None:  # noqa: ANN401 - psycopg's own
        with connection.cursor() as cursor:
            cursor.execute(f"SET lock_timeout = {1000 * timeouts.lock:.0f}")
            if timeouts.statement is not None:
                cursor.execute(f"SET statement_timeout = {1000 * timeouts.statement:.0f}")
        connection.commit()  # else a rollback would undo the settings

    @event.listens_for(engine, "checkin")
    def note_use(_: object, record: ConnectionPoolEntry) -> None:
        record.info[USED] = time.monotonic()

    @event.listens_for(engine, "checkout")
    def ping_if_idle(connection: Any, record: ConnectionPoolEntry, _: object) -> None:  # noqa: ANN401 - psycopg's own
        if time.monotonic() - record.info.get(USED, float("inf")) > IDLE_SECONDS:
            ping(connection)

    return engine


def ping(connection: Any) -> None:  # noqa: ANN401 - psycopg's own
    """Have the pool replace a connection that the database has closed."""
    try:
        connection.execute("SELECT 1")
        connection.rollback()
    except Exception as error:  # whatever it is, another connection may do
        raise DisconnectionError(str(error)) from error
