"""Finding and reading the files of a prompt set: in a clone of its repository, or copied flat into a folder."""

import csv
import hashlib
import io
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from beholder.errors import PromptsError

HASH_DIGITS = 16
"""Hexadecimal digits of a SHA-256 by which a published file is recognised."""


def find_file(root: Path, repository_path: str) -> Path:
    """Return a file of a set: ``root`` itself, ``root/<its name>``, or its path within a clone at ``root``.

    Args:
        root: the file, or a folder.
        repository_path: where the file is in the repository that publishes it.

    Returns:
        The path of a file that exists; an error names the places that were tried.
    """
    name = repository_path.rpartition("/")[2]
    if root.is_file() and root.name == name:
        return root
    tried = [root / name, root / repository_path]
    for path in tried:
        if path.is_file():
            return path
    places = " nor ".join(str(path) for path in dict.fromkeys(tried))
    raise PromptsError(str(root), [f"neither {places} exists" if len(set(tried)) > 1 else f"no {places}"])


def read_text(path: Path) -> str:
    """Return the text of a file in UTF-8, with or without a byte order mark."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise PromptsError(str(path), [f"cannot be read ({error})"]) from error


def read_rows(path: Path, *, delimiter: str = ",", needs: tuple[str, ...] = ()) -> Iterator[dict[str, str]]:
    """Yield the rows of a CSV or TSV file by the names in its first line; ``needs`` must be among them."""
    reader = csv.DictReader(io.StringIO(read_text(path), newline=""), delimiter=delimiter)
    missing = [name for name in needs if name not in (reader.fieldnames or ())]
    if missing:
        names = ", ".join(reader.fieldnames or ()) or "none"
        raise PromptsError(str(path), [f"no column '{name}'; columns: {names}" for name in missing])
    yield from reader


def read_json(path: Path) -> Any:  # noqa: ANN401 - whatever the file holds
    """Return the content of a JSON file."""
    try:
        return json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise PromptsError(str(path), [f"not valid JSON: {error}"]) from error


def read_json_lines(path: Path, *, needs: tuple[str, ...] = ()) -> list[Mapping[str, Any]]:
    """Return the objects of a JSON lines file; an error lists every line that is not one, or lacks a key."""
    rows: list[Mapping[str, Any]] = []
    faults: list[str] = []
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            faults.append(f"line {number}: not valid JSON: {error}")
            continue
        if not isinstance(row, dict) or any(name not in row for name in needs):
            faults.append(f"line {number}: an object with {', '.join(needs) or 'named values'} is expected")
            continue
        rows.append(row)
    if faults:
        raise PromptsError(str(path), faults)
    return rows


def hash_start(path: Path) -> str:
    """Return the first digits of the SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:HASH_DIGITS]
