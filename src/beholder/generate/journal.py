"""What was generated so far: a line for each image, written as soon as its file is on the disk.

A process may be killed at any moment. An image counts once its line is complete, and its line is written only
after the file has reached the disk under its final name; a line cut short is dropped when the journal is next
opened. The tables are written from the journal at the end, and the journal is removed after that.
"""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from beholder.errors import StageError
from beholder.generate.plan import Key
from beholder.tables.room import room_on_disk

if sys.platform != "win32":
    import fcntl

FILE_NAME = "journal.jsonl"

Row = dict[str, object]
"""A row of a table."""


@dataclass(frozen=True, slots=True)
class Generation:
    """The rows of one image: in ``generations``, and in ``generation_costs``."""

    row: Row
    cost: Row

    @property
    def key(self) -> Key:
        """Generator, prompt and sample."""
        return str(self.row["generator"]), str(self.row["prompt"]), int(str(self.row["sample"]))


class Journal:
    """The lines of a folder, open for one writer; made by :func:`open_journal`."""

    def __init__(self, folder: Path, file: IO[bytes]) -> None:
        self._folder, self._file = folder, file
        self.generations = {generation.key: generation for generation in self._recover()}
        """All that a killed run left, by key; a later line replaces an earlier one."""

    def keep(self, generation: Generation, content: bytes | None) -> None:
        """Write the image, if there is one, and then its line; both are on the disk when this returns."""
        with room_on_disk(self._folder):
            if content is not None:
                _write_file(self._folder / str(generation.row["path"]), content)
            line = json.dumps([generation.row, generation.cost], ensure_ascii=False)
            self._file.write(line.encode() + b"\n")
            _flush(self._file)
        self.generations[generation.key] = generation

    def _recover(self) -> Iterator[Generation]:
        """Yield the complete lines, and cut off what follows them."""
        self._file.seek(0)
        end = 0
        for line in self._file:
            try:
                row, cost = json.loads(line)
            except ValueError:
                break
            if not line.endswith(b"\n"):
                break
            end += len(line)
            yield Generation(row, cost)
        self._file.truncate(end)
        self._file.seek(end)


@contextmanager
def open_journal(folder: Path) -> Iterator[Journal]:
    """The journal below ``folder``, created where there is none; one process at a time."""
    path = journal_path(folder)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    with path.open("r+b") as file:
        _lock(file, folder)
        yield Journal(folder, file)


def journal_path(folder: Path) -> Path:
    """Where the journal of a folder is."""
    return folder / "generations" / FILE_NAME


def _lock(file: IO[bytes], folder: Path) -> None:
    """Lock the file until it is closed or the process ends."""
    if sys.platform == "win32":
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise StageError(
            f"{folder}: another process is generating images here; wait until it has ended"
        ) from error


def _write_file(path: Path, content: bytes) -> None:
    """Write a file under another name and rename it; what a killed process left there is overwritten."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.part")
    with temporary.open("wb") as file:
        file.write(content)
        _flush(file)
    temporary.replace(path)


def _flush(file: IO[bytes]) -> None:
    file.flush()
    os.fsync(file.fileno())
