"""What options of several commands mean."""

from pathlib import Path


def database_url(folder: Path, wanted: str | None) -> str:
    """The database of a study: SQLite in its folder, or PostgreSQL by an address as people write it."""
    if wanted is None:
        from beholder.collect.database import default_url

        return default_url(folder)
    for plain in ("postgresql://", "postgres://"):
        if wanted.startswith(plain):
            return "postgresql+psycopg://" + wanted.removeprefix(plain)
    return wanted
