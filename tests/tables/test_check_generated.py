"""Laws of the check on generated frames of every table, and its speed on many rows."""

import time
from datetime import UTC, datetime

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beholder.tables.catalogue import TABLES
from beholder.tables.check import conform, faults_in, reference_faults
from beholder.tables.schema import BYTES, FLAG, INTEGER, INTEGERS, MOMENT, NUMBER, TEXT, TEXTS, Column, Table

Row = dict[str, object]

WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
EVERY_TABLE = pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
FEW = settings(max_examples=10, deadline=None)


def cells(column: Column) -> st.SearchStrategy[object]:
    """Values that the column may hold."""
    low, high = column.low, column.high
    integers = st.integers(-(2**40) if low is None else int(low), 2**40 if high is None else int(high))
    numbers = st.floats(low, high, allow_nan=False, allow_infinity=False)
    filled: dict[pl.DataType, st.SearchStrategy[object]] = {
        TEXT: st.sampled_from(column.allowed) if column.allowed else WORDS,
        INTEGER: integers,
        NUMBER: numbers,
        FLAG: st.booleans(),
        MOMENT: st.datetimes(datetime(1970, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC)),
        BYTES: st.binary(max_size=8),
        TEXTS: st.lists(WORDS, max_size=3),
        INTEGERS: st.lists(st.integers(1, 9), max_size=3),
    }
    return st.none() | filled[column.dtype] if column.nullable else filled[column.dtype]


def rows(table: Table) -> st.SearchStrategy[list[Row]]:
    """Some rows with distinct keys; a row refers, if at all, to itself where the table refers to itself."""

    def refer_to_itself(row: Row) -> Row:
        for reference in table.references:
            if reference.table == table.name:
                pairs = zip(reference.columns, reference.target, strict=True)
                row = row | {column: None if row[column] is None else row[target] for column, target in pairs}
        return row

    row = st.fixed_dictionaries({column.name: cells(column) for column in table.columns}).map(refer_to_itself)
    return st.lists(row, min_size=1, max_size=8, unique_by=lambda row: tuple(row[name] for name in table.key))


def targets_of(frame: pl.DataFrame, table: Table) -> dict[str, pl.DataFrame | None]:
    """Of each table referred to, just the rows that are needed."""
    needed: dict[str, pl.DataFrame] = {}
    for reference in table.references:
        keys = frame.select(reference.columns)
        for name in reference.columns:
            if isinstance(frame.schema[name], pl.List):
                keys = keys.explode(name)
        keys = keys.rename(dict(zip(reference.columns, reference.target, strict=True))).drop_nulls()
        if reference.table in needed:
            keys = pl.concat([needed[reference.table], keys])
        needed[reference.table] = keys.unique(maintain_order=True)
    return dict(needed)


def wrong(column: Column) -> list[tuple[object, str]]:
    """Values that the column must not hold, and what the fault is to say."""
    wrong_values: list[tuple[object, str]] = [] if column.nullable else [(None, "is empty in row {row}")]
    if column.dtype == NUMBER:
        wrong_values += [
            (value, f"must be finite (leave unknown values empty): row {{row}} ({value})") for value in NOT_FINITE
        ]
    if column.dtype in (NUMBER, INTEGER) and column.low is not None:
        wrong_values.append((type(1.0 if column.dtype == NUMBER else 1)(column.low - 1), "must be at least"))
    if column.dtype in (NUMBER, INTEGER) and column.high is not None:
        wrong_values.append((type(1.0 if column.dtype == NUMBER else 1)(column.high + 1), "must be at most"))
    if column.allowed:
        wrong_values.append(("never heard of", "allows"))
    if column.dtype in (TEXTS, INTEGERS):
        wrong_values.append(([None], "has an empty list element in row {row}"))
    return wrong_values


NOT_FINITE = (float("nan"), float("inf"), -float("inf"))


@EVERY_TABLE
@given(st.data())
@FEW
def test_what_fits_has_no_faults(table: Table, data: st.DataObject) -> None:
    frame = table.frame(data.draw(rows(table)))
    assert faults_in(frame, table) == []
    assert reference_faults(frame, table, targets_of(frame, table)) == []


@EVERY_TABLE
@given(st.data())
@FEW
def test_a_wrong_value_is_found_where_it_stands_and_nothing_else_is(table: Table, data: st.DataObject) -> None:
    drawn = data.draw(rows(table))
    where = data.draw(st.integers(0, len(drawn) - 1), label="row")
    column = data.draw(st.sampled_from([c for c in table.columns if wrong(c)]), label="column")
    value, saying = data.draw(st.sampled_from(wrong(column)), label="value")
    drawn[where] = drawn[where] | {column.name: value}
    (fault,) = faults_in(table.frame(drawn), table)
    assert fault.startswith(f"column '{column.name}' {saying.format(row=where)}")
    assert f"row {where}" in fault


@EVERY_TABLE
@given(st.data())
@FEW
def test_a_repeated_key_is_found_where_it_stands(table: Table, data: st.DataObject) -> None:
    drawn = data.draw(rows(table))
    copied = data.draw(st.sampled_from(drawn))
    where = data.draw(st.integers(drawn.index(copied) + 1, len(drawn)))
    (fault,) = faults_in(table.frame([*drawn[:where], copied, *drawn[where:]]), table)
    key = ", ".join(repr(copied[name]) for name in table.key)
    assert fault == f"key {' + '.join(table.key)} occurs more than once: row {where} ({key})"


@pytest.mark.parametrize("table", [table for table in TABLES.values() if table.references], ids=lambda t: t.name)
@given(st.data())
@FEW
def test_a_dangling_reference_is_found_where_it_stands(table: Table, data: st.DataObject) -> None:
    frame = table.frame(data.draw(rows(table)))
    targets = targets_of(frame, table)
    reference = data.draw(st.sampled_from(table.references), label="reference")
    where = data.draw(st.integers(0, frame.height - 1), label="row")
    lost: list[str] = []
    for name in reference.columns:
        cell: object = -1 if frame.schema[name] == INTEGER else "never heard of"
        lost.append(repr(cell))
        cell = [cell] if frame.schema[name] == TEXTS else cell
        values = frame[name].to_list()
        frame = frame.with_columns(
            pl.Series(name, [*values[:where], cell, *values[where + 1 :]], frame.schema[name])
        )
    key = ", ".join(lost)
    assert f"{' + '.join(reference.columns)} not found in table '{reference.table}': row {where} ({key})" in (
        reference_faults(frame, table, targets)
    )


@EVERY_TABLE
@given(st.data())
@FEW
def test_columns_that_may_be_empty_may_be_left_out(table: Table, data: st.DataObject) -> None:
    frame = table.frame(data.draw(rows(table)))
    optional = [column.name for column in table.columns if column.nullable and column.name not in table.key]
    left_out = data.draw(st.lists(st.sampled_from(optional), unique=True)) if optional else []
    conformed = conform(frame.drop(left_out), table)
    assert faults_in(conformed, table) == []
    assert conformed.columns == frame.columns
    assert conformed.drop(left_out).equals(frame.drop(left_out))


def test_a_million_answers_are_checked_in_two_seconds_of_processor_time() -> None:
    number = pl.int_range(1_000_000, eager=True)
    session = "s" + (number // 200).cast(pl.String)
    rater = "r" + (number // 400).cast(pl.String)
    answers = conform(
        pl.DataFrame(
            {"trial": "trial-" + number.cast(pl.String), "session": session, "rater": rater}
        ).with_columns(
            question=pl.lit("realism"),
            aspect=pl.lit("realism"),
            attempt=pl.lit(1, dtype=pl.Int64),
            choice=pl.lit("real"),
            seconds=number / 1e6,
            valid=pl.lit(value=True),
            answered=pl.lit(datetime(2025, 5, 1, tzinfo=UTC)),
        ),
        TABLES["answers"],
    )
    targets: dict[str, pl.DataFrame | None] = {
        "trials": answers.select("trial"),
        "sessions": answers.select("session", "rater").unique(),
    }

    def seconds() -> float:
        began = time.process_time()
        assert faults_in(answers, TABLES["answers"]) == []
        assert reference_faults(answers, TABLES["answers"], targets) == []
        return time.process_time() - began

    assert min(seconds() for _ in range(2)) < 2.0
