"""Contents that some local copy has already, by their hashes: what several folders share is fetched once.

Copies are not linked to each other: commands change some files in place, such as features that grow, and a link
would carry the change into another folder.
"""

import json
import shutil
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from beholder.storage.index import Entry
from beholder.tables.atomic import write_atomically
from beholder.tables.provenance import file_hash


@dataclass(frozen=True, slots=True)
class Known:
    """The hash of a local file as long as its size and its time of change are these."""

    size: int
    changed: int
    sha256: str

    def holds(self, path: Path) -> bool:
        """Whether the file is there, with this size and time of change."""
        try:
            status = path.stat()
        except OSError:
            return False
        return (status.st_size, status.st_mtime_ns) == (self.size, self.changed)


def state_file(folder: Path) -> Path:
    """Where it is recorded what a local copy has."""
    return folder.with_name(folder.name + ".json")


def contents_of_copies(copies: Path, hashes: Collection[str]) -> dict[str, Path]:
    """Return a file for each of the hashes that one of the local copies in a folder has.

    Args:
        copies: The folder in which all local copies are, with the record of each beside it.
        hashes: The contents that are wanted.
    """
    places: dict[str, Path] = {}
    for state in sorted(copies.glob("*.json")):
        files = json.loads(state.read_bytes())["known"]
        for name, known in ((name, Known(*fields)) for name, fields in files.items()):
            path = state.with_suffix("") / name
            if known.sha256 in hashes and known.sha256 not in places and known.holds(path):
                places[known.sha256] = path
    return places


def copied(source: Path, entry: Entry, target: Path) -> bool:
    """Copy a file to another, atomically; ``False``, and no copy, where it is gone or has another content."""
    try:
        with source.open("rb") as content, write_atomically(target) as file:
            shutil.copyfileobj(content, file)
    except FileNotFoundError:
        return False
    if file_hash(target) == entry.sha256:
        return True
    target.unlink()
    return False
