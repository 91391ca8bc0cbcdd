"""How a table is declared: columns, key and references."""

from dataclasses import dataclass

import polars as pl

TEXT = pl.String()
INTEGER = pl.Int64()
NUMBER = pl.Float64()
FLAG = pl.Boolean()
MOMENT = pl.Datetime("us", "UTC")
BYTES = pl.Binary()
TEXTS = pl.List(pl.String())
INTEGERS = pl.List(pl.Int64())

TYPE_NAMES: dict[pl.DataType, str] = {
    TEXT: "text",
    INTEGER: "integer",
    NUMBER: "number",
    FLAG: "true/false",
    MOMENT: "moment (UTC)",
    BYTES: "bytes",
    TEXTS: "list of texts",
    INTEGERS: "list of integers",
}
"""How each column type is called in messages and in the documentation."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column. A missing nullable column reads as empty, so that new columns can be added later."""

    name: str
    dtype: pl.DataType
    about: str
    nullable: bool = False
    allowed: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Reference:
    """``columns`` of this table must occur as ``target`` of another; of a list column, each element."""

    columns: tuple[str, ...]
    table: str
    target: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table: what a row is, the stage that writes it, its columns, its key and its references."""

    name: str
    about: str
    stage: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    references: tuple[Reference, ...] = ()
    rows_per_group: int | None = None
    """Rows that are compressed together; few where single rows are large and read one by one."""
    varies: bool = False
    """Whether its numbers differ from run to run, as times and costs do: a lock leaves such a table out."""

    def column(self, name: str) -> Column:
        """The column of that name; a ``KeyError`` where there is none."""
        return {column.name: column for column in self.columns}[name]

    def empty(self) -> pl.DataFrame:
        """A frame of this table with no rows."""
        return pl.DataFrame(schema={column.name: column.dtype for column in self.columns})

    def frame(self, rows: list[dict[str, object]]) -> pl.DataFrame:
        """A frame of this table from rows; a column that no row names is filled with nulls."""
        return pl.DataFrame(rows, schema={column.name: column.dtype for column in self.columns})
