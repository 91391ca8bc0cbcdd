"""Training and qualification on later attempts at a slot: other trials than on earlier attempts.

A rater who fails the qualification could return under another name and be lent the same slot. So the opening of a
slot (its training and qualification) is taken from another slot of the question if the slot was begun before; a
keyed hash of the session chooses which.
"""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Row, Select, select

from beholder.collect.database.schema import sessions, slots, trials
from beholder.collect.session.catalogue import OPENING_ROLES, Catalogue
from beholder.collect.session.identity import opaque

CANDIDATES = 24
"""Number of slots whose openings are compared."""


def vary_opening(
    connection: Connection, catalogue: Catalogue, question: str, slot: int, plan: Sequence[str], session: str
) -> list[str]:
    """Return the plan unchanged on the first attempt at the slot; on later ones with the opening of another slot.

    The candidate whose images overlap least with those of the trials to come is taken, then the one that overlaps
    least with the openings of earlier attempts.
    """
    own = catalogue.slot(question, slot)
    opening = [name for name in plan if own[name].role in OPENING_ROLES]
    if not opening:
        return list(plan)
    before = _shown_before(connection, question, slot)
    if not before:
        return list(plan)
    rest = [name for name in plan if own[name].role not in OPENING_ROLES]
    to_come = {image for name in rest for image in own[name].images}
    earlier = {name for name in before if catalogue.trial(name).role in OPENING_ROLES}
    earlier_images = {image for name in earlier for image in catalogue.trial(name).images}
    openings = _openings(connection, catalogue, question, session)
    unused = {candidate: rows for candidate, rows in openings.items() if not {row.trial for row in rows} & earlier}
    usable = unused or openings

    def overlap(candidate: int) -> tuple[int, int]:
        images = {image for row in usable[candidate] for image in row.images}
        return len(images & to_come), len(images & earlier_images)

    best = min(usable, key=overlap)  # of equals the first, in the order of the hash
    return [*(row.trial for row in usable[best]), *rest]


def _shown_before(connection: Connection, question: str, slot: int) -> set[str]:
    """Return the trials of all sessions that have begun in the slot."""
    plans = connection.scalars(
        select(sessions.c.plan).where(
            sessions.c.question == question, sessions.c.slot == slot, sessions.c.begun.is_not(None)
        )
    )
    return {name for plan in plans for name in plan or []}


def _openings(
    connection: Connection, catalogue: Catalogue, question: str, session: str
) -> dict[int, list[Row[Any]]]:
    """Return the openings of some slots, in an order that only this server can predict."""
    key = catalogue.secret("token")
    numbers = connection.scalars(select(slots.c.slot).where(slots.c.question == question)).all()
    chosen = sorted(numbers, key=lambda number: opaque(key, "opening", session, str(number)))[:CANDIDATES]
    query: Select[Any] = (
        select(trials)
        .where(trials.c.question == question, trials.c.slot.in_(chosen), trials.c.role.in_(OPENING_ROLES))
        .order_by(trials.c.position)
    )
    rows: Sequence[Row[Any]] = connection.execute(query).all()
    by_slot: dict[int, list[Row[Any]]] = {}
    for row in rows:
        by_slot.setdefault(row.slot, []).append(row)
    return {number: by_slot[number] for number in chosen if number in by_slot}
