"""A local copy of a folder in object storage, in which commands work, and what is published of it.

Only what changed is fetched and stored. The copy stays between commands, so a command that was killed goes on
where it stopped; it is never mixed with what someone else published meanwhile.
"""

import json
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from beholder.errors import StorageError, SupersededError
from beholder.storage.held_folder import held_folder
from beholder.storage.index import Entry, Index, is_published
from beholder.storage.index_object import Version
from beholder.storage.known_contents import Known, contents_of_copies, copied, state_file
from beholder.storage.remote_folder import RemoteFolder
from beholder.storage.transfer import Transfer, all_at_once
from beholder.tables.atomic import write_atomically
from beholder.tables.provenance import file_hash

ATTEMPTS = 8
"""How often it is tried to publish where others do so at the same time."""


class WorkingCopy:
    """The local copy of one remote folder; use :func:`working_copy`."""

    def __init__(self, remote: RemoteFolder, folder: Path) -> None:
        self.remote, self.folder, self.address = remote, folder, remote.address
        self._state = state_file(folder)
        self._base, self._known = self._read_state()

    @property
    def place(self) -> Path:
        """The folder on this machine."""
        return self.folder

    def update(self, made_again: Collection[str] = ()) -> Transfer:
        """Bring the copy to what is published, unless it holds changes that never were.

        Changes that a killed command left are kept where nobody else published meanwhile.

        Args:
            made_again: Files that the command writes again from elsewhere, such as a database. Where there are
                any, what someone else published is merged: it replaces unpublished changes of these files, and
                unpublished changes of other files are kept, unless someone else changed the same file otherwise.

        Returns:
            What was fetched.
        """
        now, own = self.remote.read(), self._index().files
        base = self._base.index.files if self._base else {}
        published = now.index.files if now else {}
        moved = (now.tag if now else None) != (self._base.tag if self._base else None)
        unpublished, theirs = _changed(base, own), _changed(base, published)
        if unpublished and not moved:
            return Transfer(0, 0)
        clashes = {path for path in unpublished & theirs if own.get(path) != published.get(path)}
        if own != published and (clashes.difference(made_again) if made_again else unpublished):
            raise SupersededError(
                f"{self.folder} holds changes of {self.remote.address} that were never published, and someone "
                "else published meanwhile. Copy the folder if you need these changes, then delete it and try again"
            )
        kept = unpublished - theirs
        for path in own.keys() - published.keys() - kept:
            (self.folder / path).unlink()
        missing = {path: entry for path, entry in published.items() if path not in kept and own.get(path) != entry}
        fetched = self._complete(missing)
        self._base = now
        self._index()
        self._write_state()
        return fetched

    def clear(self) -> None:
        """Empty the copy, and forget what it was a copy of: the next publication makes a new folder."""
        for path in self._index().files:
            (self.folder / path).unlink()
        self._base = None
        self._write_state()

    def publish(self) -> Transfer:
        """Store what changed, and make it the folder that others read."""
        index = self._index()
        before = self._base.index.files if self._base else {}
        if index.files == before:
            return Transfer(0, 0)
        stored = {entry.sha256 for entry in before.values()}
        fresh = {entry.sha256: path for path, entry in index.files.items() if entry.sha256 not in stored}
        all_at_once(lambda path: self.remote.add(index.files[path], self.folder / path), fresh.values())
        self._base = self.remote.publish(index, self._base)
        self._write_state()
        return Transfer(len(fresh), sum(index.files[path].size for path in fresh.values()))

    def has_unpublished(self, paths: Sequence[str]) -> bool:
        """Whether one of these files is not as it was when the copy was last updated or published."""
        before = self._base.index.files if self._base else {}
        files = {path: self.folder / path for path in paths if (self.folder / path).is_file()}
        return any(path not in before or before[path].sha256 != file_hash(file) for path, file in files.items())

    def publish_files(self, paths: Sequence[str], renew: Callable[[], object]) -> Transfer:
        """Publish some files alone, over whatever is published now, while a command still works in the copy.

        Args:
            paths: The files; one that is not there is passed over.
            renew: Brings them up to date with what others wrote, from where all of them write, such as a database.
                It is called after it was read what is published, so that the files lack nothing of that.

        Returns:
            What was stored.

        Raises:
            SupersededError: Where others published again and again meanwhile.
        """
        for _ in range(ATTEMPTS):
            now = self.remote.read()
            renew()
            with TemporaryDirectory(prefix="beholder-publish-") as room:
                try:
                    return self._publish_over(now, paths, Path(room))
                except SupersededError:
                    continue
        raise SupersededError(f"others published {self.address} {ATTEMPTS} times meanwhile")

    def _publish_over(self, now: Version | None, paths: Sequence[str], room: Path) -> Transfer:
        """Add files to what is published; each is copied first, since the command may replace it at any time."""
        published = now.index.files if now else {}
        fresh: dict[str, Entry] = {}
        for place, path in enumerate(path for path in paths if (self.folder / path).is_file()):
            content = Path(shutil.copyfile(self.folder / path, room / str(place)))
            entry = Entry(file_hash(content), content.stat().st_size)
            if published.get(path) != entry:
                self.remote.add(entry, content)
                fresh[path] = entry
        if not fresh:
            return Transfer(0, 0)
        version = self.remote.publish(Index({**published, **fresh}), now)
        if (now.tag if now else None) == (self._base.tag if self._base else None):
            self._base = version
            self._write_state()
        return Transfer(len(fresh), sum(entry.size for entry in fresh.values()))

    def _complete(self, missing: Mapping[str, Entry]) -> Transfer:
        """Write files that are missing: each content is fetched once, and only if no local copy has it."""
        places: dict[str, list[str]] = {}
        for path, entry in missing.items():
            places.setdefault(entry.sha256, []).append(path)
        sources = contents_of_copies(self.folder.parent, places.keys())
        fetched: list[int] = []

        def write(path: str) -> None:
            entry, target = missing[path], self.folder / path
            if entry.sha256 not in sources or not copied(sources[entry.sha256], entry, target):
                self.remote.fetch(entry, target)
                fetched.append(entry.size)

        all_at_once(write, [paths[0] for paths in places.values()])
        for first, *others in places.values():
            for path in others:
                if not copied(self.folder / first, missing[path], self.folder / path):
                    raise StorageError(f"{self.folder / first} was changed meanwhile; try again")
        return Transfer(len(fetched), sum(fetched))

    def _index(self) -> Index:
        """The files as they are now; those whose size and time of change are as before are not read again."""
        files: dict[str, Entry] = {}
        hashes: dict[str, Known] = {}
        for path in sorted(self.folder.rglob("*")):
            relative = path.relative_to(self.folder)
            if not path.is_file() or not is_published(relative):
                continue
            name, status = relative.as_posix(), path.stat()
            last = self._known.get(name)
            if last is None or (last.size, last.changed) != (status.st_size, status.st_mtime_ns):
                last = Known(status.st_size, status.st_mtime_ns, file_hash(path))
            hashes[name], files[name] = last, Entry(last.sha256, last.size)
        self._known = hashes
        return Index(files)

    def _read_state(self) -> tuple[Version | None, dict[str, Known]]:
        if not self._state.is_file():
            return None, {}
        state = json.loads(self._state.read_bytes())
        hashes = {path: Known(*fields) for path, fields in state["known"].items()}
        if state["tag"] is None:
            return None, hashes
        return Version(Index.from_json(state["index"].encode(), where=str(self._state)), state["tag"]), hashes

    def _write_state(self) -> None:
        state = {
            "address": self.remote.address,
            "tag": self._base.tag if self._base else None,
            "index": self._base.index.to_json().decode() if self._base else "",
            "known": {name: [own.size, own.changed, own.sha256] for name, own in self._known.items()},
        }
        with write_atomically(self._state) as file:
            file.write(json.dumps(state).encode())


@contextmanager
def working_copy(address: str) -> Iterator[WorkingCopy]:
    """The local copy of the folder at an address, for this process alone while the block lasts."""
    remote = RemoteFolder(address)
    with held_folder("remote", remote.address) as folder:
        yield WorkingCopy(remote, folder)


def _changed(before: Mapping[str, Entry], after: Mapping[str, Entry]) -> set[str]:
    """The paths that were added, replaced or deleted."""
    return {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
