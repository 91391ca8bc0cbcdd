"""More places for a question: trials drawn anew by the design stage and put after those that there are.

python -m beholder.collect.researcher.extend FOLDER QUESTION PLACES REASON ACCOUNT

Nothing that was drawn is touched, and ``study.toml`` stays as it is, so that the design counts as unchanged. The
file of the trials says under ``beholder-extensions`` what was added and by which seed.
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

from beholder.collect.database.clock import clock_in
from beholder.collect.database.schema import DATABASE, Database, control
from beholder.collect.database.unavailable import usable_database
from beholder.collect.exchange.load import LOADED, append
from beholder.collect.researcher.actions import note
from beholder.collect.researcher.child_processes import failed
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
    """What was added to a question."""

    question: str
    first_slot: int
    slots: int
    trials: int
    seed: int


def extend(folder: Path, url: str, name: str, places: int, *, reason: str, who: str) -> Extension:
    """Draw trials for so many more people and add them to the table and the database."""
    study, store = load_study(folder), Store(folder)
    if name not in {question.name for question in study.questions}:
        raise StageError(f"{folder} has no question '{name}'")
    before = store.hash("trials")
    known = store.read("trials")
    first = _next_slot(known, name)
    seed = _seed(study.seed, name, first)
    drawn = _draw(store, study, name, places, seed)
    added = _renumbered(drawn, name, first)
    extension = Extension(name, first, places, added.height, seed)
    database = Database(url)
    with database.writing() as connection:
        loaded = connection.scalar(select(control.c.value).where(control.c.name == LOADED).with_for_update())
        if loaded != f"{store.hash('images')} {before}" or store.hash("trials") != before:
            raise StageError("the trials changed meanwhile; try again")
        _write(store, pl.concat([known, added]), extension)
        if not append(connection, store):
            raise StageError("the trials of the database are not those of the table; nothing was added to it")
        note(connection, "extend", reason, now=clock_in(connection).now(), who=who, **asdict(extension))
    database.engine.dispose()
    return extension


def _next_slot(known: pl.DataFrame, name: str) -> int:
    last = known.filter(pl.col("question") == name)["slot"].max()
    return int(last) + 1 if isinstance(last, int) else 0


def _seed(seed: int, name: str, first: int) -> int:
    """A seed that depends on the study's and on what is there already, so that the same deed draws the same."""
    return int.from_bytes(hashlib.sha256(f"{seed} {name} {first}".encode()).digest()[:6], "big")


def _draw(store: Store, study: Study, name: str, places: int, seed: int) -> pl.DataFrame:
    """The trials of a study that has this question alone, for so many people."""
    question = study.question(name)
    try:
        design = Design.model_validate(question.design.model_dump() | {"raters": places})
    except ValidationError as error:
        raise StudyError(f"{places} more people for '{name}'", faults_of(error, Design)) from error
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
    """The same trials as slots from ``first`` on; names as the design stage gives them."""
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


def _write(store: Store, whole: pl.DataFrame, extension: Extension) -> None:
    """Replace the table at once; the record of the design stage stays, and what was added is noted beside it."""
    table = TABLES["trials"]
    targets = {name: store.read(name) for name in ("images", "prompts")}
    faults = faults_in(whole, table) + reference_faults(whole, table, targets)
    if faults:
        raise TableError(f"{store.path('trials')}: nothing was written", faults)
    kept = pl.read_parquet_metadata(store.path("trials"))
    added = [*json.loads(kept.get(EXTENSIONS_KEY, "[]")), asdict(extension)]
    metadata = {METADATA_KEY: kept[METADATA_KEY], EXTENSIONS_KEY: json.dumps(added)}
    with write_atomically(store.path("trials")) as file:
        whole.write_parquet(file, compression="zstd", metadata=metadata)


def main() -> int:
    """The command of this module."""
    folder, name, places, reason, who = sys.argv[1:]
    url = os.environ[DATABASE]
    try:
        with usable_database(), room_on_disk(Path(folder)):
            added = extend(Path(folder), url, name, int(places), reason=reason, who=who)
    except UserError as error:
        return failed(error)
    json.dump(asdict(added), sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
