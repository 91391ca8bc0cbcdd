"""Reading files that others wrote, and checking them entry by entry."""

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeGuard, TypeVar

import polars as pl

from beholder.errors import TableError

POINTER = b"version https://git-lfs"
"""How a file begins that git-LFS has not fetched."""

MOST_FAULTS = 100
"""Faults of one file that are listed one by one."""

Entry = dict[str, Any]
T = TypeVar("T")


def read_list(path: Path) -> list[Any]:
    """A JSON file that holds a list."""
    content = read_bytes(path)
    try:
        entries = json.loads(content)
    except ValueError as error:
        raise TableError(str(path), [f"not valid JSON: {error}"]) from error
    if not isinstance(entries, list):
        raise TableError(str(path), [f"a list of entries was expected; found {type(entries).__name__}"])
    return entries


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


def read_text(path: Path) -> str:
    """All text of a file, in UTF-8 with or without a mark at its beginning."""
    try:
        return read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise TableError(str(path), [f"not UTF-8 text: {error}"]) from error


def read_all(subject: str, readers: Sequence[Callable[[], T]]) -> list[T]:
    """What each reader gives; where several of them refuse their file, the faults of all are raised together."""
    contents: list[T] = []
    refused: list[TableError] = []
    for reader in readers:
        try:
            contents.append(reader())
        except TableError as error:
            refused.append(error)
    if len(refused) == 1:
        raise refused[0]
    if refused:
        faults = [f"{error.subject}: {fault}" for error in refused for fault in error.faults]
        raise TableError(subject, faults, advice=next((error.advice for error in refused if error.advice), ""))
    return contents


def check_entries(path: Path, entries: list[Any], faults_of: Callable[[Entry], list[str]]) -> None:
    """Raise an error with the faults of all entries, counted from 0."""
    faults = []
    for number, entry in enumerate(entries):
        is_object = isinstance(entry, dict)
        entry_faults = faults_of(entry) if is_object else [f"not an object but {type(entry).__name__}"]
        faults += [f"entry {number}: {fault}" for fault in entry_faults]
    if faults:
        raise TableError(str(path), shortened(faults))


def shortened(faults: list[str]) -> list[str]:
    """The first faults of a file in which nearly every row is wrong, and how many more there are."""
    if len(faults) <= MOST_FAULTS:
        return faults
    return [*faults[:MOST_FAULTS], f"and {len(faults) - MOST_FAULTS:,} more faults"]


def texts(value: object) -> TypeGuard[list[str]]:
    """Whether this is a list of texts, not empty."""
    return isinstance(value, list) and bool(value) and all(isinstance(part, str) for part in value)


def numbers(value: object) -> TypeGuard[list[int]]:
    """Whether this is a list of whole numbers; true and false are none."""
    return isinstance(value, list) and all(isinstance(part, int) and not isinstance(part, bool) for part in value)


def read_csv(path: Path, columns: Mapping[str, type[pl.DataType]]) -> pl.DataFrame:
    """The rows of a CSV file with just these columns; every value that is not of its type is named."""
    text = read_text(path)
    quick = _quick_csv(text, columns)
    if quick is not None:
        return quick
    try:
        rows = list(csv.reader(io.StringIO(text)))
    except csv.Error as error:
        raise TableError(str(path), [f"not a CSV file: {error}"]) from error
    if not rows or rows[0] != list(columns):
        header = ", ".join(rows[0]) if rows else "nothing"
        raise TableError(str(path), [f"columns {header}; expected {', '.join(columns)}"])
    faults: list[str] = []
    values: dict[str, list[object]] = {name: [] for name in columns}
    for number, row in enumerate(rows[1:], start=2):
        if len(row) != len(columns):
            faults.append(f"line {number}: {len(row)} values; expected {len(columns)}")
            continue
        for (name, kind), value in zip(columns.items(), row, strict=True):
            try:
                values[name].append(_typed(value, kind))
            except ValueError:
                faults.append(f"line {number}: {name or 'the number'} is {value!r}; a number was expected")
    if faults:
        raise TableError(str(path), shortened(faults))
    return pl.DataFrame(values, schema=dict(columns))


def _quick_csv(text: str, columns: Mapping[str, type[pl.DataType]]) -> pl.DataFrame | None:
    """The rows by Polars, much faster; nothing where a line does not fit: it is then looked for by hand."""
    if text.partition("\n")[0].rstrip("\r") != ",".join(columns):
        return None
    places = {f"column_{place}": kind for place, kind in enumerate(columns.values())}
    try:
        frame = pl.read_csv(io.BytesIO(text.encode()), has_header=False, skip_rows=1, schema=places)
    except pl.exceptions.PolarsError:
        return None
    if any(kind is pl.Int64 and frame[name].null_count() for name, kind in places.items()):
        return None
    return frame.with_columns(pl.col(pl.String).fill_null("")).rename(dict(zip(places, columns, strict=True)))


def write_csv(path: Path, columns: Sequence[str], frame: pl.DataFrame) -> None:
    """A CSV file as Python writes it: numbers with all their digits, nothing where there is no value."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(frame.select(columns).iter_rows())


def _typed(value: str, kind: type[pl.DataType]) -> object:
    if kind is pl.String:
        return value
    if kind is pl.Int64:
        return int(value)
    return float(value) if value else None
