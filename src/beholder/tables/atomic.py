"""Writing a file so that a killed process leaves the old one intact."""

import glob
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


@contextmanager
def write_atomically(path: Path) -> Iterator[IO[bytes]]:
    """Open a binary file that replaces ``path`` when the block ends, and never before.

    The bytes go to a temporary file in the same folder, are flushed to the disk, and the file is renamed;
    a rename within a folder is atomic. Temporary files that a killed process left behind are removed.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    for left_over in path.parent.glob(f".{glob.escape(path.name)}.*.tmp"):
        left_over.unlink(missing_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(0o644)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    _flush_folder(path.parent)


def _flush_folder(folder: Path) -> None:
    """Make the rename itself durable, where the system lets a folder be flushed."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
