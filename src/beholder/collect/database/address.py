"""Where the database of a study is, without importing what opens it."""

from pathlib import Path

FILE_NAME = "collect.sqlite"
DATABASE = "BEHOLDER_DATABASE"
"""Environment variable that holds the URL of the database, for processes of the server."""


def default_url(folder: Path) -> str:
    """Return the URL of the SQLite database in a study folder."""
    return f"sqlite:///{(folder / FILE_NAME).resolve()}"
