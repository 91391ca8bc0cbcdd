"""Named columns of any data frame as arrays, with all faults reported at once; labels as integers and back."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Protocol, runtime_checkable

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from beholder.errors import FrameError, StatisticsError

Frame = Any
"""A data frame of pandas, Polars, PyArrow or any library that narwhals reads; a dictionary of columns; or anything
that hands out an Arrow stream."""

Label = Hashable
"""A name as it stands in a column: text, a number, a date."""

Names = Mapping[str, str | None]
"""From the parameter of a function to the column that the caller named; None where there is no such column."""

BACKENDS = frozenset({"pandas", "polars", "pyarrow", "modin", "cudf"})
"""Libraries in whose frames a result can be returned."""


@runtime_checkable
class _ArrowStream(Protocol):
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...


@dataclass(frozen=True, eq=False)
class Columns:
    """The columns of a frame by the parameter that named them."""

    labels: Mapping[str, list[Label]]
    numbers: Mapping[str, NDArray[np.float64]]  # each (rows,)
    flags: Mapping[str, NDArray[np.bool_]]  # each (rows,)
    rows: int
    backend: str
    """The library of the frame."""


def read_columns(
    frame: Frame,
    *,
    labels: Names | None = None,
    numbers: Names | None = None,
    flags: Names | None = None,
    nullable: frozenset[str] = frozenset(),
    hints: Mapping[str, str] | None = None,
) -> Columns:
    """Read columns by name.

    Args:
        frame: Any data frame, lazy or not.
        labels: Columns of names; any type whose values can be sorted.
        numbers: Columns of finite numbers; true and false count as 1 and 0.
        flags: Columns of true and false, or of 1 and 0.
        nullable: Parameters whose columns may have nulls; a missing number is then nan, a missing label None.
        hints: What to do where the column of a parameter is missing.

    Returns:
        The columns; those whose name is None are absent.

    Raises:
        FrameError: With every missing column, null and wrong type.

    Example:
        >>> votes = {"rater": ["ann", "bo"], "score": [4, 5]}
        >>> columns = read_columns(votes, labels={"rater": "rater"}, numbers={"score": "score"})
        >>> columns.labels["rater"], columns.numbers["score"].tolist()
        (['ann', 'bo'], [4.0, 5.0])
        >>> read_columns(votes, labels={"rater": "Rater"}, numbers={"score": "rater"})
        Traceback (most recent call last):
        beholder.errors.FrameError: data frame: 2 faults
          - no column 'Rater' (rater=); did you mean 'rater'?
          - column 'rater' (score=) holds text such as 'ann', not numbers
        its columns: rater, score
    """
    table = _eager(frame)
    reader = _Reader(table, hints or {}, nullable)
    texts = {name: reader.label(name, column) for name, column in _named(labels)}
    quantities = {name: reader.number(name, column) for name, column in _named(numbers)}
    marks = {name: reader.flag(name, column) for name, column in _named(flags)}
    faults = reader.faults or (["no rows"] if len(table) == 0 else [])
    if faults:
        raise FrameError("data frame", faults, advice=f"its columns: {', '.join(map(str, table.columns))}")
    library = str(table.implementation)
    return Columns(texts, quantities, marks, len(table), library if library in BACKENDS else "polars")


def code_labels(*columns: Sequence[Label]) -> tuple[list[Any], list[NDArray[np.int64]]]:
    """Number the labels of one or several columns together, in sorted order.

    Args:
        columns: Labels; several columns share one numbering, such as winners and losers.

    Returns:
        The sorted distinct labels, and one array of numbers from 0 for each column.

    Example:
        >>> names, (winner, loser) = code_labels(["b", "c"], ["a", "b"])
        >>> names, winner.tolist(), loser.tolist()
        (['a', 'b', 'c'], [1, 2], [0, 1])
    """
    distinct = set().union(*map(set, columns))
    try:
        names = sorted(distinct)  # type: ignore[type-var]
    except TypeError:
        kinds = sorted({type(label).__name__ for label in distinct})
        raise StatisticsError(
            f"labels need to be of one type, to be sorted; found {', '.join(kinds)}; cast them to text"
        ) from None
    number = {name: place for place, name in enumerate(names)}
    return names, [np.fromiter(map(number.__getitem__, column), np.int64, len(column)) for column in columns]


def _named(names: Names | None) -> list[tuple[str, str]]:
    return [(name, column) for name, column in (names or {}).items() if column is not None]


def _eager(frame: Frame) -> nw.DataFrame[Any]:
    if isinstance(frame, Mapping):
        return nw.from_native(pl.DataFrame(dict(frame), strict=False), eager_only=True)
    native = nw.from_native(frame, pass_through=True)
    if isinstance(native, nw.LazyFrame):
        return native.collect()
    if isinstance(native, nw.DataFrame):
        return native
    if isinstance(frame, _ArrowStream):
        return nw.from_native(pl.DataFrame(frame), eager_only=True)
    raise StatisticsError(
        "expected a data frame (pandas, Polars, PyArrow, or what else narwhals reads) or a dictionary of columns; "
        f"found {type(frame).__name__}"
    )


class _Reader:
    """Reads columns one by one and collects what is wrong with them."""

    def __init__(self, table: nw.DataFrame[Any], hints: Mapping[str, str], nullable: frozenset[str]) -> None:
        self.table, self.hints, self.nullable = table, hints, nullable
        self.faults: list[str] = []

    def label(self, name: str, column: str) -> list[Label]:
        series = self._series(name, column)
        if series is None:
            return []
        labels: list[Label] = series.to_list()
        missing = series.is_null() | series.is_nan() if series.dtype.is_float() else series.is_null()
        if not missing.any():
            return labels
        gaps = np.asarray(missing.to_list(), np.bool_)
        self._nulls(name, column, gaps)
        return [None if gap else label for label, gap in zip(labels, gaps, strict=True)]

    def number(self, name: str, column: str) -> NDArray[np.float64]:
        series = self._series(name, column)
        if series is None:
            return np.empty(0)
        numbers = self._float(name, column, series)
        if numbers is None:
            return np.empty(0)
        self._nulls(name, column, np.isnan(numbers))
        if np.isinf(numbers).any():
            self._fault(name, column, f"has {int(np.isinf(numbers).sum()):,} infinite numbers")
        return numbers

    def flag(self, name: str, column: str) -> NDArray[np.bool_]:
        series = self._series(name, column)
        if series is None:
            return np.empty(0, np.bool_)
        numbers = self._float(name, column, series, expected="true and false")
        if numbers is None:
            return np.empty(0, np.bool_)
        self._nulls(name, column, np.isnan(numbers))
        others = np.unique(numbers[~np.isnan(numbers) & (numbers != 0) & (numbers != 1)])
        if len(others):
            self._fault(name, column, f"holds {others[0]:g}, not only true and false (or 1 and 0)")
        return np.asarray(numbers == 1, np.bool_)

    def _series(self, name: str, column: str) -> "nw.Series[Any] | None":
        if column in self.table.columns:
            return self.table.get_column(column)
        by_lower = {str(known).lower(): str(known) for known in self.table.columns}
        close = get_close_matches(column.lower(), by_lower, n=1)
        words = f"; did you mean '{by_lower[close[0]]}'?" if close else ""
        hint = f"; {self.hints[name]}" if name in self.hints else ""
        self.faults.append(f"no column '{column}' ({name}=){words}{hint}")
        return None

    def _float(
        self, name: str, column: str, series: "nw.Series[Any]", expected: str = "numbers"
    ) -> NDArray[np.float64] | None:
        if series.dtype.is_numeric():
            return np.asarray(series.cast(nw.Float64).to_numpy(), np.float64)
        gaps = series.is_null().to_list()
        entries = [np.nan if gap else entry for gap, entry in zip(gaps, series.to_list(), strict=True)]
        others = [entry for entry in entries if not isinstance(entry, bool | int | float | np.number)]
        if not others:
            return np.array(entries, np.float64)
        example = others[0]
        kind = "text" if isinstance(example, str) else type(example).__name__
        self._fault(name, column, f"holds {kind} such as {example!r}, not {expected}")
        return None

    def _nulls(self, name: str, column: str, missing: NDArray[np.bool_]) -> None:
        if missing.any() and name not in self.nullable:
            count, row = int(missing.sum()), int(np.flatnonzero(missing)[0])
            noun = "null" if count == 1 else "nulls"
            self._fault(name, column, f"has {count:,} {noun}, the first in row {row:,}; drop or fill them")

    def _fault(self, name: str, column: str, words: str) -> None:
        self.faults.append(f"column '{column}' ({name}=) {words}")
