"""The first difference between a lock and a study: a setting, generator, scorer or model, or a row of a table."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from beholder.api.benchmark.lock import (
    IDENTITY,
    gather_models,
    generator_identities,
    locked_settings,
    prompt_sets,
    scorer_identities,
)
from beholder.curate.settings import FILE_NAME as CURATE_FILE
from beholder.curate.settings import load_curation
from beholder.study.lock import LockedTable, StudyLock
from beholder.study.study import FILE_NAME, load_study
from beholder.tables.catalogue import TABLES
from beholder.tables.content import TableContent, first_marked_difference, hash_content
from beholder.tables.stages import STAGES
from beholder.tables.store import Store

SUMMARIES = ("prompt_sets", "prompt_overlaps")
"""Tables that are compared last: another table of their stage names the row that made them differ."""
MISSING = "(missing)"
LONGEST = 200
"""Characters of a setting that are quoted."""
UNKNOWN = "another"
"""What stands for a locked value of which only the hash is left."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Where a study differs from its lock."""

    place: str
    """A setting, or a row and column of a table."""
    locked: str
    """What the lock has; *another* where only its hash is left."""
    current: str
    """What there is instead."""

    def __str__(self) -> str:
        return f"{self.place}: {self.current}; the lock has {self.locked}"


def setting_difference(lock: StudyLock, folder: Path) -> Difference | None:
    """Compare the settings of the study and of its curation."""
    study = locked_settings(load_study(folder))
    curation = load_curation(folder).model_dump(mode="json") if (folder / CURATE_FILE).is_file() else None
    for file, locked, current in ((FILE_NAME, lock.study, study), (CURATE_FILE, lock.curation, curation)):
        for key, before, now in _differing(locked, current):
            return Difference(f"{file}, {key or 'the file'}", before, now)
    return None


def stage_difference(lock: StudyLock, stage: str, folder: Path, original: Path | None = None) -> Difference | None:
    """Compare what a stage wrote into a folder: first who made it, then every row.

    Args:
        lock: what is expected.
        stage: whose tables are compared.
        folder: the study that is compared with the lock.
        original: the folder that was locked, where it still is as it was: locked values are read from it.
    """
    store = Store(folder)
    if stage == "generate" and store.has("generations"):
        difference = _generator_difference(lock, store)
        if difference:
            return difference
    if stage == "measure" and lock.measure is not None:
        for name, before, now in _differing(lock.measure.scorers, scorer_identities(store)):
            return Difference(f"scorer '{name}', identity", before, now)
    for name in sorted(STAGES[stage].outputs, key=SUMMARIES.__contains__):
        if name in lock.tables:
            difference = table_difference(lock.tables[name], name, folder, original)
            if difference:
                return difference
    if stage == "learn":
        return _model_difference(lock, folder)
    if stage == "curate":
        return _set_difference(lock, store)
    return None


def table_difference(
    locked: LockedTable, name: str, folder: Path, original: Path | None = None
) -> Difference | None:
    """Compare a table with its lock, and name the first row and column that differ."""
    store, table = Store(folder), TABLES[name]
    if not store.has(name):
        return Difference(f"table '{name}'", f"{locked.rows:,} rows", MISSING)
    frame = store.read(name)
    content, expected = hash_content(frame, table), TableContent(**locked.model_dump())
    if content.sha256 == expected.sha256:
        return None
    row = first_marked_difference(expected, content)
    columns = [column for column, _, _ in _differing(expected.columns, content.columns)]
    before = _original_rows(name, locked, original)
    if row is None:  # the marks are short: two rows in 65,536 share one
        return Difference(f"table '{name}', {_listed(columns)}", UNKNOWN, "other values")
    if row >= content.rows:
        return Difference(f"table '{name}', row {row + 1:,}", f"{locked.rows:,} rows", f"{content.rows:,} rows")
    current = frame.row(row, named=True)
    where = f"table '{name}', row {row + 1:,} of {content.rows:,} ({_key(current, table.key)})"
    if locked.rows_per_mark > 1:
        where += f" or the {locked.rows_per_mark - 1:,} after it"
    if row >= locked.rows:
        return Difference(where, f"{locked.rows:,} rows", f"{content.rows:,} rows")
    if before is None:
        return Difference(f"{where}, {_listed(columns)}", UNKNOWN, _cells(current, columns))
    earlier = before.row(row, named=True)
    columns = [column for column in current if earlier[column] != current[column]]
    return Difference(f"{where}, {_listed(columns)}", _cells(earlier, columns), _cells(current, columns))


def _original_rows(name: str, locked: LockedTable, original: Path | None) -> pl.DataFrame | None:
    """Return the table as it was locked, where the original folder still has it."""
    if original is None or not Store(original).has(name):
        return None
    frame = Store(original).read(name)
    return frame if hash_content(frame, TABLES[name]).sha256 == locked.sha256 else None


def _generator_difference(lock: StudyLock, store: Store) -> Difference | None:
    """Compare what every generator says of itself: its name, weights and settings."""
    current = generator_identities(store)
    for name, before in lock.generators.items():
        if all(getattr(before, field) is None for field in IDENTITY):  # its images came with a folder
            continue
        if name not in current:
            return Difference(f"generator '{name}'", f"{before.images:,} images", MISSING)
        for field in IDENTITY:
            old, new = getattr(before, field), current[name][field]
            if old != new:
                return Difference(f"generator '{name}', {field}", str(old), str(new))
    return None


def _model_difference(lock: StudyLock, folder: Path) -> Difference | None:
    current = gather_models(folder)
    for name, model in lock.models.items():
        weights = current[name].weights if name in current else MISSING
        if weights != model.weights:
            return Difference(f"model '{name}', weights", model.weights, weights)
    return None


def _set_difference(lock: StudyLock, store: Store) -> Difference | None:
    before = {name: each.model_dump() for name, each in lock.prompt_sets.items()}
    now = {name: each.model_dump() for name, each in prompt_sets(store).items()}
    for key, old, new in _differing(before, now):
        return Difference(f"prompt set {key}", old, new)
    return None


def _differing(locked: object, current: object, key: str = "") -> Iterator[tuple[str, str, str]]:
    """Yield key, locked and current value of every setting that differs, in the order of the lock."""
    if isinstance(locked, Mapping) and isinstance(current, Mapping):
        for name in dict.fromkeys([*locked, *current]):
            below = f"{key}.{name}" if key else str(name)
            yield from _differing(locked.get(name), current.get(name), below)
    elif isinstance(locked, list) and isinstance(current, list) and len(locked) == len(current):
        for place, (before, now) in enumerate(zip(locked, current, strict=True)):
            yield from _differing(before, now, f"{key}[{place}]")
    elif locked != current:
        yield key, _worded(locked), _worded(current)


def _worded(setting: object) -> str:
    text = repr(setting)
    return MISSING if setting is None else text if len(text) <= LONGEST else f"{text[:LONGEST]} …"


def _key(row: Mapping[str, object], columns: tuple[str, ...]) -> str:
    return ", ".join(f"{column} {row[column]!r}" for column in columns if row[column] is not None)


def _cells(row: Mapping[str, object], columns: list[str]) -> str:
    return ", ".join(repr(row[column]) for column in columns)


def _listed(columns: list[str]) -> str:
    names = ", ".join(f"'{column}'" for column in columns)
    return f"column {names}" if len(columns) == 1 else f"columns {names}"
