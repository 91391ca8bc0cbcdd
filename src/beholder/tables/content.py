"""The content of a table as hashes: equal for equal rows, whatever file, compression or record they have.

A lock holds these hashes. Those of the columns and the short marks of the rows say where two tables differ when
only the hashes of the first are left.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from beholder.tables.check import conform
from beholder.tables.schema import TYPE_NAMES, Table

MOST_MARKS = 65_536
"""Rows of a larger table share marks, so that a lock stays small."""
MARK = 4
"""Hexadecimal digits of a mark: they say where tables differ, never whether."""

Codes = NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class TableContent:
    """The hashes of a table."""

    rows: int
    sha256: str
    """Of all columns."""
    columns: dict[str, str]
    """Column -> SHA-256 of its values in order; columns without any value are left out."""
    rows_per_mark: int
    marks: str
    """Four hexadecimal digits for every ``rows_per_mark`` rows."""


def hash_content(frame: pl.DataFrame, table: Table) -> TableContent:
    """Hash the rows of a table in their order.

    A column without any value does not count, so that a nullable column can be added to a schema later.

    Example:
        >>> from beholder.tables.schemas.new import PROMPTS
        >>> frame = PROMPTS.frame([{"prompt": "p1", "text": "a cat"}, {"prompt": "p2", "text": "a dog"}])
        >>> content = hash_content(frame, PROMPTS)
        >>> content.rows, list(content.columns), len(content.marks)
        (2, ['prompt', 'text'], 8)
    """
    frame = conform(frame, table)
    filled = [column for column in table.columns if frame[column.name].null_count() < frame.height]
    columns = {column.name: hashlib.sha256(_column_bytes(frame[column.name])).hexdigest() for column in filled}
    types = {column.name: TYPE_NAMES[column.dtype] for column in filled}
    described = [frame.height, [[name, types[name], digest] for name, digest in columns.items()]]
    rows_per_mark = max(-(-frame.height // MOST_MARKS), 1)
    return TableContent(
        rows=frame.height,
        sha256=hashlib.sha256(json.dumps(described, ensure_ascii=False).encode()).hexdigest(),
        columns=columns,
        rows_per_mark=rows_per_mark,
        marks=_marks([_codes(frame[name]) for name in columns], frame.height, rows_per_mark),
    )


def first_marked_difference(first: TableContent, second: TableContent) -> int | None:
    """Return the first row whose mark differs, or the first of those that share it; ``None``: no mark differs.

    Where one table has more rows than the other, and all rows of the shorter are alike, it is the first row more.
    """
    if first.rows_per_mark != second.rows_per_mark:
        return 0
    pairs = zip(_split(first.marks), _split(second.marks), strict=False)
    differing = next((place for place, (mark, other) in enumerate(pairs) if mark != other), None)
    if differing is not None:
        return differing * first.rows_per_mark
    return None if first.rows == second.rows else min(first.rows, second.rows)


def _split(marks: str) -> list[str]:
    return [marks[start : start + MARK] for start in range(0, len(marks), MARK)]


def _column_bytes(column: pl.Series) -> bytes:
    """Return which values there are, and these: numbers as 8 bytes, texts with their lengths, lists unfolded."""
    valid = column.is_not_null().to_numpy().astype(np.uint8).tobytes()
    if isinstance(column.dtype, pl.List):
        lengths = column.list.len().fill_null(0).to_numpy().astype("<i8").tobytes()
        elements = column.filter(column.list.len() > 0).explode()
        return valid + lengths + (_column_bytes(elements) if elements.len() else b"")
    if column.dtype in (pl.String, pl.Binary):
        encoded = [_encoded(each) for each in column.drop_nulls().to_list()]
        return valid + np.array([len(each) for each in encoded], "<i8").tobytes() + b"".join(encoded)
    return valid + _bits(column).tobytes()


def _encoded(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.encode()


def _bits(column: pl.Series) -> Codes:
    """Return numbers as 64 bits each, missing ones as 0, all that are not a number alike."""
    if column.dtype.is_float():
        numbers = column.fill_null(0.0).to_numpy().astype("<f8")
        return np.where(np.isnan(numbers), np.nan, numbers).astype("<f8").view("<u8")
    integers: Codes = column.to_physical().cast(pl.Int64).fill_null(0).to_numpy().astype("<i8").view("<u8")
    return integers


def _codes(column: pl.Series) -> Codes:
    """Return 64 bits for every value of a column, 0 where there is none."""
    if isinstance(column.dtype, pl.List):
        return _codes(
            pl.Series(column.name, [None if row is None else json.dumps(row) for row in column.to_list()])
        )
    if column.dtype in (pl.String, pl.Binary):
        codes = {each: _text_code(each) for each in column.drop_nulls().unique().to_list()}
        plain = np.array([0 if each is None else codes[each] for each in column.to_list()], np.uint64)
    else:
        plain = _bits(column)
    valid = column.is_not_null().to_numpy().astype(np.uint64)
    return _mix(plain + np.uint64(_text_code(column.name))) * valid


def _text_code(text: str | bytes) -> int:
    return int.from_bytes(hashlib.blake2b(_encoded(text), digest_size=8).digest(), "little")


def _marks(columns: Sequence[Codes], rows: int, rows_per_mark: int) -> str:
    """Return the marks of all rows, from the sums of the codes of their columns."""
    mixed: Codes = np.zeros(rows, np.uint64)
    for codes in columns:
        mixed += codes
    if rows_per_mark > 1:
        mixed = _mix(mixed + np.arange(rows).astype(np.uint64))
        mixed = np.add.reduceat(mixed, np.arange(0, rows, rows_per_mark))
    return "".join(f"{int(code) >> 48:04x}" for code in _mix(mixed))


def _mix(codes: Codes) -> Codes:
    """Spread every bit over all bits (the finaliser of SplitMix64)."""
    codes = (codes ^ (codes >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    codes = (codes ^ (codes >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return codes ^ (codes >> np.uint64(31))
