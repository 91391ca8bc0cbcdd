"""Who someone is: pseudonyms, the platforms people come from, and tokens that give nothing away."""

import hashlib
import hmac
import secrets as randomness
from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, insert, select

from beholder.collect.database import identities, invitations, persons
from beholder.study.collecting import Collecting

OPEN, INVITED, PROLIFIC, MTURK, PANEL = "open", "invitation", "prolific", "mturk", "panel"
LONGEST_ID = 200
MTURK_PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"
"""What MTurk gives as the assignment to someone who only looks at the task."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """Someone at the door: the platform and their id on it; no id for someone on an open link."""

    platform: str
    identity: str | None


def arrival_of(parameters: Mapping[str, str], invitation: str | None, settings: Collecting) -> Arrival | None:
    """Read the link that someone came by; ``None`` where it lets nobody in."""
    if parameters.get("assignmentId") == MTURK_PREVIEW:
        return None
    if invitation:
        return Arrival(INVITED, invitation)
    if parameters.get("PROLIFIC_PID"):
        return Arrival(PROLIFIC, parameters["PROLIFIC_PID"][:LONGEST_ID])
    if parameters.get("workerId"):
        return Arrival(MTURK, parameters["workerId"][:LONGEST_ID])
    if settings.panel_parameter and parameters.get(settings.panel_parameter):
        return Arrival(PANEL, parameters[settings.panel_parameter][:LONGEST_ID])
    return Arrival(OPEN, None) if settings.open_link else None


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
