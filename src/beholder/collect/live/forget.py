"""Deletion of what authors wrote and of the images that were made for them."""

from collections.abc import Iterable
from pathlib import Path

from sqlalchemy import delete, select

from beholder.collect.live.schema import FILE_NAME, attempts, consents, open_live


def forget_authors(folder: Path, authors: Iterable[str]) -> int:
    """Delete prompts, results and consents of these authors, and images nobody else has; return how many."""
    names = list(authors)
    if not names or not (folder / FILE_NAME).is_file():
        return 0
    database = open_live(folder)
    with database.writing() as connection:
        own = attempts.c.author.in_(names)
        paths = {path for path in connection.scalars(select(attempts.c.path).where(own)) if path}
        count = connection.execute(delete(attempts).where(own)).rowcount
        connection.execute(delete(consents).where(consents.c.author.in_(names)))
        paths -= {path for path in connection.scalars(select(attempts.c.path)) if path}
    database.engine.dispose()
    for path in paths:
        (folder / path).unlink(missing_ok=True)
    return count
