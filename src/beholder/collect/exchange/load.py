"""Load the tables of the study into the server's database; runs in a separate process before the server starts.

python -m beholder.collect.exchange.load FOLDER URL
"""

import os
import secrets as randomness
import sys
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, func, insert, select

from beholder.collect.database.address import DATABASE
from beholder.collect.database.schema import (
    LOADED,
    Database,
    comments,
    control,
    gold_paces,
    job_surveys,
    pictures,
    prototype_feedback,
    questions,
    replacements,
    responses,
    secrets,
    sessions,
    skips,
    slots,
    thinned,
    trials,
)
from beholder.collect.database.unavailable import usable_database
from beholder.collect.exchange.slots_of_hosts import take_over_slots
from beholder.collect.exchange.trial_rows import trial_rows
from beholder.errors import StageError, UserError
from beholder.study.study import Study, load_study
from beholder.tables.store import Store

SECRETS = ("person", "token", "researcher")


def load(folder: Path, url: str) -> str:
    """Fill the database, unless it holds the same trials already; answered trials are never replaced.

    Slots that other hosts added are taken over into the table first, unless the trials were drawn again.

    Returns what was migrated, if the database was of an earlier version.
    """
    study, store = load_study(folder), Store(folder)
    database = Database(url)
    try:
        migrated = database.create()
        if _is_served(database, store):
            take_over_slots(study, store, database)
        with database.writing() as connection:
            _create_secrets(connection)
            _store_questions(connection, study)
            _store_trials(connection, store)
        return migrated
    finally:
        database.engine.dispose()


def _is_served(database: Database, store: Store) -> bool:
    """Whether the trials of the table are those of the database, or cannot be replaced by others any more."""
    with database.reading() as connection:
        if connection.scalar(select(responses.c.trial).limit(1)) is not None:
            return True
        loaded = {row.trial: dict(row._mapping) for row in connection.execute(select(trials))}
    return bool(loaded) and all(loaded.get(str(row["trial"])) == row for row in _trial_rows(store))


def _store_questions(connection: Connection, study: Study) -> None:
    for ordinal, question in enumerate(study.questions):
        settings = question.model_dump(mode="json")
        updated = connection.execute(
            questions.update().where(questions.c.question == question.name).values(settings=settings)
        )
        if updated.rowcount == 0:
            connection.execute(
                insert(questions).values(question=question.name, ordinal=ordinal, settings=settings)
            )


def _store_trials(connection: Connection, store: Store) -> None:
    """Store the drawn trials unless they are loaded; after the first answer, trials can only be added."""
    before = connection.scalar(select(control.c.value).where(control.c.name == LOADED))
    if before == f"{store.hash('images')} {store.hash('trials')}":
        return
    if connection.scalar(select(func.count()).select_from(responses)):
        if before is None or before.split()[0] != store.hash("images") or not append_trials(connection, store):
            raise StageError(
                f"{store.folder}: the trials or images changed after raters had answered them. "
                "Undo the change, or make a new study."
            )
        return
    _fill(connection, store)
    _note_loaded(connection, store)


def append_trials(connection: Connection, store: Store) -> bool:
    """Add new trials; false, with nothing done, if an existing trial has changed or is missing."""
    rows = {str(row["trial"]): row for row in _trial_rows(store)}
    loaded = {row.trial: dict(row._mapping) for row in connection.execute(select(trials))}
    if any(rows.get(name) != row for name, row in loaded.items()):
        return False
    added = [row for name, row in rows.items() if name not in loaded]
    if added:
        _insert_trials(connection, added)
    _note_loaded(connection, store)
    return True


def _create_secrets(connection: Connection) -> None:
    existing = set(connection.scalars(select(secrets.c.name)))
    for name in SECRETS:
        if name not in existing:
            connection.execute(insert(secrets).values(name=name, value=randomness.token_urlsafe(32)))


def _fill(connection: Connection, store: Store) -> None:
    for table in (
        gold_paces,
        thinned,
        replacements,
        skips,
        comments,
        prototype_feedback,
        job_surveys,
        sessions,
        slots,
        trials,
        pictures,
    ):  # nobody has answered anything yet
        connection.execute(table.delete())
    columns = ["image", "path", "sha256", "width", "height", "generator", "real", "gold"]
    connection.execute(insert(pictures), store.read("images").select(columns).to_dicts())
    _insert_trials(connection, _trial_rows(store))


def _trial_rows(store: Store) -> list[dict[str, Any]]:
    return trial_rows(store.read("trials"), store.read("prompts"))


def _insert_trials(connection: Connection, rows: list[dict[str, Any]]) -> None:
    """Insert trials and the slots that they form."""
    connection.execute(insert(trials), rows)
    slot_keys = sorted({(row["question"], row["slot"]) for row in rows})
    connection.execute(
        insert(slots),
        [{"question": name, "slot": slot, "lease_until": 0.0, "done": False} for name, slot in slot_keys],
    )


def _note_loaded(connection: Connection, store: Store) -> None:
    connection.execute(control.delete().where(control.c.name == LOADED))
    value = f"{store.hash('images')} {store.hash('trials')}"
    connection.execute(insert(control).values(name=LOADED, value=value))


def main() -> int:
    """Run the command of this module."""
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
