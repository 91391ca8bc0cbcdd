"""From the tables of the study to the server's database: run before the server starts, in a process of its own.

python -m beholder.collect.exchange.load FOLDER URL
"""

import os
import secrets as randomness
import sys
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, func, insert, select

from beholder.collect.database.schema import (
    DATABASE,
    Database,
    comments,
    control,
    pictures,
    questions,
    replacements,
    responses,
    secrets,
    sessions,
    skips,
    slots,
    trials,
)
from beholder.collect.database.unavailable import usable_database
from beholder.collect.simulate.rehearsal_rows import end_rehearsal
from beholder.errors import StageError, UserError
from beholder.study.study import Study, load_study
from beholder.tables.store import Store

LOADED = "loaded"
SECRETS = ("person", "token", "researcher")


def load(folder: Path, url: str) -> str:
    """Fill the database, or find it filled from the same trials; trials that were answered are never replaced.

    Returns what was done to a database of an earlier version.
    """
    study, store = load_study(folder), Store(folder)
    database = Database(url)
    try:
        migrated = database.create()
        with database.writing() as connection:
            _keep_secrets(connection)
            _keep_questions(connection, study)
            _keep_trials(connection, store)
        return migrated
    finally:
        database.engine.dispose()


def _keep_questions(connection: Connection, study: Study) -> None:
    for ordinal, question in enumerate(study.questions):
        settings = question.model_dump(mode="json")
        known = connection.execute(
            questions.update().where(questions.c.question == question.name).values(settings=settings)
        )
        if known.rowcount == 0:
            connection.execute(
                insert(questions).values(question=question.name, ordinal=ordinal, settings=settings)
            )


def _keep_trials(connection: Connection, store: Store) -> None:
    """Take in what was drawn, unless it is there; what people have answered may only be added to."""
    before = connection.scalar(select(control.c.value).where(control.c.name == LOADED))
    if before == f"{store.hash('images')} {store.hash('trials')}":
        return
    end_rehearsal(connection)
    if connection.scalar(select(func.count()).select_from(responses)):
        if before is None or before.split()[0] != store.hash("images") or not append(connection, store):
            raise StageError(
                f"{store.folder}: the trials or images changed after people had answered them. "
                "Undo the change, or make a new study."
            )
        return
    _fill(connection, store)
    _note_loaded(connection, store)


def append(connection: Connection, store: Store) -> bool:
    """Take in trials that were added; false, and nothing done, where one that is known has changed or is gone."""
    rows = {str(row["trial"]): row for row in _trial_rows(store)}
    known = {row.trial: dict(row._mapping) for row in connection.execute(select(trials))}
    if any(rows.get(name) != row for name, row in known.items()):
        return False
    added = [row for name, row in rows.items() if name not in known]
    if added:
        _insert_trials(connection, added)
    _note_loaded(connection, store)
    return True


def _keep_secrets(connection: Connection) -> None:
    known = set(connection.scalars(select(secrets.c.name)))
    for name in SECRETS:
        if name not in known:
            connection.execute(insert(secrets).values(name=name, value=randomness.token_urlsafe(32)))


def _fill(connection: Connection, store: Store) -> None:
    for table in (
        replacements,
        skips,
        comments,
        sessions,
        slots,
        trials,
        pictures,
    ):  # who came in has answered nothing yet
        connection.execute(table.delete())
    columns = ["image", "path", "sha256", "width", "height", "generator", "real", "gold"]
    connection.execute(insert(pictures), store.read("images").select(columns).to_dicts())
    _insert_trials(connection, _trial_rows(store))


def _trial_rows(store: Store) -> list[dict[str, Any]]:
    """The trials as the database holds them: with the text of the prompt."""
    text_of = dict(store.read("prompts").select("prompt", "text").iter_rows())
    columns = ["trial", "question", "slot", "position", "block", "role", "images", "prompt", "expected", "repeats"]
    rows = store.read("trials").select(columns).to_dicts()
    for row in rows:
        row["prompt"] = text_of.get(row["prompt"])
    return rows


def _insert_trials(connection: Connection, rows: list[dict[str, Any]]) -> None:
    """Trials, and the places that they make up."""
    connection.execute(insert(trials), rows)
    places = sorted({(row["question"], row["slot"]) for row in rows})
    connection.execute(
        insert(slots),
        [{"question": name, "slot": slot, "lease_until": 0.0, "done": False} for name, slot in places],
    )


def _note_loaded(connection: Connection, store: Store) -> None:
    connection.execute(control.delete().where(control.c.name == LOADED))
    value = f"{store.hash('images')} {store.hash('trials')}"
    connection.execute(insert(control).values(name=LOADED, value=value))


def main() -> int:
    """The command of this module."""
    folder, url = sys.argv[1], os.environ[DATABASE]
    try:
        with usable_database():
            sys.stdout.write(load(Path(folder), url))
    except UserError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
