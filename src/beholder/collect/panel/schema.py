"""The database of a panel: its tables, and how it is opened.

It lies in a folder of its own. What identifies raters, how to reach them, what they earned and what others
think of them never enters a study's tables; a study's answers never enter the panel.
"""

from pathlib import Path

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

from beholder.collect.database.schema import (
    WORKING,
    Database,
    Timeouts,
    events,
    logins,
    researchers,
    secrets,
)
from beholder.errors import StageError

FILE_NAME = "panel.sqlite"
REVISIONS = ("1", "2", "3")
"""Versions of these tables; Alembic migrates them as it does those of a study."""

MIGRATIONS = "beholder.collect.panel.migrations"

WRITERS_LOCK = 0x70616E656C
"""Key of the advisory lock that writers of a panel on PostgreSQL take, so that there is one at a time as on
SQLite: the open log is a chain, and much is looked up before it is written. Answers are written elsewhere."""

metadata = MetaData()

settings = Table(
    "settings", metadata, Column("name", String, primary_key=True), Column("value", Text, nullable=False)
)
"""The panel's name and the key of its pseudonyms."""

raters = Table(
    "raters",
    metadata,
    Column("rater", String, primary_key=True),
    Column("joined", Float, nullable=False),
    Column("opted_out", Float),
    Column("simulated", Boolean, nullable=False, default=False),
)

identities = Table(
    "identities",
    metadata,
    Column("rater", String, ForeignKey("raters.rater"), primary_key=True),
    Column("platform", String, nullable=False),
    Column("identity", Text, nullable=False),
    UniqueConstraint("platform", "identity"),
)
"""Id on a platform, for payment; deleted with the rater."""

contacts = Table(
    "contacts",
    metadata,
    Column("rater", String, ForeignKey("raters.rater"), primary_key=True),
    Column("address", Text, nullable=False),
    Column("consent_hash", String, nullable=False),
    Column("consented", Float, nullable=False),
)
"""How to reach raters who agreed to it: hash of the text that they agreed to, and when."""

studies = Table(
    "studies",
    metadata,
    Column("study", String, primary_key=True),
    Column("folder", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("researcher", String, nullable=False),
    Column("currency", String, nullable=False),
    Column("minimum_hourly_cents", Integer, nullable=False),
    Column("platform_study", String, nullable=False, default=""),
    Column("added", Float, nullable=False),
    Column("paused", Float),
    Column("pause_reason", Text),
    Column("opened", Float),
    Column("closed", Float),
    Column("purpose", Text, nullable=False, default="", server_default=""),
    Column("results", Text),
    Column("results_link", Text),
    Column("published", Float),
)
"""``opened`` and ``closed``: when the server of the panel began and ceased to offer it; ``purpose`` and
``results``: what raters are told it is for, and what came of it."""

members = Table(
    "members",
    metadata,
    Column("study", String, ForeignKey("studies.study"), primary_key=True),
    Column("pseudonym", String, primary_key=True),
    Column("rater", String, ForeignKey("raters.rater"), nullable=False),
    Index("members_by_rater", "rater"),
)
"""Who is behind a pseudonym of a study."""

work = Table(
    "work",
    metadata,
    Column("study", String, ForeignKey("studies.study"), primary_key=True),
    Column("session", String, primary_key=True),
    Column("rater", String, ForeignKey("raters.rater"), nullable=False),
    Column("question", String, nullable=False),
    Column("kind", String, nullable=False),
    Column("status", String, nullable=False),
    Column("started", Float, nullable=False),
    Column("ended", Float),
    Column("trials", Integer, nullable=False),
    Column("active_seconds", Float, nullable=False),
    Column("reported_seconds", Float),
    Column("frozen", Text),
    Column("pay_cents", Integer, nullable=False),
    Column("gold", JSON, nullable=False),
    Column("submission", String),
    Column("excluded", Text),
    Index("work_by_rater", "rater", "started"),
)
"""One row per session: ``gold`` is the list of gold trials in order of time, 1 where the answer was right;
``frozen`` says why the reported time does not count, and is empty where an appeal was accepted; ``submission``
is MTurk's id of the assignment; ``excluded`` says why the rater was excluded from the study."""

links = Table(
    "links",
    metadata,
    Column("link_hash", String, primary_key=True),
    Column("rater", String, ForeignKey("raters.rater")),
    Column("note", Text, nullable=False),
    Column("at", Float, nullable=False),
)
"""Personal links, by which a rater signs in on any device; without a rater until somebody has followed it."""

rater_logins = Table(
    "rater_logins",
    metadata,
    Column("token_hash", String, primary_key=True),
    Column("rater", String, ForeignKey("raters.rater"), nullable=False),
    Column("created", Float, nullable=False),
    Column("expires", Float, nullable=False),
)
"""Sign-ins of raters; deleting a row invalidates its cookie."""

interests = Table(
    "interests",
    metadata,
    Column("rater", String, ForeignKey("raters.rater"), primary_key=True),
    Column("kind", String, primary_key=True),
)
"""Kinds of questions that a rater likes; studies that ask them come first in the rater's list."""

standings = Table(
    "standings",
    metadata,
    Column("rater", String, ForeignKey("raters.rater"), primary_key=True),
    Column("study", String, primary_key=True),
    Column("content", JSON, nullable=False),
    Column("at", Float, nullable=False),
)
"""What a rater's own page says of accuracy and agreement; computed from the tables, with an empty study for skills
over all of them."""

trust = Table(
    "trust",
    metadata,
    Column("rater", String, ForeignKey("raters.rater"), primary_key=True),
    Column("pace", JSON, nullable=False),
    Column("at", Float, nullable=False),
)
"""Raters who are checked less than others: how often, and the CUSUM of their gold trials as it is now."""

points = Table(
    "points",
    metadata,
    Column("giver", String, primary_key=True),
    Column("receiver", String, primary_key=True),
    Column("points", Float, nullable=False),
    Column("role", String, nullable=False),
)
"""Credit that contributors gave each other."""

for table in (secrets, researchers, logins, events):
    table.to_metadata(metadata)
"""Accounts of researchers, as a study has them."""

ratings = Table(
    "ratings",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("study", String, ForeignKey("studies.study"), nullable=False),
    Column("rater", String, ForeignKey("raters.rater"), nullable=False),
    Column("giver", String, nullable=False),
    Column("rating", Integer, nullable=False),
    Column("at", Float, nullable=False),
)
"""Boomerang: ``giver`` is *researcher* (about the rater) or *rater* (about the study)."""

flags = Table(
    "flags",
    metadata,
    Column("study", String, ForeignKey("studies.study"), primary_key=True),
    Column("rater", String, ForeignKey("raters.rater"), primary_key=True),
    Column("kind", String, nullable=False),
    Column("text", Text, nullable=False),
    Column("at", Float, nullable=False),
)

appeals = Table(
    "appeals",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("study", String, ForeignKey("studies.study"), nullable=False),
    Column("rater", String, ForeignKey("raters.rater"), nullable=False),
    Column("reason", Text, nullable=False),
    Column("statement", Text, nullable=False),
    Column("at", Float, nullable=False),
    Column("decision", String),
    Column("decided_by", String),
    Column("decision_reason", Text),
    Column("decided", Float),
)
"""``reason``: why the rater was excluded or a report frozen; ``statement``: the rater's answer to it."""

batches = Table(
    "batches",
    metadata,
    Column("batch", String, primary_key=True),
    Column("platform", String, nullable=False),
    Column("status", String, nullable=False),
    Column("reference", String),
    Column("before", JSON),
    Column("at", Float, nullable=False),
)
"""One row per order to a platform; ``before``: what it had paid to these raters before the order."""

payments = Table(
    "payments",
    metadata,
    Column("payment", String, primary_key=True),
    Column("study", String, ForeignKey("studies.study"), nullable=False),
    Column("session", String, nullable=False),
    Column("rater", String, nullable=False),
    Column("kind", String, nullable=False),
    Column("cents", Integer, nullable=False),
    Column("currency", String, nullable=False),
    Column("reason", Text, nullable=False),
    Column("status", String, nullable=False),
    Column("proposed", Float, nullable=False),
    Column("approved_by", String),
    Column("approved", Float),
    Column("batch", String, ForeignKey("batches.batch")),
    UniqueConstraint("study", "session", "kind"),
    Index("payments_by_status", "status"),
)
"""``payment`` is the idempotency key: a hash of study, session and kind."""

transactions = Table(
    "transactions",
    metadata,
    Column("transaction", String, primary_key=True),
    Column("at", Float, nullable=False),
    Column("currency", String, nullable=False),
    Column("memo", Text, nullable=False),
)

postings = Table(
    "postings",
    metadata,
    Column("transaction", String, ForeignKey("transactions.transaction"), primary_key=True),
    Column("account", String, primary_key=True),
    Column("cents", Integer, nullable=False),
    Index("postings_by_account", "account"),
)
"""The ledger: the postings of each transaction sum to 0."""

seats = Table(
    "seats", metadata, Column("member", String, primary_key=True), Column("role", String, nullable=False)
)

proposals = Table(
    "proposals",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("title", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("by", String, nullable=False),
    Column("at", Float, nullable=False),
    Column("outcome", JSON),
)
"""``outcome``: how the votes stood when it was decided; whoever leaves the board later changes nothing of it."""

votes = Table(
    "votes",
    metadata,
    Column("proposal", Integer, ForeignKey("proposals.id"), primary_key=True),
    Column("member", String, ForeignKey("seats.member"), primary_key=True),
    Column("choice", String, nullable=False),
    Column("reason", Text, nullable=False),
    Column("at", Float, nullable=False),
)

log = Table(
    "log",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("at", Float, nullable=False),
    Column("kind", String, nullable=False),
    Column("detail", JSON, nullable=False),
    Column("hash", String, nullable=False),
)
"""The open log: each hash covers the entry and the hash before it."""


def open_panel(
    folder: Path, url: str | None = None, *, create: bool = False, timeouts: Timeouts = WORKING
) -> Database:
    """Open the database of a panel: SQLite in its folder, or PostgreSQL by a URL (a database of its own).

    Args:
        folder: Of the panel.
        url: Of PostgreSQL.
        create: Make it if there is none; otherwise a folder without a panel is refused.
        timeouts: Of its transactions.

    Returns:
        The database, with its tables.
    """
    file = folder / FILE_NAME
    if url is None and not create and not file.is_file():
        raise StageError(f"{folder} is no panel: it has no {FILE_NAME}. `beholder panel new {folder}` makes one.")
    if create:
        folder.mkdir(parents=True, exist_ok=True)
    database = Database(
        url or panel_url(folder),
        timeouts,
        tables=metadata,
        revisions=REVISIONS,
        migrations=MIGRATIONS,
        writers_lock=WRITERS_LOCK,
    )
    database.create()
    return database


def panel_url(folder: Path) -> str:
    """Return the URL of the database in a panel's folder."""
    return f"sqlite:///{(folder / FILE_NAME).resolve()}"
