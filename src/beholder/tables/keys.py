"""The keys of a table, which the references of another are looked up in, part by part."""

from dataclasses import dataclass, field

import polars as pl

from beholder.tables.id_index import IdIndex


@dataclass(frozen=True, eq=False)
class Keys:
    """The columns of a table that others refer to, with an index of each, which is made once."""

    rows: pl.DataFrame
    _indices: dict[str, IdIndex] = field(default_factory=dict)

    def hold(self, column: str, values: pl.Series) -> bool:
        """Say whether each of some texts is in a column; columns of other types are not looked up."""
        if self.rows.schema[column] != pl.String or values.dtype != pl.String:
            return False
        if column not in self._indices:
            self._indices[column] = IdIndex.of(self.rows[column].drop_nulls().unique())
        return self._indices[column].holds(values)
