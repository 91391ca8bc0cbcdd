"""The database of live results: who agreed, what was asked for, what came back, and what a researcher decided."""

from pathlib import Path

from sqlalchemy import Column, Float, Index, Integer, MetaData, String, Table, Text
from sqlalchemy.types import JSON

from beholder.collect.database.schema import SERVING, Database, Timeouts

FILE_NAME = "live.sqlite"
IMAGES_ROOM = "live"
"""Folder of the images that were made, within the study."""

REVISIONS = ("live-1",)

metadata = MetaData()

consents = Table(
    "consents", metadata, Column("author", String, primary_key=True), Column("at", Float, nullable=False)
)
"""Who was warned of what may come, and went on."""

attempts = Table(
    "attempts",
    metadata,
    Column("attempt", String, primary_key=True),
    Column("author", String, nullable=False),
    Column("trial", String, nullable=False),
    Column("number", Integer, nullable=False),
    Column("target", String, nullable=False),
    Column("text", Text, nullable=False),
    Column("picked", String),
    Column("scores", JSON),
    Column("status", String, nullable=False),
    Column("note", Text, nullable=False),
    Column("path", String),
    Column("sha256", String),
    Column("width", Integer),
    Column("height", Integer),
    Column("at", Float, nullable=False),
    Column("ended", Float),
    Column("moderation", String, nullable=False),
    Column("moderated", Float),
    Index("attempts_by_author", "author", "trial"),
)
"""One row per result asked for. ``status``: waiting, made, refused (by the generator) or failed; ``moderation``:
waiting, approved or hidden. ``picked`` is the image that was set against the one shown, to fool a scorer."""

banned = Table("banned", metadata, Column("word", String, primary_key=True), Column("at", Float, nullable=False))
"""Words that no prompt may hold, in lower case."""


def live_url(folder: Path) -> str:
    """The address of the database in a study folder."""
    return f"sqlite:///{(folder / FILE_NAME).resolve()}"


def open_live(folder: Path, timeouts: Timeouts = SERVING) -> Database:
    """Open the database, and create its tables where there are none."""
    database = Database(live_url(folder), timeouts, tables=metadata, revisions=REVISIONS)
    database.create()
    return database
