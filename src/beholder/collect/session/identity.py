"""Who someone is: pseudonyms, and tokens that give nothing away."""

import hashlib
import hmac
import secrets as randomness

from sqlalchemy import Connection, insert, select

from beholder.collect.database.schema import identities, invitations, persons
from beholder.collect.session.arrival import INVITED, Arrival


def find_or_make_person(
    connection: Connection, arrival: Arrival, *, key: str, now: float, simulated: bool
) -> str | None:
    """The pseudonym of someone, the same whenever they come; ``None`` for an invitation that is not known."""
    if arrival.platform == INVITED and not _invited(connection, arrival):
        return None
    identity = arrival.identity or randomness.token_urlsafe(16)
    person = pseudonym(key, arrival.platform, identity)
    if connection.scalar(select(persons.c.person).where(persons.c.person == person)) is None:
        connection.execute(
            insert(persons).values(
                person=person, platform=arrival.platform, created=now, excluded=False, simulated=simulated
            )
        )
        if arrival.identity is not None and arrival.platform != INVITED:
            connection.execute(
                insert(identities).values(person=person, platform=arrival.platform, identity=identity)
            )
    return person


def pseudonym(key: str, platform: str, identity: str) -> str:
    """HMAC of the platform and the id there: without the study's secret nobody can tell who it is."""
    digest = hmac.new(key.encode(), f"{platform}\n{identity}".encode(), hashlib.sha256).hexdigest()
    return f"r-{digest[:20]}"


def identity_of(connection: Connection, person: str) -> str:
    """The id of a person on their platform; empty where there is none, or it was forgotten."""
    return connection.scalar(select(identities.c.identity).where(identities.c.person == person)) or ""


def new_token() -> str:
    """A token for a cookie or a link; only its hash is kept."""
    return randomness.token_urlsafe(24)


def hash_of(token: str) -> str:
    """What is kept of a token."""
    return hashlib.sha256(token.encode()).hexdigest()


def opaque(key: str, *parts: str) -> str:
    """A name for something that only this server can make, and that tells nothing about it."""
    return hmac.digest(key.encode(), "\n".join(parts).encode(), "sha256").hex()[:32]


def _invited(connection: Connection, arrival: Arrival) -> bool:
    wanted = hash_of(arrival.identity or "")
    known = connection.scalar(select(invitations.c.invitation_hash).where(invitations.c.invitation_hash == wanted))
    return known is not None
