"""What a rehearsal leaves in the database, and its end."""

from sqlalchemy import Connection, func, select

from beholder.collect.database.schema import (
    Database,
    comments,
    events,
    identities,
    persons,
    replacements,
    responses,
    sessions,
    skips,
    slots,
)


def clear_rehearsal(url: str) -> None:
    """Make room for people: forget those who were made up, unless a real person has taken part beside them."""
    database = Database(url)
    with database.writing() as connection:
        end_rehearsal(connection)
    database.engine.dispose()


def end_rehearsal(connection: Connection) -> None:
    """Where only made-up people have taken part, forget them: they must not hold places, nor hold up a change."""
    made_up = connection.scalar(select(func.count()).where(persons.c.simulated.is_(True)))
    real = connection.scalar(select(func.count()).where(persons.c.simulated.is_(False)))
    if real or not made_up:
        return
    for table in (replacements, responses, skips, comments, events, sessions, identities, persons):
        connection.execute(table.delete())
    connection.execute(slots.update().values(session=None, lease_until=0.0, done=False))
