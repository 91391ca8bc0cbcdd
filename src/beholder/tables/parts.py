"""Tables that are too large to hold: their rows lie in files, some in each, in the order of the table."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

ROWS_HELD = 500_000
"""Rows of a table up to which it is held in memory; a larger one is worked through in parts of so many rows."""

ROWS_GATHERED = 2_000_000
"""Rows that are dealt into files at once."""


@dataclass(frozen=True, slots=True)
class Parts:
    """A table in parts: Parquet files, each with some of its rows."""

    files: tuple[Path, ...]
    height: int
    """The number of all rows."""
    sound: frozenset[str] = frozenset()
    """Tables to which its rows refer rightly, because they were joined with them."""

    def __iter__(self) -> Iterator[pl.DataFrame]:
        return (pl.read_parquet(file) for file in self.files)


@dataclass(slots=True)
class Gathered:
    """Rows of a table that come bit by bit: held in memory while they are few, then written to files."""

    folder: Path
    """For the files; it must exist, and nothing else may lie in it."""
    rows_held: int
    sound: frozenset[str] = frozenset()
    _frames: list[pl.DataFrame] = field(default_factory=list)
    _files: list[Path] = field(default_factory=list)
    _height: int = 0

    def add(self, frame: pl.DataFrame) -> None:
        """Add rows after those there are."""
        self._height += frame.height
        self._frames.append(frame)
        if sum(frame.height for frame in self._frames) > self.rows_held:
            self._spill()

    def table(self, empty: pl.DataFrame) -> pl.DataFrame | Parts:
        """Return all rows, as a frame where they are few; ``empty`` has the columns and their order."""
        if not self._files:
            return pl.concat([empty, *self._frames], how="diagonal")
        if self._frames:
            self._spill()
        return Parts(tuple(self._files), self._height, self.sound)

    def _spill(self) -> None:
        file = self.folder / f"{len(self._files):06d}.parquet"
        pl.concat(self._frames, how="diagonal").write_parquet(file, compression="lz4")
        self._files.append(file)
        self._frames.clear()


def shuffled(
    batches: Iterator[pl.DataFrame], bucket: pl.Expr, folder: Path, name: str
) -> dict[int, tuple[Path, ...]]:
    """Write the rows of all batches into files by bucket, an integer of at least 0; return the files of each.

    The files of a bucket together have its rows in their order. Rows of several batches are gathered before they
    are written: a file costs as much as some thousand rows, and there are as many in a turn as buckets.
    """
    files: dict[int, list[Path]] = {}
    gathered: dict[int, list[pl.DataFrame]] = {}
    held = 0

    def write() -> None:
        for key, frames in gathered.items():
            written = files.setdefault(key, [])
            file = folder / f"{name}-{key}-{len(written)}.parquet"
            pl.concat(frames).write_parquet(file, compression="lz4")
            written.append(file)
        gathered.clear()

    for batch in batches:
        groups = batch.with_columns(_bucket=bucket.cast(pl.Int64)).partition_by(
            "_bucket", as_dict=True, include_key=False, maintain_order=True
        )
        for (key,), rows in groups.items():
            gathered.setdefault(int(key), []).append(rows)
        held += batch.height
        if held >= ROWS_GATHERED:
            write()
            held = 0
    write()
    return {key: tuple(paths) for key, paths in files.items()}
