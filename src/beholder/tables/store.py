"""Reading and writing the tables of one study folder."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from beholder.errors import StageError, TableError, UndeclaredTableError
from beholder.tables.atomic import write_atomically
from beholder.tables.catalogue import TABLES
from beholder.tables.check import conform, conform_lazily, faults_in, reference_faults
from beholder.tables.keys import Keys
from beholder.tables.parts import ROWS_HELD, Parts
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
        faults = self.faults(name, frame)
        if faults:
            raise TableError(str(self.path(name)), faults)
        return frame

    def read_or_empty(self, name: str) -> pl.DataFrame:
        """Return the table, or one with no rows where it is absent."""
        return self.read(name) if self.has(name) else TABLES[name].empty()

    def rows(self, name: str) -> int:
        """Return the number of rows of a table, without reading them; 0 where it is absent."""
        return int(self._scan(name).select(pl.len()).collect().item()) if self.has(name) else 0

    def scan(self, name: str, rows_held: int = ROWS_HELD) -> pl.LazyFrame:
        """Return the table, to be read as far as it is used; an absent one has no rows.

        One of at most ``rows_held`` rows is checked and held. Of a larger one only the columns are checked: the
        stage that wrote it has checked its rows.
        """
        if self.rows(name) <= rows_held:
            return self.read_or_empty(name).lazy()
        rows = self._scan(name)
        faults = faults_in(rows.head(0).collect(), TABLES[name])
        if faults:
            raise TableError(str(self.path(name)), faults)
        return conform_lazily(rows, TABLES[name])

    def batches(
        self, name: str, size: int, columns: Collection[str] | None = None, *, check: bool = False
    ) -> Iterator[pl.DataFrame]:
        """Yield the rows of a table in order, ``size`` at a time, with all of its columns or with some of them.

        Where ``check`` is set, every batch is checked by itself: a key that occurs in two batches is not noticed,
        and references to tables of more than ``size`` rows are those that the stage which wrote it has checked.
        """
        large = self._larger_referenced(name, size) if check else frozenset()
        targets = self.referenced(name, large) if check else {}
        for start in range(0, self.rows(name), size):
            try:
                batch = conform(self._scan(name).slice(start, size).collect(), TABLES[name])
            except UNREADABLE as error:
                raise self._unreadable(name, error) from error
            faults = self.faults(name, batch, targets, large) if check else []
            if faults:
                raise TableError(str(self.path(name)), [f"from row {start} on: {fault}" for fault in faults])
            yield batch if columns is None else batch.select(columns)

    def faults(
        self,
        name: str,
        frame: pl.DataFrame,
        pending: Mapping[str, pl.DataFrame | Keys] | None = None,
        sound: frozenset[str] = frozenset(),
    ) -> list[str]:
        """Return the faults of some rows of a table.

        ``pending`` are tables that references are looked up in, in place of the files; references to the tables
        that are ``sound`` are not looked up.
        """
        return self._faults(frame, TABLES[name], self._targets(TABLES[name], pending or {}, sound), sound)

    def referenced(self, name: str, sound: frozenset[str] = frozenset()) -> dict[str, Keys]:
        """Return the keys of the tables that a table refers to, but of those that are ``sound``.

        With them :meth:`faults` reads no file, however many parts of the table it is called for.
        """
        looked_up = [r.table for r in TABLES[name].references if r.table != name and r.table not in sound]
        rows = {target: self._loaded_keys(target) for target in looked_up}
        return {target: Keys(keys) for target, keys in rows.items() if keys is not None}

    def write(self, frames: Mapping[str, pl.DataFrame | Parts], provenance: Provenance) -> None:
        """Write the tables, each atomically, after all of them have been checked together.

        All of them are on disk before the first replaces an old one, so that a full disk changes nothing. Tables
        that others refer to are replaced first, so that references to added rows hold at every moment.
        """
        for name in frames:
            if self.step is not None and name not in self.step.outputs:
                raise UndeclaredTableError(self.step.stage, "writes", name)
        conformed = {
            name: frame if isinstance(frame, Parts) else conform(frame, TABLES[name])
            for name, frame in frames.items()
        }
        faults = [
            f"{name}: {fault}"
            for name, table in conformed.items()
            for fault in self._faults_before_writing(table, TABLES[name], conformed)
        ]
        if faults:
            raise TableError(f"{self.folder / self.room}: nothing was written", faults)
        metadata = {METADATA_KEY: provenance.to_json()}
        with room_on_disk(self.folder / self.room), ExitStack() as last_in_first_out:
            for name in reversed([name for name in TABLES if name in conformed]):
                file = last_in_first_out.enter_context(write_atomically(self.path(name)))
                table, group = conformed[name], TABLES[name].rows_per_group
                if isinstance(table, Parts):
                    rows = pl.concat(conform_lazily(pl.scan_parquet(part), TABLES[name]) for part in table.files)
                    rows.sink_parquet(file, compression="zstd", row_group_size=group, metadata=metadata)
                else:
                    table.write_parquet(file, compression="zstd", row_group_size=group, metadata=metadata)

    def _scan(self, name: str) -> pl.LazyFrame:
        try:
            return pl.scan_parquet(self.path(name))
        except UNREADABLE as error:
            raise self._unreadable(name, error) from error

    def _unreadable(self, name: str, error: BaseException) -> TableError:
        advice = f"Write it again with: beholder {TABLES[name].stage} {self.folder} --force"
        return TableError(str(self.path(name)), [f"not a readable Parquet file ({error})"], advice=advice)

    def _load(self, name: str, columns: Collection[str] | None = None) -> pl.DataFrame:
        path = self.path(name)
        try:
            if columns is None:
                return pl.read_parquet(path)
            return pl.read_parquet(path, columns=[c for c in pl.read_parquet_schema(path) if c in columns])
        except UNREADABLE as error:
            raise self._unreadable(name, error) from error

    def _faults_before_writing(
        self, rows: pl.DataFrame | Parts, table: Table, pending: Mapping[str, pl.DataFrame | Parts]
    ) -> Iterator[str]:
        """Yield the faults of a table, part by part; what it refers to is read once."""
        sound = rows.sound if isinstance(rows, Parts) else frozenset()
        targets = self._targets(table, pending, sound)
        for frame in rows if isinstance(rows, Parts) else [rows]:
            yield from self._faults(conform(frame, table), table, targets, sound)

    @staticmethod
    def _faults(
        frame: pl.DataFrame,
        table: Table,
        targets: Mapping[str, pl.DataFrame | Keys | None],
        sound: frozenset[str] = frozenset(),
    ) -> list[str]:
        doubtful = replace(table, references=tuple(r for r in table.references if r.table not in sound))
        return faults_in(frame, table) + reference_faults(frame, doubtful, targets)

    def _targets(
        self, table: Table, pending: Mapping[str, pl.DataFrame | Keys | Parts], sound: frozenset[str]
    ) -> dict[str, pl.DataFrame | Keys | None]:
        """Return what the references of a table are looked up in; ``None`` for a table that is absent."""
        looked_up = [r.table for r in table.references if r.table != table.name and r.table not in sound]
        return {name: self._target(name, pending) for name in looked_up}

    def _larger_referenced(self, name: str, size: int) -> frozenset[str]:
        """Return the tables of more than ``size`` rows that a table refers to."""
        everything = Store(self.folder, self.room)
        return frozenset(r.table for r in TABLES[name].references if everything.rows(r.table) > size)

    def _target(self, name: str, pending: Mapping[str, pl.DataFrame | Keys | Parts]) -> pl.DataFrame | Keys | None:
        here_now = pending.get(name)
        return self._loaded_keys(name) if here_now is None or isinstance(here_now, Parts) else here_now

    def _loaded_keys(self, name: str) -> pl.DataFrame | None:
        """Return the columns of a table that others refer to; ``None`` where it is absent."""
        here = Store(self.folder, self.room)
        home = here if here.has(name) else Store(self.folder)
        if not home.has(name):
            return None
        referenced = {c for t in TABLES.values() for r in t.references if r.table == name for c in r.target}
        return home._load(name, referenced)
