"""The database of an arena: entries, voters, the pairs that were served with their propensities, and the votes."""

from pathlib import Path

from sqlalchemy import (
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
from sqlalchemy.types import JSON

from beholder.collect.database.schema import SERVING, Database, Timeouts

FILE_NAME = "arena.sqlite"
REVISIONS = ("arena-1",)

metadata = MetaData()

secrets = Table(
    "secrets", metadata, Column("name", String, primary_key=True), Column("value", String, nullable=False)
)

entries = Table(
    "entries",
    metadata,
    Column("entry", String, primary_key=True),
    Column("added", Float, nullable=False),
    Column("retired", Float),
    Column("reason", Text),
)
"""Every entry that ever took part; one that is retired stays, with the reason."""

styles = Table(
    "styles",
    metadata,
    Column("image", String, primary_key=True),
    Column("saturation", Float, nullable=False),
    Column("size", Float, nullable=False),
    Column("sharpness", Float, nullable=False),
)

voters = Table(
    "voters",
    metadata,
    Column("voter", String, primary_key=True),
    Column("token_hash", String, nullable=False, unique=True),
    Column("language", String, nullable=False),
    Column("created", Float, nullable=False),
    Column("votes", Integer, nullable=False, default=0),
)

ballots = Table(
    "ballots",
    metadata,
    Column("ballot", String, primary_key=True),
    Column("voter", String, ForeignKey("voters.voter"), nullable=False),
    Column("number", Integer, nullable=False),
    Column("prompt", Text, nullable=False),
    Column("first", String, ForeignKey("entries.entry"), nullable=False),
    Column("second", String, ForeignKey("entries.entry"), nullable=False),
    Column("first_image", String, nullable=False),
    Column("second_image", String, nullable=False),
    Column("propensity", Float, nullable=False),
    Column("even", Boolean, nullable=False),
    Column("is_check", Boolean, nullable=False),
    Column("entries", Integer, nullable=False),
    Column("served", Float, nullable=False),
    UniqueConstraint("voter", "number"),
)
"""One row per pair served; ``entries`` is how many took part then, so that propensities can be read later."""

votes = Table(
    "votes",
    metadata,
    Column("ballot", String, ForeignKey("ballots.ballot"), primary_key=True),
    Column("voter", String, ForeignKey("voters.voter"), nullable=False),
    Column("key", String, nullable=False),
    Column("outcome", String, nullable=False),
    Column("seconds", Float, nullable=False),
    Column("at", Float, nullable=False),
    UniqueConstraint("voter", "key"),
    Index("votes_by_voter", "voter"),
)

log = Table(
    "log",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("at", Float, nullable=False),
    Column("kind", String, nullable=False),
    Column("detail", JSON, nullable=False),
)
"""Entries that came and were retired, and settings of each start: all of it is on the board."""


def arena_url(folder: Path) -> str:
    """The address of the arena's database in a study folder."""
    return f"sqlite:///{(folder / FILE_NAME).resolve()}"


def open_arena(url: str, timeouts: Timeouts = SERVING) -> Database:
    """Open the database, and create its tables where there are none."""
    database = Database(url, timeouts, tables=metadata, revisions=REVISIONS)
    database.create()
    return database
