"""A local copy of objects under their own names: fetched where they changed, and never stored back."""

import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path

import obstore

from beholder.errors import StorageError
from beholder.storage.plain_objects import PlainObject, PlainObjects
from beholder.storage.reaching import reaching
from beholder.storage.transfer import Transfer, all_at_once
from beholder.tables.atomic import write_atomically

INCOMING = ".incoming"
"""Where a file is while it is fetched."""

RECORDED_AFTER = 500
"""Files after which it is recorded what was fetched: a command that is killed goes on from there."""

CHUNK = 8 << 20
"""Bytes of an object in memory at a time."""


@dataclass(frozen=True, slots=True)
class _Fetched:
    """A local file as it was fetched: the tag of the object, the size, and the time of change of the file."""

    tag: str
    size: int
    changed: int


class PlainCopy:
    """The local copy of the objects at an address; use :func:`beholder.storage.local_copy.local_copy`.

    A file counts as up to date as long as its object has the entity tag and the size that it was fetched with.
    """

    def __init__(self, remote: PlainObjects, folder: Path) -> None:
        self.address, self.folder, self._remote = remote.address, folder, remote
        self._state = folder.with_name(folder.name + ".json")
        self._fetched = self._read_state()

    @property
    def place(self) -> Path:
        """The folder, or the one file where the address is that of an object."""
        return self.folder / next(iter(self._remote.objects)) if self._remote.single else self.folder

    def has(self, path: str) -> bool:
        """Whether there is an object with that path."""
        return path in self._remote.objects

    def update(self) -> Transfer:
        """Fetch what is new or has changed, and delete what is no longer there."""
        shutil.rmtree(self.folder / INCOMING, ignore_errors=True)
        objects = self._remote.objects
        for path in self._changes():
            self._fetched.pop(path, None)
            (self.folder / path).unlink(missing_ok=True)
        for path in self._fetched.keys() - objects.keys():
            del self._fetched[path]
            (self.folder / path).unlink(missing_ok=True)
        missing = [path for path, entry in sorted(objects.items()) if self._recorded(path) != entry]
        rest = iter(missing)
        while some := list(islice(rest, RECORDED_AFTER)):
            all_at_once(self._fetch, some)
            self._write_state()
        self._write_state()
        shutil.rmtree(self.folder / INCOMING, ignore_errors=True)
        return Transfer(len(missing), sum(self._fetched[path].size for path in missing))

    def publish(self) -> Transfer:
        """Refuse, if a command wrote something into the copy; otherwise there is nothing to store."""
        changes = self._changes()
        if changes:
            some = ", ".join(changes[:3]) + (f" and {len(changes) - 3} more" if len(changes) > 3 else "")
            raise StorageError(
                f"{self.address} holds plain objects, not a folder of beholder, and is only read: {some} "
                f"was not stored. It stays in {self.folder} until the next command on this address; write to an "
                "address of its own"
            )
        return Transfer(0, 0)

    def _fetch(self, path: str) -> None:
        """Write an object to its local file, which appears when it is whole."""
        target, incoming = self.folder / path, self.folder / INCOMING / path
        incoming.parent.mkdir(parents=True, exist_ok=True)
        target.parent.mkdir(parents=True, exist_ok=True)
        with reaching(self.address):
            try:
                reply = obstore.get(self._remote.store, path)
            except FileNotFoundError as error:
                raise StorageError(f"{self.address}/{path} was deleted meanwhile; try again") from error
            listed, meta = self._remote.objects[path], reply.meta
            tag = meta["e_tag"] or meta["last_modified"].isoformat()
            with incoming.open("wb") as file:
                for chunk in reply.stream(min_chunk_size=CHUNK):
                    file.write(chunk)
        size = incoming.stat().st_size
        if PlainObject(tag, size) != listed:
            raise StorageError(f"{self.address}/{path} was replaced meanwhile; try again")
        incoming.replace(target)
        self._fetched[path] = _Fetched(tag, size, target.stat().st_mtime_ns)

    def _recorded(self, path: str) -> PlainObject | None:
        last = self._fetched.get(path)
        return PlainObject(last.tag, last.size) if last else None

    def _changes(self) -> list[str]:
        """Return the paths of local files that are not as they were fetched, or were not fetched at all."""
        here = dict(self._files())
        as_fetched = {path: (last.size, last.changed) for path, last in self._fetched.items()}
        return sorted(path for path in here.keys() | as_fetched.keys() if here.get(path) != as_fetched.get(path))

    def _files(self) -> Iterator[tuple[str, tuple[int, int]]]:
        for root, folders, files in os.walk(self.folder):
            folders[:] = [name for name in folders if not name.startswith(".")]
            for name in files:
                if not name.startswith("."):
                    path = Path(root, name)
                    status = path.stat()
                    yield path.relative_to(self.folder).as_posix(), (status.st_size, status.st_mtime_ns)

    def _read_state(self) -> dict[str, _Fetched]:
        if not self._state.is_file():
            return {}
        return {
            path: _Fetched(**fields) for path, fields in json.loads(self._state.read_bytes())["fetched"].items()
        }

    def _write_state(self) -> None:
        state = {"address": self.address, "fetched": {path: asdict(last) for path, last in self._fetched.items()}}
        with write_atomically(self._state) as file:
            file.write(json.dumps(state).encode())
