"""Where the database of a panel's study is: SQLite in its folder, or a schema in the panel's PostgreSQL."""

import hashlib
import re
from pathlib import Path

from sqlalchemy import create_engine, make_url, text
from sqlalchemy.pool import NullPool

from beholder.collect.database.address import FILE_NAME, default_url
from beholder.errors import StageError

LONGEST = 40
"""Letters of a study's name in the name of its schema."""

OPTIONS = "options"


def study_url(panel: str | None, study: str, folder: Path) -> str:
    """Return the URL of the database of a study that a panel serves.

    Args:
        panel: URL of the panel's database, where that is PostgreSQL.
        study: Its name.
        folder: Of the study.

    Returns:
        A URL whose tables are those of the study alone.
    """
    if panel is None or panel.startswith("sqlite"):
        return default_url(folder)
    address = make_url(panel)
    path = f"-csearch_path={schema_of(study)}"
    before = address.query.get(OPTIONS, "")
    options = f"{before if isinstance(before, str) else ' '.join(before)} {path}".strip()
    return address.update_query_dict({OPTIONS: options}).render_as_string(hide_password=False)


def schema_of(study: str) -> str:
    """Return the name of the schema of a study: readable, and no other study's.

    Example:
        >>> schema_of("faces-2")
        'study_faces_2_074ef1de'
    """
    readable = re.sub(r"[^a-z0-9]+", "_", study.lower())[:LONGEST].strip("_")
    return f"study_{readable}_{hashlib.sha256(study.encode()).hexdigest()[:8]}"


def make_schema(panel: str | None, study: str, folder: Path) -> None:
    """Make the schema of a study, unless it is there; a study that has answers in its folder is refused.

    Args:
        panel: URL of the panel's database, where that is PostgreSQL.
        study: Its name.
        folder: Of the study.
    """
    if panel is None or panel.startswith("sqlite"):
        return
    if (folder / FILE_NAME).is_file():
        raise StageError(
            f"{folder} has its answers in {FILE_NAME}, and this panel keeps those of its studies in PostgreSQL. "
            "Serve it alone (beholder collect) and add it afterwards (beholder panel add), or move the file away "
            "if nobody has answered yet"
        )
    engine = create_engine(panel, poolclass=NullPool)
    with engine.begin() as connection:
        connection.execute(text(f"create schema if not exists {schema_of(study)}"))


def has_database(panel: str, study: str, folder: Path) -> bool:
    """Whether the database of a study was filled.

    Args:
        panel: URL of the panel's database.
        study: Its name.
        folder: Of the study.

    Returns:
        For SQLite, whether the file exists.
    """
    if panel.startswith("sqlite"):
        return (folder / FILE_NAME).is_file()
    engine = create_engine(panel, poolclass=NullPool)
    with engine.connect() as connection:
        place = f"{schema_of(study)}.alembic_version"
        return connection.scalar(text("select to_regclass(:place)"), {"place": place}) is not None
