"""What a command works in where it was given an address: a copy on this machine, of whatever is there."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from beholder.errors import ForeignIndexError
from beholder.storage.held_folder import held_folder
from beholder.storage.plain_copy import PlainCopy
from beholder.storage.plain_objects import plain_objects
from beholder.storage.remote_folder import RemoteFolder
from beholder.storage.transfer import Transfer
from beholder.storage.working_copy import WorkingCopy, working_copy


class LocalCopy(Protocol):
    """A copy of what is at an address."""

    @property
    def address(self) -> str:
        """Where the original is."""
        ...

    @property
    def place(self) -> Path:
        """The folder or file on this machine."""
        ...

    def update(self) -> Transfer:
        """Fetch what has changed."""
        ...

    def publish(self) -> Transfer:
        """Store what a command changed; refused where the original is only read."""
        ...


@contextmanager
def local_copy(address: str) -> Iterator[WorkingCopy | PlainCopy]:
    """Yield the copy of a folder of beholder, or of plain objects where there is no such folder but objects.

    A new address becomes a folder of beholder. One whose ``index.json`` is someone else's holds plain objects.
    """
    plain = None if _is_folder(address) else plain_objects(address)
    if plain is None:
        with working_copy(address) as copy:
            yield copy
    else:
        with held_folder("plain", plain.address) as folder:
            yield PlainCopy(plain, folder)


def _is_folder(address: str) -> bool:
    """Whether there is a folder of beholder at an address."""
    try:
        return RemoteFolder(address).read() is not None
    except ForeignIndexError:
        return False
