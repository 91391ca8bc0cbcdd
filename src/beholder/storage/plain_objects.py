"""Objects that other tools stored under their own names: which ones an address has.

They are what a folder of beholder is not: there is no index, and nothing tells when all of them fit together. So
they are only read.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import obstore
from obstore.store import from_url

from beholder.errors import StorageError
from beholder.storage.index import is_inside
from beholder.storage.listing import list_objects
from beholder.storage.reaching import reaching
from beholder.storage.remote_folder import INDEX

if TYPE_CHECKING:
    from obstore import ObjectMeta
    from obstore.store import ObjectStore

HASHED = re.compile(r"(?P<folder>(?:.*/)?)objects/[0-9a-f]{2}/[0-9a-f]{64}")
"""The contents of a folder of beholder, which has its index beside ``objects/``."""


@dataclass(frozen=True, slots=True)
class PlainObject:
    """What tells a content from a later one of the same name."""

    tag: str
    size: int


@dataclass(frozen=True)
class PlainObjects:
    """The objects at an address, by the paths that they have below it."""

    address: str
    store: "ObjectStore"
    objects: Mapping[str, PlainObject]
    single: bool = False
    """Whether the address is that of one object, whose name is then the only path."""


def plain_objects(address: str, store: "ObjectStore | None" = None) -> PlainObjects | None:
    """Return the objects below an address, or the one at it; ``None`` where there are none.

    Hidden names are passed over, and so are the contents of folders of beholder: those that lie deeper, and what a
    first publication that was killed left behind.

    Args:
        address: Such as ``s3://bucket/images`` or ``s3://bucket/images/cat.png``.
        store: What is at the address, where that is known already.
    """
    address = address.rstrip("/")
    with reaching(address):
        here = from_url(address) if store is None else store
    listed = {path: _plain(entry) for path, entry in list_objects(address, here).items()}
    objects = _others(_without_folders_of_beholder(listed))
    if objects:
        _check_paths(address, objects)
        return PlainObjects(address, here, objects)
    return _single(address) if store is None and not listed else None


def _plain(entry: "ObjectMeta") -> PlainObject:
    return PlainObject(entry["e_tag"] or entry["last_modified"].isoformat(), entry["size"])


def _without_folders_of_beholder(objects: Mapping[str, PlainObject]) -> dict[str, PlainObject]:
    matches = {path: HASHED.fullmatch(path) for path in objects}
    indices = {f"{match['folder']}{INDEX}" for match in matches.values() if match}
    return {path: entry for path, entry in objects.items() if not matches[path] and path not in indices}


def _others(objects: Mapping[str, PlainObject]) -> dict[str, PlainObject]:
    """Leave out hidden names, and the empty objects by which some tools mark a folder."""
    folders = {str(parent) for path in objects for parent in PurePosixPath(path).parents}
    return {
        path: entry
        for path, entry in objects.items()
        if not any(part.startswith(".") for part in PurePosixPath(path).parts)
        and not (entry.size == 0 and path in folders)
    }


def _check_paths(address: str, objects: Mapping[str, PlainObject]) -> None:
    """Refuse names that a folder of files cannot have."""
    folders = {str(parent) for path in objects for parent in PurePosixPath(path).parents}
    faults = [path for path in sorted(objects) if path in folders or not is_inside(path)]
    if faults:
        raise StorageError(
            f"{address} has objects whose names cannot be those of files in one folder: {', '.join(faults[:3])}. "
            "Name a folder below that has none of them"
        )


def _single(address: str) -> PlainObjects | None:
    """Return the object at the address itself."""
    parent, _, name = address.rpartition("/")
    if parent.endswith("/"):  # a bucket
        return None
    with reaching(address):
        store = from_url(parent)
        try:
            entry = obstore.head(store, name)
        except FileNotFoundError:
            return None
    return PlainObjects(address, store, {name: _plain(entry)}, single=True)
