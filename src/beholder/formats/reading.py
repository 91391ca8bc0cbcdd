"""Reading JSON that others wrote, and checking entry by entry."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeGuard

from beholder.errors import TableError

POINTER = b"version https://git-lfs"
"""How a file begins that git-LFS has not fetched."""

Entry = dict[str, Any]


def read_list(path: Path) -> list[Any]:
    """A JSON file that holds a list."""
    content = read_bytes(path)
    try:
        found = json.loads(content)
    except ValueError as error:
        raise TableError(str(path), [f"not valid JSON: {error}"]) from error
    if not isinstance(found, list):
        raise TableError(str(path), [f"a list of entries was expected; found {type(found).__name__}"])
    return found


def read_bytes(path: Path) -> bytes:
    """All bytes of a file that is really there."""
    if not path.is_file():
        raise TableError(str(path), ["no such file"])
    content = path.read_bytes()
    if content.startswith(POINTER):
        raise TableError(
            str(path), ["a git-LFS pointer, not the file itself"], advice="Fetch it with: git lfs pull"
        )
    return content


def check_entries(path: Path, entries: list[Any], faults_of: Callable[[Entry], list[str]]) -> None:
    """Raise an error with the faults of all entries, counted from 0."""
    faults = []
    for number, entry in enumerate(entries):
        found = faults_of(entry) if isinstance(entry, dict) else [f"not an object but {type(entry).__name__}"]
        faults += [f"entry {number}: {fault}" for fault in found]
    if faults:
        raise TableError(str(path), faults)


def texts(value: object) -> TypeGuard[list[str]]:
    """Whether this is a list of texts, not empty."""
    return isinstance(value, list) and bool(value) and all(isinstance(part, str) for part in value)


def numbers(value: object) -> TypeGuard[list[int]]:
    """Whether this is a list of whole numbers; true and false are none."""
    return isinstance(value, list) and all(isinstance(part, int) and not isinstance(part, bool) for part in value)
