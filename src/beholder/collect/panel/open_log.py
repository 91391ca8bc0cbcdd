"""The open log of a panel: what was decided, by whom; the hash of each entry covers the one before."""

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, insert, select

from beholder.collect.panel.schema import log
from beholder.errors import StorageError


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of the log."""

    at: float
    kind: str
    detail: dict[str, Any]
    hash: str


def write_entry(connection: Connection, kind: str, detail: dict[str, Any], *, now: float) -> str:
    """Append an entry; return its hash.

    Args:
        connection: In a write transaction.
        kind: Such as ``vote``.
        detail: What happened; nothing that identifies a rater.
        now: The time.

    Returns:
        The hash.
    """
    before = connection.scalar(select(log.c.hash).order_by(log.c.id.desc()).limit(1)) or ""
    seal = _seal(before, now, kind, detail)
    connection.execute(insert(log).values(at=now, kind=kind, detail=detail, hash=seal))
    return seal


def read_log(connection: Connection) -> tuple[Entry, ...]:
    """Return all entries, earliest first; an error where an entry was changed or removed.

    Args:
        connection: In any transaction.

    Returns:
        The entries.
    """
    entries, before = [], ""
    for row in connection.execute(select(log).order_by(log.c.id)):
        if row.hash != _seal(before, row.at, row.kind, row.detail):
            raise StorageError(f"entry {row.id} of the open log was changed, or an entry before it removed")
        entries.append(Entry(row.at, row.kind, row.detail, row.hash))
        before = row.hash
    return tuple(entries)


def latest_entries(connection: Connection, count: int) -> tuple[Entry, ...]:
    """Return the latest entries, latest first; an error where one of them was changed.

    Args:
        connection: In any transaction.
        count: How many at most.

    Returns:
        The entries.
    """
    rows = connection.execute(select(log).order_by(log.c.id.desc()).limit(count + 1)).all()
    for row, before in zip(rows[:count], [*(each.hash for each in rows[1:]), ""], strict=False):
        if row.hash != _seal(before, row.at, row.kind, row.detail):
            raise StorageError(f"entry {row.id} of the open log was changed, or an entry before it removed")
    return tuple(Entry(row.at, row.kind, row.detail, row.hash) for row in rows[:count])


def _seal(before: str, at: float, kind: str, detail: dict[str, Any]) -> str:
    content = json.dumps([before, at, kind, detail], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(content.encode()).hexdigest()
