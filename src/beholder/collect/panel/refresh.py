"""Bring a panel up to date with the studies that it serves: export their answers, add them, compute standings.

python -m beholder.collect.panel.refresh FOLDER

Runs in a process of its own, so that the server needs neither tables nor statistics.
"""

import os
import sys
import time
from pathlib import Path

from sqlalchemy import select

from beholder.collect.database.address import DATABASE
from beholder.collect.database.schema import Database
from beholder.collect.database.unavailable import usable_database
from beholder.collect.exchange.export import export
from beholder.collect.panel.raters import write_trust
from beholder.collect.panel.schema import open_panel, studies
from beholder.collect.panel.standings import write_skills, write_standings
from beholder.collect.panel.studies import add_study
from beholder.collect.panel.study_database import has_database, study_url
from beholder.errors import UserError
from beholder.study.study import load_study
from beholder.tables.store import Store


def refresh(database: Database, *, now: float) -> list[str]:
    """Export, add and compute; return the studies that have sessions.

    Args:
        database: Of the panel.
        now: The time.

    Returns:
        Their names.
    """
    with database.reading() as connection:
        rows = connection.execute(select(studies).order_by(studies.c.added)).all()
    done = []
    for row in rows:
        folder = Path(row.folder)
        address = study_url(database.url, row.study, folder)
        served = row.opened is not None and has_database(database.url, row.study, folder)
        if served:
            export(folder, address)
        store = Store(folder)
        if not folder.is_dir() or not store.has("sessions") or not store.read("sessions").height:
            continue
        with database.writing() as connection:
            add_study(
                connection,
                folder,
                researcher=row.researcher,
                study_url=address if served and not database.is_sqlite else None,
                logged=False,
                now=now,
            )
            write_standings(connection, load_study(folder), store, now=now)
        done.append(row.study)
    with database.writing() as connection:
        write_skills(connection, now=now)
        write_trust(connection, now=now)
    return done


def main() -> int:
    """Run the command of this module."""
    try:
        with usable_database():
            database = open_panel(Path(sys.argv[1]), os.environ[DATABASE])
            done = refresh(database, now=time.time())
            database.engine.dispose()
    except UserError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    sys.stdout.write(f"written: answers of {', '.join(done) or 'no study'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
