"""The index of a folder: which files it has, and the hash of each."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath, PurePosixPath

from beholder.errors import ForeignIndexError, StorageError

FORM = 1
"""Version of the document."""

DATABASE_ENDINGS = (".sqlite", ".sqlite-wal", ".sqlite-shm", ".sqlite-journal")
FOLDERS_LEFT = frozenset({"cache", "__pycache__"})


@dataclass(frozen=True, slots=True)
class Entry:
    """The content of a file: SHA-256 and number of bytes."""

    sha256: str
    size: int


@dataclass(frozen=True)
class Index:
    """The files of a folder, by their paths in it."""

    files: Mapping[str, Entry]

    def to_json(self) -> bytes:
        """As it is stored; equal folders have equal bytes."""
        files = {path: [entry.sha256, entry.size] for path, entry in sorted(self.files.items())}
        return json.dumps({"beholder": FORM, "files": files}, ensure_ascii=False, indent=0).encode()

    @classmethod
    def from_json(cls, text: bytes, *, where: str) -> "Index":
        """Read an index.

        Args:
            text: The document.
            where: Its name, for errors.

        Raises:
            ForeignIndexError: Where it is something else.
            StorageError: Where it is an index of a later version, or one that names files outside of the folder.
        """
        try:
            document = json.loads(text)
            form, files = document["beholder"], document["files"]
            entries = {path: Entry(str(sha256), int(size)) for path, (sha256, size) in files.items()}
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise ForeignIndexError(
                f"{where} is not an index of a folder of beholder, which has the keys 'beholder' and 'files', but "
                "someone else's document. Name an address that is empty, or has a folder of beholder"
            ) from error
        if form != FORM:
            raise StorageError(f"{where} has the form {form!r}, expected {FORM}: install a newer beholder")
        astray = [path for path in entries if not is_inside(path)]
        if astray:
            raise StorageError(f"{where} names files outside of its folder: {', '.join(sorted(astray)[:3])}")
        return cls(entries)


def is_inside(path: str) -> bool:
    """Whether a path of an index stays in its folder."""
    parts = PurePosixPath(path).parts
    return bool(parts) and not path.startswith("/") and "\\" not in path and ".." not in parts


def is_published(path: PurePath) -> bool:
    """Whether a file of a folder belongs into storage.

    Databases do not, since they hold who raters are; nor do hidden and temporary files, or what can be made again.
    """
    if any(part.startswith(".") or part in FOLDERS_LEFT for part in path.parts):
        return False
    return not path.name.endswith(DATABASE_ENDINGS)
