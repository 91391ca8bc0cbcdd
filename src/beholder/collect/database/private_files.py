"""File permissions of files that hold secrets: mode 0600 under any umask."""

import logging
import os
import stat
from contextlib import suppress
from pathlib import Path

PRIVATE = 0o600
COMPANIONS = ("", "-wal", "-shm", "-journal")
"""Suffixes of the files that SQLite keeps beside a database; they get the mode of the database."""

log = logging.getLogger(__name__)


def make_private(database: Path) -> None:
    """Create the file of a database before SQLite does, or restrict the mode of existing files and log it."""
    if os.name == "nt" or str(database).startswith((":memory:", "file:")):
        return  # other permissions on Windows; no file for a database in memory
    create_private(database)
    for companion in COMPANIONS:
        _tighten(Path(f"{database}{companion}"))


def create_private(path: Path) -> None:
    """Create an empty private file unless it exists; a missing folder is reported by whoever opens the file."""
    with suppress(FileExistsError, FileNotFoundError, NotADirectoryError, PermissionError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, PRIVATE))
        path.chmod(PRIVATE)  # a strict umask may have removed the owner's permissions, too


def _tighten(path: Path) -> None:
    try:
        status = path.stat()
    except OSError:
        return
    mode = stat.S_IMODE(status.st_mode)
    if not stat.S_ISREG(status.st_mode) or not mode & 0o077:
        return
    try:
        path.chmod(PRIVATE)
    except PermissionError:
        log.warning("%s can be read by others (mode %04o) and belongs to someone else: chmod 600 it", path, mode)
        return
    log.warning("%s could be read by others (mode %04o); it holds secrets, and now has mode 0600", path, mode)
