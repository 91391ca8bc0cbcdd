"""More slots for a question: trials drawn by the design stage and appended to the existing ones.

python -m beholder.collect.researcher.extend FOLDER QUESTION SLOTS REASON ACCOUNT

Existing trials are not touched, and ``study.toml`` stays as it is, so that the design counts as unchanged. The
file of the trials records under ``beholder-extensions`` what was added and by which seed.
"""

import hashlib
import json
import os
import sys
from dataclasses import asdict
from pathlib import Path

import polars as pl
from sqlalchemy import Connection, select

from beholder.collect.database.address import DATABASE
from beholder.collect.database.clock import clock_in
from beholder.collect.database.schema import LOADED, REHEARSAL, Database, control
from beholder.collect.database.schema import trials as served_trials
from beholder.collect.database.unavailable import usable_database
from beholder.collect.exchange.added_slots import Extension, append_slots, draw_slots
from beholder.collect.exchange.load import append_trials
from beholder.collect.exchange.slots_of_hosts import take_over_slots
from beholder.collect.researcher.actions import EXTEND, log_action
from beholder.collect.researcher.child_processes import report_failure
from beholder.errors import StageError, UserError
from beholder.study.study import load_study
from beholder.tables.room import room_on_disk
from beholder.tables.store import Store


def extend(folder: Path, url: str, name: str, count: int, *, reason: str, who: str) -> Extension:
    """Draw trials for ``count`` more slots, and add them to the table and the database.

    Slots that other hosts added before are taken over first, so that these come after them.
    """
    study, store = load_study(folder), Store(folder)
    if name not in {question.name for question in study.questions}:
        raise StageError(f"{folder} has no question '{name}'")
    _refuse_rehearsal(url)
    database = Database(url)
    take_over_slots(study, store, database)
    before = store.hash("trials")
    trials = store.read("trials")
    first = _next_slot(trials, name)
    seed = _seed(study.seed, name, first)
    added = draw_slots(store, study, name, first, count, seed)
    extension = Extension(name, first, count, added.height, seed)
    with database.writing() as connection:
        if not _is_loaded(connection, store, trials) or store.hash("trials") != before:
            raise StageError("the trials changed in the meantime; try again")
        append_slots(store, added, extension)
        if not append_trials(connection, store):
            raise StageError("the trials of the database are not those of the table; nothing was added to it")
        log_action(connection, EXTEND, reason, now=clock_in(connection).now(), who=who, **asdict(extension))
    database.engine.dispose()
    return extension


def _is_loaded(connection: Connection, store: Store, trials: pl.DataFrame) -> bool:
    """Whether the database has these images and trials and no others; others who add slots wait from now on."""
    loaded = connection.scalar(select(control.c.value).where(control.c.name == LOADED).with_for_update())
    if loaded is None or loaded.split()[0] != store.hash("images"):
        return False
    return set(connection.scalars(select(served_trials.c.trial))) == set(trials["trial"])


def _refuse_rehearsal(url: str) -> None:
    database = Database(url)
    with database.reading() as connection:
        is_rehearsal = connection.scalar(select(control.c.value).where(control.c.name == REHEARSAL)) is not None
    database.engine.dispose()
    if is_rehearsal:
        raise StageError("this is a rehearsal: slots are added on the page of the study itself")


def _next_slot(trials: pl.DataFrame, name: str) -> int:
    last = trials.filter(pl.col("question") == name)["slot"].max()
    return int(last) + 1 if isinstance(last, int) else 0


def _seed(seed: int, name: str, first: int) -> int:
    """Derive a seed from the study's and the first new slot, so that the same extension draws the same trials."""
    return int.from_bytes(hashlib.sha256(f"{seed} {name} {first}".encode()).digest()[:6], "big")


def main() -> int:
    """Run the command of this module."""
    folder, name, count, reason, who = sys.argv[1:]
    url = os.environ[DATABASE]
    try:
        with usable_database(), room_on_disk(Path(folder)):
            added = extend(Path(folder), url, name, int(count), reason=reason, who=who)
    except UserError as error:
        return report_failure(error)
    json.dump(asdict(added), sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
