"""Slots that were added to a question: their trials, drawn by the design stage, and how the table gets them.

Which trials they have follows from the study, the number of the first slot and a seed that is logged, so that
every host of the study can draw them for its own copy of the table.
"""

import json
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl
from pydantic import ValidationError

from beholder.collect.exchange.stage_run import run_stage, write_study
from beholder.errors import StudyError, TableError
from beholder.study.faults import faults_of
from beholder.study.question import Design
from beholder.study.study import Study
from beholder.tables.atomic import write_atomically
from beholder.tables.catalogue import TABLES
from beholder.tables.check import faults_in, reference_faults
from beholder.tables.provenance import METADATA_KEY
from beholder.tables.store import Store

EXTENSIONS_KEY = "beholder-extensions"
"""Under which the file of the trials records what was added to those that the design drew."""


@dataclass(frozen=True, slots=True)
class Extension:
    """The slots and trials that were added to a question."""

    question: str
    first_slot: int
    slots: int
    trials: int
    seed: int


def draw_slots(store: Store, study: Study, name: str, first: int, count: int, seed: int) -> pl.DataFrame:
    """Draw the trials of more slots.

    Args:
        store: The tables of the study: its images and prompts.
        study: Its settings.
        name: The question.
        first: The number of the first new slot.
        count: How many slots.
        seed: The same draws the same trials.

    Returns:
        Rows of the table of trials, named as the design stage names them.

    Raises:
        StudyError: Where the design cannot draw so few or so many.
    """
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
        return _renumbered(copy.read("trials"), name, first)


def append_slots(store: Store, trials: pl.DataFrame, extension: Extension) -> None:
    """Replace the table of trials by one with these trials at its end, atomically.

    It keeps the record of the design stage, with the extension beside it.

    Raises:
        TableError: Where the trials do not fit the table; nothing is written then.
    """
    table = TABLES["trials"]
    extended = pl.concat([store.read("trials"), trials])
    targets = {name: store.read(name) for name in ("images", "prompts")}
    faults = faults_in(extended, table) + reference_faults(extended, table, targets)
    if faults:
        raise TableError(f"{store.path('trials')}: nothing was written", faults)
    existing = pl.read_parquet_metadata(store.path("trials"))
    added = [*json.loads(existing.get(EXTENSIONS_KEY, "[]")), asdict(extension)]
    metadata = {METADATA_KEY: existing[METADATA_KEY], EXTENSIONS_KEY: json.dumps(added)}
    with write_atomically(store.path("trials")) as file:
        extended.write_parquet(file, compression="zstd", metadata=metadata)


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
