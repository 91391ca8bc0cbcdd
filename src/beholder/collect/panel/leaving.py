"""Contact with a rater: agreeing to it, opting out, and being forgotten."""

import hashlib
from contextlib import closing

from sqlalchemy import Connection, delete, insert, select, update

from beholder.collect.database.schema import Database
from beholder.collect.panel.open_log import write_entry
from beholder.collect.panel.schema import (
    appeals,
    contacts,
    flags,
    identities,
    interests,
    links,
    members,
    payments,
    postings,
    proposals,
    rater_logins,
    raters,
    ratings,
    seats,
    standings,
    trust,
    votes,
    work,
)
from beholder.errors import StageError

HOLDING = (
    *(identities, contacts, links, rater_logins, interests, standings, trust),
    *(members, work, ratings, flags, appeals),
)
"""Tables with rows of a rater, besides the ledger."""


def agree_to_contact(connection: Connection, rater: str, address: str, consent: str, *, now: float) -> None:
    """Note how to reach a rater, who agreed to a text; what was noted before is replaced.

    Args:
        connection: In a write transaction.
        rater: Who.
        address: Such as an e-mail address.
        consent: The text that the rater agreed to.
        now: The time.
    """
    _require(connection, rater)
    if not address.strip() or not consent.strip():
        raise StageError("a contact needs an address, and the text that the rater agreed to")
    connection.execute(delete(contacts).where(contacts.c.rater == rater))
    seal = hashlib.sha256(consent.encode()).hexdigest()
    connection.execute(insert(contacts).values(rater=rater, address=address, consent_hash=seal, consented=now))
    connection.execute(update(raters).where(raters.c.rater == rater).values(opted_out=None))


def opt_out(connection: Connection, rater: str, *, now: float) -> None:
    """End all contact with a rater: the address is deleted, and no study is offered to them.

    Args:
        connection: In a write transaction.
        rater: Who.
        now: The time.
    """
    _require(connection, rater)
    connection.execute(delete(contacts).where(contacts.c.rater == rater))
    connection.execute(update(raters).where(raters.c.rater == rater).values(opted_out=now))


def forget_rater(database: Database, rater: str, *, now: float) -> int:
    """Delete a rater: identity, contact, history, ratings, flags and appeals.

    The ledger stays, as accounts must, under a name that leads to nobody. A rater to whom money is owed is
    refused: pay, or decline the payment, first.

    Args:
        database: Of the panel.
        rater: Who.
        now: The time.

    Returns:
        The number of rows that were deleted.
    """
    with database.writing() as connection:
        _require(connection, rater)
        require_no_open_payments(connection, rater)
        nobody = f"forgotten-{hashlib.sha256(f'{rater}{now}'.encode()).hexdigest()[:12]}"
        deleted = 0
        for table in HOLDING:
            deleted += connection.execute(delete(table).where(table.c.rater == rater)).rowcount
        connection.execute(update(payments).where(payments.c.rater == rater).values(rater=nobody))
        connection.execute(update(proposals).where(proposals.c.by == rater).values(by=nobody))
        connection.execute(delete(votes).where(votes.c.member == rater))
        connection.execute(delete(seats).where(seats.c.member == rater))
        account = postings.c.account == f"rater:{rater}"
        connection.execute(update(postings).where(account).values(account=f"rater:{nobody}"))
        deleted += connection.execute(delete(raters).where(raters.c.rater == rater)).rowcount
        write_entry(connection, "rater forgotten", {"rows": deleted}, now=now)
    if database.is_sqlite:
        with closing(database.engine.raw_connection()) as raw, closing(raw.cursor()) as cursor:
            cursor.execute("VACUUM")
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return deleted


def opt_in(connection: Connection, rater: str) -> None:
    """Offer studies to a rater again; an address is kept only where they agree to it again.

    Args:
        connection: In a write transaction.
        rater: Who.
    """
    _require(connection, rater)
    connection.execute(update(raters).where(raters.c.rater == rater).values(opted_out=None))


def require_no_open_payments(connection: Connection, rater: str) -> None:
    """Refuse to forget a rater to whom money is owed.

    Args:
        connection: In any transaction.
        rater: Who.
    """
    open_payments = connection.scalars(
        select(payments.c.payment).where(
            payments.c.rater == rater, payments.c.status.in_(("proposed", "approved", "sending"))
        )
    ).all()
    if open_payments:
        raise StageError(f"{rater} has {len(open_payments)} open payments: pay or decline them first")


def _require(connection: Connection, rater: str) -> None:
    if connection.scalar(select(raters.c.rater).where(raters.c.rater == rater)) is None:
        raise StageError(f"there is no rater {rater} in this panel; `beholder panel raters` lists them")
