"""Static pages in object storage under their own names, as browsers fetch them.

Objects are replaced one at a time, so the order is what keeps readers from a broken site: first what pages show,
then pages, the front page last, and only then what no page leads to any more is deleted. A manifest says which
objects an earlier publication wrote; no other object is ever replaced or deleted.
"""

from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import obstore
from obstore.store import from_url

from beholder.errors import StorageError
from beholder.storage.index import Entry, Index
from beholder.storage.index_object import IndexObject, Version
from beholder.storage.listing import list_objects
from beholder.storage.reaching import reaching
from beholder.storage.transfer import Transfer, all_at_once
from beholder.tables.provenance import file_hash

if TYPE_CHECKING:
    from obstore.store import ObjectStore

MANIFEST = "beholder-published.json"
"""The object that lists what was published."""

FRONT_PAGE = "index.html"

CONTENT_TYPES = {
    ".bib": "text/plain; charset=utf-8",
    ".cff": "text/plain; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".csv": "text/csv; charset=utf-8",
    ".gif": "image/gif",
    ".html": "text/html; charset=utf-8",
    ".ico": "image/vnd.microsoft.icon",
    ".jpeg": "image/jpeg",
    ".jpg": "image/jpeg",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".md": "text/markdown; charset=utf-8",
    ".png": "image/png",
    ".parquet": "application/vnd.apache.parquet",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".webp": "image/webp",
    ".woff2": "font/woff2",
}
"""What browsers are told a file is; by its suffix, the same on every machine."""

OTHERWISE = "application/octet-stream"

UNFINISHED = Entry("", 0)
"""In the manifest: an object that is being replaced, so that its content is not known."""


class Website:
    """The static pages at an address such as ``s3://bucket/site``."""

    def __init__(self, address: str, store: "ObjectStore | None" = None) -> None:
        self.address = address.rstrip("/")
        with reaching(self.address):
            self._store = from_url(self.address) if store is None else store
        self._manifest = IndexObject(self.address, self._store, MANIFEST)

    def check(self) -> Version | None:
        """Return what an earlier publication wrote; refuse an address that holds something else.

        Raises:
            StorageError: Where there are objects and no manifest.
        """
        base = self._manifest.read()
        if base is None and (strangers := self._names()):
            raise StorageError(
                f"{self.address} has objects that are no site of beholder, such as {min(strangers)}: they are not "
                "overwritten. Name an address that is empty or has a site"
            )
        return base

    def publish(self, folder: Path) -> Transfer:
        """Store what changed of the files in a folder, and delete what an earlier publication had besides.

        Where it is killed, readers have the old front page and all that it leads to; the next call completes it.

        Args:
            folder: The pages; hidden files are not stored.

        Returns:
            How many files were stored, and their bytes.

        Raises:
            StorageError: Where the address is another's, a file has the name of another's object, or someone else
                publishes at the same time.
        """
        base = self.check()
        before = base.index.files if base else {}
        files = dict(_entries(folder))
        if FRONT_PAGE not in files:
            raise StorageError(f"{folder} has no {FRONT_PAGE}: it is no site")
        strangers = sorted(files.keys() & (self._names() - before.keys()))
        if strangers:
            raise StorageError(f"{self.address} has objects that someone else stored: {', '.join(strangers[:3])}")
        changed = {path for path, entry in files.items() if before.get(path) != entry}
        stale = sorted(before.keys() - files.keys())
        if not changed and not stale:
            return Transfer(0, 0)
        started = self._manifest.replace(Index({**before, **dict.fromkeys(changed, UNFINISHED)}), base)
        for group in _groups(changed):
            all_at_once(lambda path: self._put(path, folder / path), group)
        if stale:
            with reaching(self.address):
                obstore.delete(self._store, stale)
        self._manifest.replace(Index(files), started)
        return Transfer(len(changed), sum(files[path].size for path in changed))

    def _put(self, path: str, file: Path) -> None:
        content_type = CONTENT_TYPES.get(PurePosixPath(path).suffix.lower(), OTHERWISE)
        with reaching(self.address):
            obstore.put(self._store, path, file, attributes={"Content-Type": content_type})

    def _names(self) -> set[str]:
        return set(list_objects(self.address, self._store)) - {MANIFEST}


def _entries(folder: Path) -> Iterator[tuple[str, Entry]]:
    for path in sorted(folder.rglob("*")):
        relative = path.relative_to(folder)
        if path.is_file() and not any(part.startswith(".") for part in relative.parts):
            yield relative.as_posix(), Entry(file_hash(path), path.stat().st_size)


def _groups(paths: set[str]) -> list[list[str]]:
    """What pages show, the pages, and the front page."""
    pages = {path for path in paths if path.endswith(".html")} - {FRONT_PAGE}
    front = paths & {FRONT_PAGE}
    return [sorted(group) for group in (paths - pages - front, pages, front)]
