"""What a researcher decides about prompts and images before anybody else sees them; and banned words."""

import time
from collections.abc import Iterable
from typing import Any, Literal

from sqlalchemy import Connection, delete, insert, select, update

from beholder.collect.live.room import WORD
from beholder.collect.live.schema import attempts, banned
from beholder.errors import RefusedError

Decision = Literal["approved", "hidden", "waiting"]
"""Whether others may see a result; *waiting* takes a decision back."""


def moderation_queue(connection: Connection, *, everything: bool = False) -> list[dict[str, Any]]:
    """Results that were made and are not decided on, the earliest first; with ``everything`` also the others."""
    query = select(attempts).where(attempts.c.status == "made").order_by(attempts.c.at)
    if not everything:
        query = query.where(attempts.c.moderation == "waiting")
    return [
        {
            "attempt": row.attempt,
            "author": row.author,
            "target": row.target,
            "text": row.text,
            "moderation": row.moderation,
            "image": row.path is not None,
            "at": row.at,
        }
        for row in connection.execute(query)
    ]


def decide(connection: Connection, names: Iterable[str], decision: Decision) -> int:
    """Approve or hide results; an unknown name refuses all of them."""
    decided = set(names)
    present = set(connection.scalars(select(attempts.c.attempt).where(attempts.c.attempt.in_(decided))))
    if decided - present:
        raise RefusedError(404, "no-attempt", f"no such results: {', '.join(sorted(decided - present))}")
    change = update(attempts).where(attempts.c.attempt.in_(decided))
    connection.execute(change.values(moderation=decision, moderated=time.time()))
    return len(decided)


def banned_words(connection: Connection) -> list[str]:
    """All banned words."""
    return list(connection.scalars(select(banned.c.word).order_by(banned.c.word)))


def ban_words(connection: Connection, words: Iterable[str]) -> list[str]:
    """Make these the banned words, in lower case, and return them; results with them that wait are hidden."""
    listed = sorted({match.lower() for word in words for match in WORD.findall(word)})
    connection.execute(delete(banned))
    now = time.time()
    if listed:
        connection.execute(insert(banned), [{"word": word, "at": now} for word in listed])
    for row in connection.execute(select(attempts).where(attempts.c.moderation == "waiting")).all():
        if {word.lower() for word in WORD.findall(row.text)} & set(listed):
            decide(connection, [row.attempt], "hidden")
    return listed
