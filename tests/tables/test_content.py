"""Hashes of a table's content: a value by hand, what does not count, and where two tables differ."""

import hashlib
import json
import struct
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beholder.tables import content
from beholder.tables.content import first_marked_difference, hash_content
from beholder.tables.schema import FLAG, INTEGER, INTEGERS, MOMENT, NUMBER, TEXT, TEXTS, Column, Table

TABLE = Table(
    name="cells",
    about="One row per cell.",
    stage="new",
    columns=(
        Column("name", TEXT, "A name."),
        Column("count", INTEGER, "A count.", nullable=True),
        Column("score", NUMBER, "A score.", nullable=True),
        Column("right", FLAG, "A flag.", nullable=True),
        Column("at", MOMENT, "A moment.", nullable=True),
        Column("words", TEXTS, "Words.", nullable=True),
        Column("places", INTEGERS, "Places.", nullable=True),
    ),
    key=("name",),
)


def frame(*rows: dict[str, object]) -> pl.DataFrame:
    return TABLE.frame([{"name": f"n{number}", **row} for number, row in enumerate(rows)])


def test_by_hand() -> None:
    """Two rows, names 'n0' and 'n1', counts 5 and none; the other columns hold nothing and do not count."""
    hashes = hash_content(frame({"count": 5}, {}), TABLE)
    # texts: both there (01 01), their lengths 2 and 2 as 64 bits, then the bytes
    names = b"\1\1" + struct.pack("<qq", 2, 2) + b"n0n1"
    # numbers: the first is there (01 00), then 5 and 0 as 64 bits
    counts = b"\1\0" + struct.pack("<qq", 5, 0)
    columns = {"name": hashlib.sha256(names).hexdigest(), "count": hashlib.sha256(counts).hexdigest()}
    assert hashes.columns == columns
    described = [2, [["name", "text", columns["name"]], ["count", "integer", columns["count"]]]]
    assert hashes.sha256 == hashlib.sha256(json.dumps(described).encode()).hexdigest()
    assert (hashes.rows, hashes.rows_per_mark, len(hashes.marks)) == (2, 1, 8)


def test_the_form_of_the_file_does_not_count(tmp_path: Path) -> None:
    original = frame({"count": 1, "words": ["a", "b"]}, {"score": 0.5, "words": []}, {"places": [3]})
    for number, compression in enumerate(("zstd", "uncompressed", "lz4")):
        path = tmp_path / f"{number}.parquet"
        original.write_parquet(path, compression=compression, metadata={"beholder": str(number)})  # type: ignore[arg-type]
        assert hash_content(pl.read_parquet(path), TABLE) == hash_content(original, TABLE)


def test_a_column_without_values_does_not_count() -> None:
    original = frame({"count": 1}, {"count": 2})
    assert hash_content(original.drop("score", "at"), TABLE) == hash_content(original, TABLE)
    assert hash_content(TABLE.empty(), TABLE).columns == {}


CELLS = {
    "count": st.none() | st.integers(-(2**63), 2**63 - 1),
    "score": st.none() | st.floats(allow_nan=True),
    "right": st.none() | st.booleans(),
    "words": st.none() | st.lists(st.text(max_size=3), max_size=3),
    "places": st.none() | st.lists(st.integers(0, 9), max_size=3),
}


@given(
    rows=st.lists(st.fixed_dictionaries(CELLS), min_size=1, max_size=6),
    where=st.integers(0, 5),
    change=st.sampled_from(list(CELLS)).flatmap(lambda name: st.tuples(st.just(name), CELLS[name])),
)
def test_any_other_cell_changes_the_hash_and_its_row_is_found(
    rows: list[dict[str, object]], where: int, change: tuple[str, object]
) -> None:
    column, cell = change
    where %= len(rows)
    other = [dict(row) for row in rows]
    other[where][column] = cell
    first, second = frame(*rows), frame(*other)
    same = first.equals(second, null_equal=True) and not _signed_zeros_differ(first, second)
    hashes, changed = hash_content(first, TABLE), hash_content(second, TABLE)
    assert (hashes.sha256 == changed.sha256) == same
    if not same:
        assert [name for name in first.columns if hashes.columns.get(name) != changed.columns.get(name)] == [
            column
        ]
        assert first_marked_difference(hashes, changed) == where


def _signed_zeros_differ(first: pl.DataFrame, second: pl.DataFrame) -> bool:
    """−0 equals 0, but its bits do not."""
    return [str(score) for score in first["score"]] != [str(score) for score in second["score"]]


def test_a_longer_table_differs_after_the_last_row_of_the_shorter() -> None:
    short, long = hash_content(frame({}, {}), TABLE), hash_content(frame({}, {}, {}), TABLE)
    assert first_marked_difference(short, long) == first_marked_difference(long, short) == 2


def test_rows_of_a_large_table_share_marks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(content, "MOST_MARKS", 4)
    rows: list[dict[str, object]] = [{"count": number} for number in range(10)]
    hashes = hash_content(frame(*rows), TABLE)
    assert (hashes.rows_per_mark, len(hashes.marks)) == (3, 16)  # 3 + 3 + 3 + 1 rows
    rows[7], rows[8] = rows[8], rows[7]  # an exchange within a mark is seen as well
    assert first_marked_difference(hashes, hash_content(frame(*rows), TABLE)) == 6
