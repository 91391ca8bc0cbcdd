"""Pseudonyms of raters, and opaque tokens."""

import hashlib
import hmac
import secrets as randomness

from sqlalchemy import Connection, insert, select, update

from beholder.collect.database.schema import identities, invitations, persons, secrets
from beholder.collect.session.arrival import INVITED, PANEL, Arrival

PSEUDONYM_KEY = "person"
"""Name of the secret under which pseudonyms are made."""


def find_or_create_rater(
    connection: Connection, arrival: Arrival, *, key: str, now: float, simulated: bool
) -> str | None:
    """Return the pseudonym of a rater, the same at every visit; ``None`` for an unknown invitation."""
    if arrival.platform == INVITED and not _is_invited(connection, arrival):
        return None
    identity = arrival.identity or randomness.token_urlsafe(16)
    rater = pseudonym(key, arrival.platform, identity)
    if connection.scalar(select(persons.c.person).where(persons.c.person == rater)) is None:
        connection.execute(
            insert(persons).values(
                person=rater, platform=arrival.platform, created=now, excluded=False, simulated=simulated
            )
        )
        if arrival.identity is not None and arrival.platform != INVITED:
            connection.execute(
                insert(identities).values(person=rater, platform=arrival.platform, identity=identity)
            )
    return rater


def pseudonym(key: str, platform: str, identity: str) -> str:
    """Make the pseudonym: an HMAC of platform and id, which reveals neither without the study's secret."""
    digest = hmac.new(key.encode(), f"{platform}\n{identity}".encode(), hashlib.sha256).hexdigest()
    return f"r-{digest[:20]}"


def pseudonym_key(connection: Connection) -> str:
    """Read the key of the pseudonyms; it cannot be replaced before this transaction ends.

    It is read at every use, because forgetting all identities replaces it while servers run.
    """
    return str(
        connection.execute(
            select(secrets.c.value).where(secrets.c.name == PSEUDONYM_KEY).with_for_update(read=True)
        ).scalar_one()
    )


def replace_pseudonym_key(connection: Connection) -> None:
    """Set a new key, under which no platform id leads to its former pseudonym; waits for admissions under way."""
    key = randomness.token_urlsafe(32)
    connection.execute(update(secrets).where(secrets.c.name == PSEUDONYM_KEY).values(value=key))


def identity_of(connection: Connection, rater: str) -> str:
    """Return a rater's id on the platform; empty if there is none, or it was forgotten."""
    return connection.scalar(select(identities.c.identity).where(identities.c.person == rater)) or ""


def is_of_panel(connection: Connection, rater: str) -> bool:
    """Whether a rater came from a panel."""
    return connection.scalar(select(persons.c.platform).where(persons.c.person == rater)) == PANEL


def new_token() -> str:
    """Make a random token for a cookie or a link; only its hash is stored."""
    return randomness.token_urlsafe(24)


def hash_of(token: str) -> str:
    """Return the hash that is stored of a token."""
    return hashlib.sha256(token.encode()).hexdigest()


def opaque(key: str, *parts: str) -> str:
    """Make a keyed name that only this server can make, and that reveals nothing about its parts."""
    return hmac.digest(key.encode(), "\n".join(parts).encode(), "sha256").hex()[:32]


def _is_invited(connection: Connection, arrival: Arrival) -> bool:
    column = invitations.c.invitation_hash
    query = select(column).where(column == hash_of(arrival.identity or ""))
    return connection.scalar(query) is not None
