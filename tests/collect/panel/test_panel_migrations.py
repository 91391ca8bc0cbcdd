"""A panel of the version before opens with nothing lost, and the scripts make what the program expects."""

import sqlite3
from contextlib import closing
from pathlib import Path

from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine, select
from sqlalchemy.pool import NullPool
from tests.collect.panel.conftest import fill

from beholder.collect.database.migrations.upgrade import configuration
from beholder.collect.panel.schema import MIGRATIONS, REVISIONS, metadata, open_panel, studies, work

ADDED = {
    "studies": ("opened", "closed", "purpose", "results", "results_link", "published"),
    "work": ("excluded",),
    "proposals": ("outcome",),
}
NEW_TABLES = (
    *("links", "rater_logins", "interests", "standings", "points", "trust"),
    *("secrets", "researchers", "logins", "events"),
)


def turn_back(path: Path) -> None:
    """Turn a panel into one of the first version."""
    with closing(sqlite3.connect(path)) as connection, connection:
        for name in NEW_TABLES:
            connection.execute(f"drop table {name}")
        for table, columns in ADDED.items():
            for column in columns:
                connection.execute(f"alter table {table} drop column {column}")
        connection.execute("update alembic_version set version_num = '1'")


def test_a_panel_of_the_first_version_opens_with_nothing_lost(tmp_path: Path) -> None:
    panel = open_panel(tmp_path, create=True)
    with panel.writing() as connection:
        fill(connection, 3)
    panel.engine.dispose()
    turn_back(tmp_path / "panel.sqlite")
    again = open_panel(tmp_path)
    with again.reading() as connection:
        assert len(connection.execute(select(work)).all()) == 3
        (study,) = connection.execute(select(studies)).all()
    again.engine.dispose()
    assert (study.title, study.opened, study.purpose) == ("Faces", None, "")
    assert len(list(tmp_path.glob("panel.sqlite.before-3-*"))) == 1
    engine = create_engine(f"sqlite:///{tmp_path / 'panel.sqlite'}", poolclass=NullPool)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        differences = [
            change for change in compare_metadata(context, metadata) if "alembic_version" not in str(change)
        ]
    assert differences == []


def test_every_script_is_a_version() -> None:
    scripts = ScriptDirectory.from_config(configuration(package=MIGRATIONS))
    assert tuple(script.revision for script in scripts.walk_revisions())[::-1] == REVISIONS
