"""Forgetting people: who is behind a pseudonym, and, unless they are to be kept, all their answers."""

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
    identities,
    invitations,
    persons,
    replacements,
    responses,
    secrets,
    sessions,
    skips,
    slots,
)
from beholder.collect.researcher.slots import settle_places
from beholder.collect.session.identity import pseudonym
from beholder.collect.session.pseudonym_key import replace_person_key
from beholder.errors import StageError
from beholder.tables.catalogue import TABLES
from beholder.tables.stages import COLLECT, made_from
from beholder.tables.store import Store

HOLDING = tuple(
    name for name in reversed(TABLES) if {"rater", "session"} & {column.name for column in TABLES[name].columns}
)
"""Tables with a person's rows, those that refer to others first."""

DERIVED = made_from(*COLLECT.outputs)
"""Tables made from answers; they are made again after answers were deleted."""


ALL_IDENTITIES = "all identities and the key of pseudonyms"


@dataclass(frozen=True, slots=True)
class Receipt:
    """What was forgotten, and a hash by which the receipt can be recognised; it names nobody."""

    what: str
    at: float
    identities: int
    sessions: int
    answers: int
    marks: int
    places_opened: int
    tables: tuple[str, ...]
    stale: tuple[str, ...]
    hash: str = ""

    def signed(self) -> "Receipt":
        """The same with its hash: SHA-256 of all else as JSON."""
        content = {name: value for name, value in asdict(self).items() if name != "hash"}
        digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
        return Receipt(**content, hash=digest)


def forget_person(folder: Path, url: str, person: str, *, keep_answers: bool) -> Receipt:
    """Delete who someone is and, unless kept, what they answered: in the database and in the study's tables."""
    database = Database(url)
    database.create()
    with database.writing() as connection:
        if connection.scalar(select(persons.c.person).where(persons.c.person == person)) is None:
            raise StageError(f"{folder}: nobody is known here as {person}. The researcher's page lists everyone.")
        receipt = _forget(connection, folder, person, keep_answers=keep_answers)
    _scrub(database)
    return receipt


def person_of(url: str, platform: str, identity: str) -> str:
    """The pseudonym of someone whose id on a platform is known; the map of identities is not needed for it.

    After all identities were forgotten, whoever took part before cannot be found by their id: this is an error.
    """
    database = Database(url)
    with database.reading() as connection:
        key = connection.scalar(select(secrets.c.value).where(secrets.c.name == "person"))
        if key is None:
            raise StageError("the database holds no secret for pseudonyms: nobody has been collected in it")
        person = pseudonym(str(key), platform, identity)
        is_known = connection.scalar(select(persons.c.person).where(persons.c.person == person)) is not None
        cut_at = None if is_known else _identities_forgotten(connection)
    database.engine.dispose()
    if cut_at is not None:
        moment = datetime.fromtimestamp(cut_at, UTC).strftime("%Y-%m-%d %H:%M UTC")
        raise StageError(
            f"nobody has come with this id since {moment}, when all identities were forgotten and the key of "
            "pseudonyms was replaced. An id no longer finds who came before; name them by --rater PSEUDONYM"
        )
    return person


def forget_identities(url: str) -> Receipt:
    """Empty the map from pseudonyms to people, and what their links said of them; the answers stay.

    The key of pseudonyms is replaced, too: with it, anybody who has a platform's list of ids could make the map
    again. So somebody who comes back is a new rater.
    """
    database = Database(url)
    database.create()
    with database.writing() as connection:
        replace_person_key(connection)
        count = connection.execute(delete(identities)).rowcount
        connection.execute(update(sessions).values(parameters={}, proof_hash=None))
        receipt = _receipt(connection, ALL_IDENTITIES, now=clock_in(connection).now(), identities=count)
    _scrub(database)
    return receipt


def _identities_forgotten(connection: Connection) -> float | None:
    """When all identities were forgotten the last time."""
    rows = connection.execute(select(events.c.at, events.c.detail).where(events.c.kind == "forgotten"))
    return max((row.at for row in rows if row.detail.get("what") == ALL_IDENTITIES), default=None)


def _forget(connection: Connection, folder: Path, person: str, *, keep_answers: bool) -> Receipt:
    now = clock_in(connection).now()
    mine = list(connection.scalars(select(sessions.c.session).where(sessions.c.person == person)))
    named = connection.execute(delete(identities).where(identities.c.person == person)).rowcount
    connection.execute(update(invitations).where(invitations.c.person == person).values(person=None))
    connection.execute(
        update(sessions).where(sessions.c.person == person).values(parameters={}, proof_hash=None, screen=None)
    )
    if keep_answers:
        return _receipt(connection, "identity", now=now, identities=named)
    held = connection.execute(
        select(responses.c.session, responses.c.marks).where(responses.c.session.in_(mine))
    ).all()
    connection.execute(
        update(slots)
        .where(slots.c.session.in_(mine), slots.c.done.is_(False))
        .values(session=None, lease_until=0.0)
    )
    connection.execute(update(slots).where(slots.c.session.in_(mine)).values(session=None))
    for table in (replacements, responses, skips, comments, events):
        connection.execute(delete(table).where(table.c.session.in_(mine)))
    connection.execute(delete(sessions).where(sessions.c.person == person))
    connection.execute(delete(persons).where(persons.c.person == person))
    _forget_in_log(connection, person)
    opened = settle_places(connection).opened
    rewritten, stale = _forget_in_tables(Store(folder), person, mine)
    return _receipt(
        connection,
        "person",
        now=now,
        identities=named,
        sessions=len(mine),
        answers=len(held),
        marks=sum(len(row.marks) for row in held),
        places_opened=opened,
        tables=rewritten,
        stale=stale,
    )


def _forget_in_log(connection: Connection, person: str) -> None:
    """Deeds of the researcher that name the person lose the name."""
    for row in connection.execute(select(events.c.id, events.c.detail)).all():
        if row.detail.get("person") == person:
            blank = {key: value for key, value in row.detail.items() if key not in ("person", "reason")}
            connection.execute(update(events).where(events.c.id == row.id).values(detail=blank))


def _forget_in_tables(store: Store, person: str, mine: list[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Rewrite the tables that were exported; which were, and which others no longer fit them."""
    held = store.read_or_empty("sessions")
    theirs = [*mine, *held.filter(pl.col("rater") == person)["session"]]
    rewritten: list[str] = []
    for name in HOLDING:  # first what refers to others
        frame = store.read_or_empty(name)
        theirs_here = pl.col("rater") == person if "rater" in frame.columns else pl.col("session").is_in(theirs)
        kept = frame.filter(~theirs_here)
        if kept.height == frame.height:
            continue
        record = store.provenance(name)
        if record is None:
            raise StageError(
                f"{store.path(name)} does not say where it comes from. Export the answers anew, then "
                "forget again; the database is as it was."
            )
        store.write({name: kept}, record)
        rewritten.append(name)
    stale = tuple(name for name in DERIVED if rewritten and store.has(name))
    return tuple(rewritten), stale


def _scrub(database: Database) -> None:
    """Make SQLite overwrite what was deleted: neither its file nor its log keeps a trace."""
    if database.is_sqlite:
        with closing(database.engine.raw_connection()) as raw, closing(raw.cursor()) as cursor:
            cursor.execute("VACUUM")
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.engine.dispose()


def _receipt(connection: Connection, what: str, *, now: float, **counts: object) -> Receipt:
    """The receipt, also noted among the events."""
    empty: dict[str, object] = dict.fromkeys(("identities", "sessions", "answers", "marks", "places_opened"), 0)
    whole = empty | {"tables": (), "stale": ()} | counts
    receipt = Receipt(what=what, at=now, **whole).signed()  # type: ignore[arg-type]
    connection.execute(insert(events).values(session=None, at=now, kind="forgotten", detail=asdict(receipt)))
    return receipt
