"""Checking a data frame against its schema: every fault at once, with row numbers and the values found."""

from collections.abc import Mapping

import polars as pl

from beholder.tables.keys import Keys
from beholder.tables.schema import TYPE_NAMES, Column, Reference, Table

SHOWN = 5
"""How many rows of one fault are named; the rest are counted."""


def conform(frame: pl.DataFrame, table: Table) -> pl.DataFrame:
    """Return the frame with the columns in the table's order, and missing nullable columns filled with nulls."""
    missing = [
        pl.lit(None, dtype=column.dtype).alias(column.name)
        for column in table.columns
        if column.nullable and column.name not in frame.columns
    ]
    names = [column.name for column in table.columns]
    filled = frame.with_columns(missing)
    return filled.select(
        [*(n for n in names if n in filled.columns), *(n for n in filled.columns if n not in names)]
    )


def conform_lazily(rows: pl.LazyFrame, table: Table) -> pl.LazyFrame:
    """Return rows that have no unknown columns with the columns of the table, as :func:`conform` does."""
    present = rows.collect_schema().names()
    return rows.select(
        column.name if column.name in present else pl.lit(None, dtype=column.dtype).alias(column.name)
        for column in table.columns
    )


def faults_in(frame: pl.DataFrame, table: Table) -> list[str]:
    """Return the faults of the frame alone: columns, types, nulls, ranges, allowed values and keys."""
    names = {column.name for column in table.columns}
    faults = [
        f"column '{n}' is not known; known: {', '.join(sorted(names))}" for n in frame.columns if n not in names
    ]
    sound: list[Column] = []
    for column in table.columns:
        if column.name not in frame.columns:
            faults.append(f"column '{column.name}' ({TYPE_NAMES[column.dtype]}) is missing")
        elif frame.schema[column.name] != column.dtype:
            dtype = frame.schema[column.name]
            faults.append(
                f"column '{column.name}' holds {dtype}, expected {TYPE_NAMES[column.dtype]} ({column.dtype})"
            )
        else:
            sound.append(column)
    for column in sound:
        faults += _value_faults(frame[column.name], column)
    if set(table.key) <= {column.name for column in sound}:
        faults += _key_faults(frame, table)
    return faults


def reference_faults(
    frame: pl.DataFrame, table: Table, targets: Mapping[str, pl.DataFrame | Keys | None]
) -> list[str]:
    """Return the dangling references; ``targets`` holds each referenced table, or ``None`` where it is absent."""
    faults: list[str] = []
    for reference in table.references:
        if any(frame.schema.get(name) != table.column(name).dtype for name in reference.columns):
            continue  # missing or of another type: ``faults_in`` says so
        target = frame if reference.table == table.name else targets.get(reference.table)
        faults += _dangling(frame, reference, target)
    return faults


def _value_faults(values: pl.Series, column: Column) -> list[str]:
    name, faults = column.name, []
    if not column.nullable and values.null_count():
        faults.append(f"column '{name}' is empty in {_rows(values.is_null(), None)}")
    if isinstance(column.dtype, pl.List):
        bad = (values.list.drop_nulls().list.len() < values.list.len()).fill_null(value=False)
        if bad.any():
            faults.append(f"column '{name}' has an empty list element in {_rows(bad, None)}")
        return faults
    if isinstance(column.dtype, pl.Float64):
        bad = ~values.fill_null(0.0).is_finite()
        if bad.any():
            faults.append(f"column '{name}' must be finite (leave unknown values empty): {_rows(bad, values)}")
            values = values.set(bad, None)  # reported once: not out of range as well
    if column.allowed:
        bad = ~values.is_in(list(column.allowed)).fill_null(value=True)
        if bad.any():
            faults.append(f"column '{name}' allows {', '.join(column.allowed)}: {_rows(bad, values)}")
    if column.low is not None:
        bad = (values < column.low).fill_null(value=False)
        if bad.any():
            faults.append(f"column '{name}' must be at least {column.low:g}: {_rows(bad, values)}")
    if column.high is not None:
        bad = (values > column.high).fill_null(value=False)
        if bad.any():
            faults.append(f"column '{name}' must be at most {column.high:g}: {_rows(bad, values)}")
    return faults


def _key_faults(frame: pl.DataFrame, table: Table) -> list[str]:
    again = frame.select(~pl.struct(table.key).is_first_distinct()).to_series()
    if not again.any():
        return []
    key = " + ".join(table.key)
    return [f"key {key} occurs more than once: {_rows(again, frame.select(pl.struct(table.key)).to_series())}"]


def _dangling(frame: pl.DataFrame, reference: Reference, target: pl.DataFrame | Keys | None) -> list[str]:
    columns = list(reference.columns)
    keys = frame.select(columns).with_row_index("row")
    for name in columns:
        if isinstance(frame.schema[name], pl.List):
            keys = keys.explode(name)
    keys = keys.drop_nulls(columns)
    if keys.is_empty():
        return []
    if target is None:
        return [f"{' + '.join(columns)} refers to table '{reference.table}', which is missing"]
    rows = target.rows if isinstance(target, Keys) else target
    if [rows.schema.get(name) for name in reference.target] != [keys.schema[name] for name in columns]:
        key = " + ".join(reference.target)
        return [f"{' + '.join(columns)} refers to {key}, which '{reference.table}' lacks or holds as another type"]
    if isinstance(target, Keys) and len(columns) == 1 and target.hold(reference.target[0], keys[columns[0]]):
        return []
    targets = rows.select(list(reference.target))
    dangling = keys.join(targets, left_on=columns, right_on=list(reference.target), how="anti").sort("row")
    if dangling.is_empty():
        return []
    first = [f"row {row} ({', '.join(repr(v) for v in key)})" for row, *key in dangling.head(SHOWN).iter_rows()]
    return [f"{' + '.join(columns)} not found in table '{reference.table}': {_and_more(first, dangling.height)}"]


def _rows(bad: pl.Series, values: pl.Series | None) -> str:
    """``row 3 ('x'), row 9 ('y') and 7 more``: rows are counted from 0."""
    where = bad.arg_true()
    first = where.head(SHOWN).to_list()
    rows = [f"row {i}" if values is None else f"row {i} ({_plain(values[i])})" for i in first]
    return _and_more(rows, len(where))


def _and_more(rows: list[str], total: int) -> str:
    more = f" and {total - len(rows)} more" if total > len(rows) else ""
    return ", ".join(rows) + more


def _plain(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(repr(v) for v in value.values())
    return repr(value)
