"""More slots for a question: trials drawn by the design stage and appended to the existing ones.

python -m beholder.collect.researcher.extend FOLDER QUESTION SLOTS REASON ACCOUNT

Existing trials are not touched, and ``study.toml`` stays as it is, so that the design counts as unchanged. The
file of the trials records under ``beholder-extensions`` what was added and by which seed.
"""

import hashlib
import json
import os
import shutil
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl
from pydantic import ValidationError
from sqlalchemy import select

from beholder.collect.database.address import DATABASE
from beholder.collect.database.clock import clock_in
from beholder.collect.database.schema import REHEARSAL, Database, control
from beholder.collect.database.unavailable import usable_database
from beholder.collect.exchange.load import LOADED, append_trials
from beholder.collect.researcher.actions import log_action
from beholder.collect.researcher.child_processes import report_failure
from beholder.collect.researcher.snapshot import run_stage, write_study
from beholder.errors import StageError, StudyError, TableError, UserError
from beholder.study.faults import faults_of
from beholder.study.question import Design
from beholder.study.study import Study, load_study
from beholder.tables.atomic import write_atomically
from beholder.tables.catalogue import TABLES
from beholder.tables.check import faults_in, reference_faults
from beholder.tables.provenance import METADATA_KEY
from beholder.tables.room import room_on_disk
from beholder.tables.store import Store

EXTENSIONS_KEY = "beholder-extensions"


@dataclass(frozen=True, slots=True)
class Extension:
    """The slots and trials that were added to a question."""

    question: str
    first_slot: int
    slots: int
    trials: int
    seed: int


def extend(folder: Path, url: str, name: str, count: int, *, reason: str, who: str) -> Extension:
    """Draw trials for ``count`` more slots, and add them to the table and the database."""
    study, store = load_study(folder), Store(folder)
    if name not in {question.name for question in study.questions}:
        raise StageError(f"{folder} has no question '{name}'")
    _refuse_rehearsal(url)
    before = store.hash("trials")
    trials = store.read("trials")
    first = _next_slot(trials, name)
    seed = _seed(study.seed, name, first)
    drawn = _draw(store, study, name, count, seed)
    added = _renumbered(drawn, name, first)
    extension = Extension(name, first, count, added.height, seed)
    database = Database(url)
    with database.writing() as connection:
        loaded = connection.scalar(select(control.c.value).where(control.c.name == LOADED).with_for_update())
        if loaded != f"{store.hash('images')} {before}" or store.hash("trials") != before:
            raise StageError("the trials changed in the meantime; try again")
        _write(store, pl.concat([trials, added]), extension)
        if not append_trials(connection, store):
            raise StageError("the trials of the database are not those of the table; nothing was added to it")
        log_action(connection, "extend", reason, now=clock_in(connection).now(), who=who, **asdict(extension))
    database.engine.dispose()
    return extension


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


def _draw(store: Store, study: Study, name: str, count: int, seed: int) -> pl.DataFrame:
    """Draw the trials of a study that has only this question and ``count`` slots."""
    question = study.question(name)
    try:
        design = Design.model_validate(question.design.model_dump() | {"raters": count})
    except ValidationError as error:
        raise StudyError(f"{count} more slots for '{name}'", faults_of(error, Design)) from error
    smaller = question.model_copy(update={"design": design})
    with TemporaryDirectory(prefix="beholder-extend-") as temporary:
        copy = Store(Path(temporary))
        write_study(copy.folder, study.model_copy(update={"questions": (smaller,), "seed": seed}))
        copy.path("images").parent.mkdir()
        for table in ("images", "prompts"):
            shutil.copyfile(store.path(table), copy.path(table))
        run_stage("design", copy.folder)
        return copy.read("trials")


def _renumbered(drawn: pl.DataFrame, name: str, first: int) -> pl.DataFrame:
    """Renumber the slots from ``first`` on, and name the trials as the design stage does."""
    slot = pl.col("slot") + first
    renamed = drawn.with_columns(
        slot=slot,
        new=pl.concat_str(
            pl.lit(f"{name}-"),
            slot.cast(pl.String).str.zfill(4),
            pl.lit("-"),
            pl.col("position").cast(pl.String).str.zfill(4),
        ),
    )
    names = dict(renamed.select("trial", "new").iter_rows())
    return renamed.with_columns(trial=pl.col("new"), repeats=pl.col("repeats").replace(names)).drop("new")


def _write(store: Store, trials: pl.DataFrame, extension: Extension) -> None:
    """Replace the table atomically; it keeps the record of the design stage, with the extension beside it."""
    table = TABLES["trials"]
    targets = {name: store.read(name) for name in ("images", "prompts")}
    faults = faults_in(trials, table) + reference_faults(trials, table, targets)
    if faults:
        raise TableError(f"{store.path('trials')}: nothing was written", faults)
    existing = pl.read_parquet_metadata(store.path("trials"))
    added = [*json.loads(existing.get(EXTENSIONS_KEY, "[]")), asdict(extension)]
    metadata = {METADATA_KEY: existing[METADATA_KEY], EXTENSIONS_KEY: json.dumps(added)}
    with write_atomically(store.path("trials")) as file:
        trials.write_parquet(file, compression="zstd", metadata=metadata)


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
