"""Hashes of files on disk, so that a file that has not changed since is not read again.

As in Git's index, a file counts as unchanged where size, inode, time of modification and time of change are what
they were when it was hashed. The last of these is set by the system at every write, and no program sets it back.
A file that changed less than two seconds before it was hashed is not remembered: it could change once more within
the same tick of the clock.
"""

import json
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from beholder.tables.atomic import write_atomically

RECENT = 2_000_000_000
"""Nanoseconds: some file systems have times of two seconds' resolution."""

Stamp = tuple[int, int, int, int]
"""Size, inode, and the times of modification and of change, in nanoseconds."""


@dataclass(slots=True)
class HashIndex:
    """Stamps and hashes of files by path; written by :meth:`save`.

    Example:
        >>> index = HashIndex.load(Path("absent.json"))
        >>> index.find(Path("absent.png")) is None
        True
    """

    path: Path
    entries: dict[str, tuple[Stamp, str]] = field(default_factory=dict)
    changed: bool = False

    @classmethod
    def load(cls, path: Path) -> "HashIndex":
        """Return what is on the disk; a file that is missing or damaged counts as empty."""
        try:
            content = json.loads(path.read_bytes())
            entries = {
                name: ((size, inode, modified, changed), sha256)
                for name, (size, inode, modified, changed, sha256) in content.items()
            }
        except (OSError, ValueError, TypeError, AttributeError):
            return cls(path)
        return cls(path, entries)

    def find(self, file: Path) -> bytes | None:
        """Return the hash of a file that has not changed since it was hashed; otherwise ``None``."""
        entry = self.entries.get(os.fspath(file))
        if entry is None or stamp_of(file) != entry[0]:
            return None
        return bytes.fromhex(entry[1])

    def add(self, files: Sequence[Path], stamps: Sequence[Stamp | None], hashes: Sequence[bytes | str]) -> None:
        """Remember files by the stamps that they had before they were hashed; those not hashed are left out."""
        if sys.platform == "win32":
            return  # the time of change is that of creation there
        latest = time.time_ns() - RECENT
        for file, stamp, sha256 in zip(files, stamps, hashes, strict=True):
            if stamp is not None and isinstance(sha256, bytes) and max(stamp[2:]) < latest:
                self.entries[os.fspath(file)] = (stamp, sha256.hex())
                self.changed = True

    def save(self) -> None:
        """Write the index, if anything was added."""
        if self.changed:
            content = {name: [*stamp, sha256] for name, (stamp, sha256) in self.entries.items()}
            with write_atomically(self.path) as file:
                file.write(json.dumps(content).encode())


def stamp_of(file: Path) -> Stamp | None:
    """Return what shows whether a file has changed; ``None`` where there is none."""
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_size, status.st_ino, status.st_mtime_ns, status.st_ctime_ns
