"""The key of pseudonyms: read where it is used, since forgetting all identities replaces it while servers run."""

import secrets as randomness

from sqlalchemy import Connection, select, update

from beholder.collect.database.schema import secrets

NAME = "person"


def person_key(connection: Connection) -> str:
    """The key as it is now; nobody replaces it before this transaction has ended."""
    return str(
        connection.execute(
            select(secrets.c.value).where(secrets.c.name == NAME).with_for_update(read=True)
        ).scalar_one()
    )


def replace_person_key(connection: Connection) -> None:
    """Another key, under which no id leads to the pseudonym it had; waits for whoever is coming in just now."""
    connection.execute(update(secrets).where(secrets.c.name == NAME).values(value=randomness.token_urlsafe(32)))
