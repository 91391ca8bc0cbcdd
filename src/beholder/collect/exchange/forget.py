"""Deletion of raters: the identity behind a pseudonym, and, unless they are kept, all answers."""

import hashlib
import json
from contextlib import closing
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
from sqlalchemy import Connection, delete, insert, select, update

from beholder.collect.database.clock import clock_in
from beholder.collect.database.schema import (
    Database,
    comments,
    events,
    gold_paces,
    identities,
    invitations,
    job_surveys,
    persons,
    prototype_feedback,
    replacements,
    responses,
    secrets,
    sessions,
    skips,
    slots,
    thinned,
)
from beholder.collect.live.forget import forget_authors
from beholder.collect.researcher.slots import settle_slots
from beholder.collect.session.identity import PSEUDONYM_KEY, pseudonym, replace_pseudonym_key
from beholder.errors import StageError
from beholder.tables.catalogue import TABLES
from beholder.tables.stages import COLLECT, made_from
from beholder.tables.store import Store

HOLDING = tuple(
    name for name in reversed(TABLES) if {"rater", "session"} & {column.name for column in TABLES[name].columns}
)
"""Tables that hold rows of a rater, those that refer to others first."""

DERIVED = made_from(*COLLECT.outputs)
"""Tables derived from answers; they are stale after answers were deleted."""


ALL_IDENTITIES = "all identities and the key of pseudonyms"


@dataclass(frozen=True, slots=True)
class Receipt:
    """What was deleted, and a hash by which the receipt can be recognised; it identifies nobody."""

    what: str
    at: float
    identities: int
    sessions: int
    answers: int
    marks: int
    slots_opened: int
    tables: tuple[str, ...]
    stale: tuple[str, ...]
    hash: str = ""

    def signed(self) -> "Receipt":
        """Return the receipt with its hash: SHA-256 of all other fields as JSON."""
        content = {name: value for name, value in asdict(self).items() if name != "hash"}
        digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
        return Receipt(**content, hash=digest)


def forget_rater(folder: Path, url: str, rater: str, *, keep_answers: bool) -> Receipt:
    """Delete a rater's identity and, unless kept, their answers: in the database and in the study's tables."""
    database = Database(url)
    database.create()
    with database.writing() as connection:
        if connection.scalar(select(persons.c.person).where(persons.c.person == rater)) is None:
            raise StageError(f"{folder}: there is no rater {rater}. The researcher's page lists all raters.")
        written = list(connection.scalars(select(sessions.c.session).where(sessions.c.person == rater)))
        receipt = _forget(connection, folder, rater, keep_answers=keep_answers)
    if not keep_answers:
        forget_authors(folder, written)
    _scrub(database)
    return receipt


def find_rater(url: str, platform: str, identity: str) -> str:
    """Return the pseudonym of a rater by their id on a platform, without the table of identities.

    Raters from before all identities were forgotten cannot be found by their id: this is an error.
    """
    database = Database(url)
    with database.reading() as connection:
        key = connection.scalar(select(secrets.c.value).where(secrets.c.name == PSEUDONYM_KEY))
        if key is None:
            raise StageError("the database holds no secret for pseudonyms: no rater has taken part in it")
        rater = pseudonym(str(key), platform, identity)
        is_known = connection.scalar(select(persons.c.person).where(persons.c.person == rater)) is not None
        cut_at = None if is_known else _identities_forgotten(connection)
    database.engine.dispose()
    if cut_at is not None:
        moment = datetime.fromtimestamp(cut_at, UTC).strftime("%Y-%m-%d %H:%M UTC")
        raise StageError(
            f"nobody has come with this id since {moment}, when all identities were forgotten and the key of "
            "pseudonyms was replaced. An id does not find earlier raters; name them by --rater PSEUDONYM"
        )
    return rater


def forget_identities(url: str) -> Receipt:
    """Delete the identities of all raters, and the parameters of their links; the answers stay.

    The key of the pseudonyms is replaced, too: with it, anyone who has a platform's list of ids could restore the
    identities. So a rater who returns is a new one.
    """
    database = Database(url)
    database.create()
    with database.writing() as connection:
        replace_pseudonym_key(connection)
        count = connection.execute(delete(identities)).rowcount
        connection.execute(update(sessions).values(parameters={}, proof_hash=None))
        receipt = _receipt(connection, ALL_IDENTITIES, now=clock_in(connection).now(), identities=count)
    _scrub(database)
    return receipt


def _identities_forgotten(connection: Connection) -> float | None:
    """Return when all identities were last forgotten."""
    rows = connection.execute(select(events.c.at, events.c.detail).where(events.c.kind == "forgotten"))
    return max((row.at for row in rows if row.detail.get("what") == ALL_IDENTITIES), default=None)


def _forget(connection: Connection, folder: Path, rater: str, *, keep_answers: bool) -> Receipt:
    now = clock_in(connection).now()
    rater_sessions = list(connection.scalars(select(sessions.c.session).where(sessions.c.person == rater)))
    named = connection.execute(delete(identities).where(identities.c.person == rater)).rowcount
    connection.execute(update(invitations).where(invitations.c.person == rater).values(person=None))
    connection.execute(
        update(sessions).where(sessions.c.person == rater).values(parameters={}, proof_hash=None, screen=None)
    )
    if keep_answers:
        return _receipt(connection, "identity", now=now, identities=named)
    held = connection.execute(
        select(responses.c.session, responses.c.marks).where(responses.c.session.in_(rater_sessions))
    ).all()
    connection.execute(
        update(slots)
        .where(slots.c.session.in_(rater_sessions), slots.c.done.is_(False))
        .values(session=None, lease_until=0.0)
    )
    connection.execute(update(slots).where(slots.c.session.in_(rater_sessions)).values(session=None))
    for table in (
        *(gold_paces, thinned, replacements, responses, skips),
        *(comments, prototype_feedback, job_surveys, events),
    ):
        connection.execute(delete(table).where(table.c.session.in_(rater_sessions)))
    connection.execute(delete(sessions).where(sessions.c.person == rater))
    connection.execute(delete(persons).where(persons.c.person == rater))
    _forget_in_log(connection, rater)
    opened = settle_slots(connection).opened
    rewritten, stale = _forget_in_tables(Store(folder), rater, rater_sessions)
    return _receipt(
        connection,
        "person",
        now=now,
        identities=named,
        sessions=len(rater_sessions),
        answers=len(held),
        marks=sum(len(row.marks) for row in held),
        slots_opened=opened,
        tables=rewritten,
        stale=stale,
    )


def _forget_in_log(connection: Connection, rater: str) -> None:
    """Remove the rater from logged actions of the researcher."""
    for row in connection.execute(select(events.c.id, events.c.detail)).all():
        if row.detail.get("person") == rater:
            blank = {key: value for key, value in row.detail.items() if key not in ("person", "reason")}
            connection.execute(update(events).where(events.c.id == row.id).values(detail=blank))


def _forget_in_tables(
    store: Store, rater: str, rater_sessions: list[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Rewrite the exported tables; return which were rewritten, and which others are now stale."""
    exported = store.read_or_empty("sessions")
    names = [*rater_sessions, *exported.filter(pl.col("rater") == rater)["session"]]
    rewritten: list[str] = []
    for name in HOLDING:  # first what refers to others
        frame = store.read_or_empty(name)
        is_rater = pl.col("rater") == rater if "rater" in frame.columns else pl.col("session").is_in(names)
        remaining = frame.filter(~is_rater)
        if remaining.height == frame.height:
            continue
        record = store.provenance(name)
        if record is None:
            raise StageError(
                f"{store.path(name)} does not say where it comes from. Export the answers again, then "
                "repeat the deletion; the database is as it was."
            )
        store.write({name: remaining}, record)
        rewritten.append(name)
    stale = tuple(name for name in DERIVED if rewritten and store.has(name))
    return tuple(rewritten), stale


def _scrub(database: Database) -> None:
    """Make SQLite overwrite deleted rows, in its file and in its write-ahead log."""
    if database.is_sqlite:
        with closing(database.engine.raw_connection()) as raw, closing(raw.cursor()) as cursor:
            cursor.execute("VACUUM")
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.engine.dispose()


def _receipt(connection: Connection, what: str, *, now: float, **counts: object) -> Receipt:
    """Make the receipt, and log it among the events."""
    empty: dict[str, object] = dict.fromkeys(("identities", "sessions", "answers", "marks", "slots_opened"), 0)
    content = empty | {"tables": (), "stale": ()} | counts
    receipt = Receipt(what=what, at=now, **content).signed()  # type: ignore[arg-type]
    connection.execute(insert(events).values(session=None, at=now, kind="forgotten", detail=asdict(receipt)))
    return receipt
