"""Files that hold secrets: nobody but their owner may read them, whatever the umask says."""

import logging
import os
import stat
from contextlib import suppress
from pathlib import Path

PRIVATE = 0o600
COMPANIONS = ("", "-wal", "-shm", "-journal")
"""What SQLite adds to the name of a database for the files beside it; they get the mode of the database."""

log = logging.getLogger(__name__)


def make_private(database: Path) -> None:
    """Make the file of a database before SQLite does, or tighten what is there, and say so."""
    if os.name == "nt" or str(database).startswith((":memory:", "file:")):
        return  # rights of files are another matter there, or there is no file
    create_private(database)
    for companion in COMPANIONS:
        _tighten(Path(f"{database}{companion}"))


def create_private(path: Path) -> None:
    """An empty file, unless there is one, or no folder for it: what opens the file then says so."""
    with suppress(FileExistsError, FileNotFoundError, NotADirectoryError, PermissionError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, PRIVATE))
        path.chmod(PRIVATE)  # a strict umask may have taken the owner's rights, too


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
