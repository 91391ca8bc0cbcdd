"""What raters wrote on single trials, from the database: it may identify them, and is in no table."""

from sqlalchemy import select

from beholder.collect.database.schema import Database, persons, sessions, skips
from beholder.collect.database.unavailable import usable_database


def trial_comments(url: str) -> dict[tuple[str, str], str]:
    """Return the comments on skipped trials, by rater and trial, without those of excluded raters."""
    database = Database(url)
    with usable_database(), database.reading() as connection:
        rows = connection.execute(
            select(sessions.c.person, skips.c.trial, skips.c.comment)
            .join_from(skips, sessions, sessions.c.session == skips.c.session)
            .join(persons, persons.c.person == sessions.c.person)
            .where((skips.c.comment != "") & ~persons.c.excluded)
        ).all()
    database.engine.dispose()
    return {(row.person, row.trial): row.comment for row in rows}
