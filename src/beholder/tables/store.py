"""Reading and writing the tables of one study folder."""

from collections.abc import Collection, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from beholder.errors import StageError, TableError, UndeclaredTableError
from beholder.tables.atomic import write_atomically
from beholder.tables.catalogue import TABLES
from beholder.tables.check import conform, faults_in, reference_faults
from beholder.tables.provenance import METADATA_KEY, Provenance, file_hash
from beholder.tables.room import room_on_disk
from beholder.tables.schema import Table
from beholder.tables.stages import Step

TABLES_ROOM = "tables"
FEATURES_ROOM = "features"
SCORES_ROOM = "scores"
TRUTH_ROOM = "truth"

UNREADABLE = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)
"""What Polars raises at a damaged file; a panic, which derives from ``BaseException``, at some bytes."""


@dataclass(frozen=True, slots=True)
class Store:
    """The tables of a study folder, one Parquet file each.

    ``room`` is the subfolder: ``tables`` for what a study knows, ``truth`` for the ground truth of
    a synthetic world (the same schemas; references are looked up in ``tables`` where ``truth`` lacks the table).
    """

    folder: Path
    room: str = TABLES_ROOM
    step: Step | None = None
    """The step that uses it: only the tables which the step declares can be read or written."""

    def within(self, step: Step) -> "Store":
        """Return a store restricted to the tables that a step declares."""
        return replace(self, step=step)

    def path(self, name: str) -> Path:
        """Return the path of the table's file."""
        if self.step is not None and name not in (*self.step.inputs, *self.step.outputs, *self.step.guards):
            raise UndeclaredTableError(self.step.stage, "reads", name)
        return self.folder / self.room / f"{name}.parquet"

    def has(self, name: str) -> bool:
        """Return whether the table exists."""
        return self.path(name).is_file()

    def hash(self, name: str) -> str:
        """Return the hash of the file's bytes, or ``absent``."""
        return file_hash(self.path(name)) if self.has(name) else "absent"

    def provenance(self, name: str) -> Provenance | None:
        """Return the table's record; ``None`` for a table that is absent, damaged or came from elsewhere."""
        if not self.has(name):
            return None
        try:
            text = pl.read_parquet_metadata(self.path(name)).get(METADATA_KEY)
            return Provenance.from_json(text) if text else None
        except (*UNREADABLE, ValueError, TypeError):
            return None

    def read(self, name: str) -> pl.DataFrame:
        """Return the table, checked; an error lists all its faults."""
        table = TABLES[name]
        if not self.has(name):
            raise StageError(
                f"{self.path(name)} is missing. It is written by: beholder {table.stage} {self.folder}"
            )
        frame = conform(self._load(name), table)
        faults = self._faults(frame, table, {})
        if faults:
            raise TableError(str(self.path(name)), faults)
        return frame

    def read_or_empty(self, name: str) -> pl.DataFrame:
        """Return the table, or one with no rows where it is absent."""
        return self.read(name) if self.has(name) else TABLES[name].empty()

    def write(self, frames: Mapping[str, pl.DataFrame], provenance: Provenance) -> None:
        """Write the tables, each atomically, after all of them have been checked together.

        All of them are on disk before the first replaces an old one, so that a full disk changes nothing. Tables
        that others refer to are replaced first, so that references to added rows hold at every moment.
        """
        for name in frames:
            if self.step is not None and name not in self.step.outputs:
                raise UndeclaredTableError(self.step.stage, "writes", name)
        conformed = {name: conform(frame, TABLES[name]) for name, frame in frames.items()}
        faults = [
            f"{name}: {fault}"
            for name, frame in conformed.items()
            for fault in self._faults(frame, TABLES[name], conformed)
        ]
        if faults:
            raise TableError(f"{self.folder / self.room}: nothing was written", faults)
        metadata = {METADATA_KEY: provenance.to_json()}
        with room_on_disk(self.folder / self.room), ExitStack() as last_in_first_out:
            for name in reversed([name for name in TABLES if name in conformed]):
                file = last_in_first_out.enter_context(write_atomically(self.path(name)))
                conformed[name].write_parquet(
                    file, compression="zstd", row_group_size=TABLES[name].rows_per_group, metadata=metadata
                )

    def _load(self, name: str, columns: Collection[str] | None = None) -> pl.DataFrame:
        path = self.path(name)
        try:
            if columns is None:
                return pl.read_parquet(path)
            return pl.read_parquet(path, columns=[c for c in pl.read_parquet_schema(path) if c in columns])
        except UNREADABLE as error:
            advice = f"Write it again with: beholder {TABLES[name].stage} {self.folder} --force"
            raise TableError(str(path), [f"not a readable Parquet file ({error})"], advice=advice) from error

    def _faults(self, frame: pl.DataFrame, table: Table, pending: Mapping[str, pl.DataFrame]) -> list[str]:
        targets = {r.table: self._target(r.table, pending) for r in table.references if r.table != table.name}
        return faults_in(frame, table) + reference_faults(frame, table, targets)

    def _target(self, name: str, pending: Mapping[str, pl.DataFrame]) -> pl.DataFrame | None:
        if name in pending:
            return pending[name]
        here = Store(self.folder, self.room)
        home = here if here.has(name) else Store(self.folder)
        if not home.has(name):
            return None
        referenced = {c for t in TABLES.values() for r in t.references if r.table == name for c in r.target}
        return home._load(name, referenced)
