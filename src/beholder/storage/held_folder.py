"""The folder on this machine that belongs to an address, for one process at a time."""

import fcntl
import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from beholder.errors import StorageError
from beholder.storage.cache_home import cache_home


@contextmanager
def held_folder(kind: str, address: str) -> Iterator[Path]:
    """Yield the folder of an address among those of a kind; another process that wants it is refused meanwhile."""
    name = address.rpartition("/")[2]
    folder = cache_home() / kind / f"{name}-{hashlib.sha256(address.encode()).hexdigest()[:12]}"
    folder.mkdir(parents=True, exist_ok=True)
    with folder.with_name(folder.name + ".lock").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise StorageError(f"another command is working in {address} on this machine; wait for it") from error
        yield folder
