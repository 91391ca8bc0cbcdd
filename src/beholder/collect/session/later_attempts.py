"""Training and qualification on another attempt at a slot: other trials than those that were shown before.

Whoever fails the qualification can come back under another name, and would be lent the same slot. So the opening
of a slot that was begun before is taken from another slot of the question, chosen by a keyed hash of the session.
"""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Row, Select, select

from beholder.collect.database.schema import sessions, slots, trials
from beholder.collect.session.catalogue import OPENING_ROLES, Catalogue
from beholder.collect.session.identity import opaque

CANDIDATES = 24
"""Slots whose openings are compared."""


def with_other_opening(
    connection: Connection, catalogue: Catalogue, question: str, slot: int, plan: Sequence[str], session: str
) -> list[str]:
    """The plan as it is on the first attempt at the slot; on later ones with the opening of another slot.

    Of the candidates the one is taken whose images overlap least with those of the trials to come, then with those
    that earlier attempts began with.
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
    """The trials of everyone who has begun in the slot."""
    plans = connection.scalars(
        select(sessions.c.plan).where(
            sessions.c.question == question, sessions.c.slot == slot, sessions.c.begun.is_not(None)
        )
    )
    return {name for plan in plans for name in plan or []}


def _openings(
    connection: Connection, catalogue: Catalogue, question: str, session: str
) -> dict[int, list[Row[Any]]]:
    """The openings of some slots, in an order that only this server can foretell."""
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
