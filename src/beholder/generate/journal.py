"""What was generated so far: a line for each image, written as soon as its file has its final name.

A process may be killed at any moment, and a machine may lose power. An image counts where its line is complete and
its file has the hash that the line states: both are checked when the journal is next opened. Files are flushed to
the disk by a thread of its own, while the generator works on the next image. The tables are written from the
journal after all files have reached the disk, and the journal is removed after that.
"""

import hashlib
import json
import os
import sys
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
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
MOST_WAITING = 64
"""Files that may wait to be flushed; a slower disk slows the generators down."""

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

    def __init__(self, folder: Path, file: IO[bytes], flusher: ThreadPoolExecutor) -> None:
        self._folder, self._file, self._flusher = folder, file, flusher
        self._waiting: deque[Future[None]] = deque()
        self.generations = {generation.key: generation for generation in self._recover()}
        """All that a killed run left, by key; a later line replaces an earlier one."""

    def keep(self, generation: Generation, content: bytes | None) -> None:
        """Write the image, if there is one, and then its line; neither is lost if this process is killed."""
        with room_on_disk(self._folder):
            if content is not None:
                path = self._folder / str(generation.row["path"])
                _write_file(path, content)
                self._waiting.append(self._flusher.submit(_flush, path))
            line = json.dumps([generation.row, generation.cost], ensure_ascii=False)
            self._file.write(line.encode() + b"\n")
            self._file.flush()
            while len(self._waiting) > MOST_WAITING:
                self._waiting.popleft().result()
        self.generations[generation.key] = generation

    def settle(self) -> None:
        """Return when all files have reached the disk."""
        with room_on_disk(self._folder):
            while self._waiting:
                self._waiting.popleft().result()

    def _recover(self) -> Iterator[Generation]:
        """Yield the complete lines whose files are as they state, and cut off what follows the last of them."""
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
            if row.get("sha256") is None or _hash(self._folder / row["path"]) == row["sha256"]:
                yield Generation(row, cost)
        self._file.truncate(end)
        self._file.seek(end)


@contextmanager
def open_journal(folder: Path) -> Iterator[Journal]:
    """The journal below ``folder``, created where there is none; one process at a time."""
    path = journal_path(folder)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    with path.open("r+b") as file, ThreadPoolExecutor(1) as flusher:
        _lock(file, folder)
        yield Journal(folder, file, flusher)


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
    temporary.write_bytes(content)
    temporary.replace(path)


def _flush(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())


def _hash(path: Path) -> str:
    """Return the hash of a file; empty where it cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""
