"""A folder in object storage: an index, and every content once under its hash.

Object storage has no rename, but replaces one object at a time atomically. So contents are stored first, under
names that no reader knows yet, and then the index that names them is replaced, on condition that it is still the
one that was read. A process that is killed before leaves the old folder as it was; of two who publish at once, one
is refused.
"""

from pathlib import Path
from typing import TYPE_CHECKING

import obstore
from obstore.store import from_url

from beholder.errors import StorageError
from beholder.storage.index import Entry, Index
from beholder.storage.index_object import IndexObject, Version
from beholder.storage.reaching import reaching
from beholder.tables.atomic import write_atomically
from beholder.tables.provenance import file_hash

if TYPE_CHECKING:
    from obstore.store import ObjectStore

SCHEMES = ("s3", "s3a", "gs", "az", "abfs", "abfss")
"""What an address may begin with."""

INDEX = "index.json"
OBJECTS = "objects"


def is_remote(address: str) -> bool:
    """Whether a text is the address of a folder in object storage."""
    scheme, separator, rest = address.partition("://")
    return bool(separator and rest) and scheme in SCHEMES


class RemoteFolder:
    """A folder at an address such as ``s3://bucket/study``.

    Credentials and endpoints come from the environment, as the tools of each provider name them.
    """

    def __init__(self, address: str, store: "ObjectStore | None" = None) -> None:
        self.address = address.rstrip("/")
        with reaching(self.address):
            self._store = from_url(self.address) if store is None else store
        self._index = IndexObject(self.address, self._store, INDEX)

    def read(self) -> Version | None:
        """The folder's index as it is now; ``None`` where there is no folder."""
        return self._index.read()

    def fetch(self, entry: Entry, path: Path) -> None:
        """Write a content to a local file, atomically, and refuse bytes that do not have its hash."""
        with reaching(self.address):
            try:
                content = obstore.get(self._store, _name(entry)).bytes()
            except FileNotFoundError as error:
                raise StorageError(f"{self.address} lacks the content of {path.name} ({_name(entry)})") from error
        with write_atomically(path) as file:
            file.write(content)
        if file_hash(path) != entry.sha256:
            path.unlink()
            raise StorageError(f"{self.address}/{_name(entry)}: the bytes are not those of the index")

    def add(self, entry: Entry, path: Path) -> None:
        """Store the content of a local file; it belongs to the folder once an index names it."""
        with reaching(self.address):
            obstore.put(self._store, _name(entry), path)

    def publish(self, index: Index, base: Version | None) -> Version:
        """Replace the index that ``base`` was; refused where it has changed in between."""
        return self._index.replace(index, base)


def _name(entry: Entry) -> str:
    return f"{OBJECTS}/{entry.sha256[:2]}/{entry.sha256}"
