"""The base of every result: a frozen table of estimates that shows itself, and what the estimates rest on."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, cast

import narwhals as nw
import polars as pl
from numpy.typing import NDArray

from beholder.errors import StatisticsError
from beholder.stats.frames.display.cell_text import (
    interval_decimals,
    interval_text,
    number_text,
    p_text,
    plain_decimals,
    range_text,
)
from beholder.stats.frames.display.text_table import TextTable

if TYPE_CHECKING:
    import altair as alt

Backend = Literal["polars", "pandas", "arrow", "pyarrow"]
"""The library of a data frame; ``arrow`` and ``pyarrow`` are the same."""

LISTED = 24
"""Rows that a terminal or a notebook shows; the rest is counted."""

LOW, HIGH = "low", "high"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ResultTable:
    """One row per estimate, with what all of them rest on.

    The ends of a confidence interval are the columns ``low`` and ``high``, those of a further estimate ``x`` are
    ``x_low`` and ``x_high``, and a range of ranks is ``rank_low`` and ``rank_high``. Both ends are shown as one.

    Args:
        title: What is estimated.
        rows: The estimates, in the order in which they are shown; the leading ``keys`` columns name the row.
        method: How estimates and intervals were computed.
        estimate: The column that is plotted; the first one after the keys by default.
        keys: How many leading columns name a row.
        level: Nominal coverage of the intervals.
        raters: Number of raters.
        items: Number of items judged.
        answers: Number of answers.
        ties: The rule for ties.
        replicates: Bootstrap replicates.
        seed: With which the result is reproduced.
        notes: What a reader must know.
        reference: A number that means something by itself, such as 0 for no difference; plots have a line there.
        signed: Whether estimates above 0 are printed with a plus.
        unit: What the axis of a plot measures; the title by default.
        backend: The library that :meth:`to_frame` returns by default.

    Example:
        >>> rows = pl.DataFrame({"generator": ["ember", "dune"], "estimate": [0.54, -0.54],
        ...                      "low": [0.41, -0.66], "high": [0.66, -0.41], "raters": [16, 16]})
        >>> ResultTable(title="ratings", rows=rows, method="t over raters", level=0.95, raters=16, signed=True)
        ratings
        generator  estimate         95 % CI  raters
        ───────────────────────────────────────────
        ember         +0.54  [+0.41, +0.66]      16
        dune          −0.54  [−0.66, −0.41]      16
        95 % CI: t over raters · 16 raters
    """

    title: str
    rows: pl.DataFrame
    method: str
    estimate: str = ""
    keys: int = 1
    level: float | None = None
    raters: int | None = None
    items: int | None = None
    answers: int | None = None
    ties: str | None = None
    replicates: int | None = None
    seed: int | None = None
    notes: tuple[str, ...] = ()
    reference: float | None = None
    signed: bool = False
    unit: str = ""
    backend: str = "polars"

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Yield one dictionary per row."""
        return self.rows.iter_rows(named=True)

    def __getitem__(self, column: str) -> NDArray[Any]:
        """Return a column as an array; missing numbers are nan."""
        if column not in self.rows.columns:
            raise StatisticsError(f"no column '{column}'; there are {', '.join(self.rows.columns)}")
        return self.rows[column].to_numpy()

    def __repr__(self) -> str:
        return self._text(LISTED).plain()

    def _repr_html_(self) -> str:
        return self._text(LISTED).html()

    @property
    def settings(self) -> dict[str, object]:
        """What the estimates rest on: method, level, numbers of raters, items and answers, tie rule, seed."""
        names = ("method", "level", "raters", "items", "answers", "ties", "replicates", "seed")
        return {name: getattr(self, name) for name in names if getattr(self, name) is not None}

    def to_frame(self, backend: Backend | None = None) -> Any:  # noqa: ANN401 - the type is that of another library
        """Return the rows as a data frame.

        Args:
            backend: ``"polars"``, ``"pandas"`` or ``"arrow"``; by default the library of the frame that came in.

        Returns:
            A ``polars.DataFrame``, ``pandas.DataFrame`` or ``pyarrow.Table``. Undefined numbers are null, in
            pandas NaN.
        """
        library = backend or self.backend
        if library == "polars":
            return self.rows
        library = "pyarrow" if library == "arrow" else library
        nullable = library == "pyarrow"
        columns = {name: _portable(self.rows[name], nullable=nullable) for name in self.rows.columns}
        return nw.from_dict(columns, backend=cast(Any, library)).to_native()

    def to_markdown(self) -> str:
        """Return all rows as a table in Markdown."""
        return self._text(None).markdown()

    def to_latex(self, *, caption: str = "", label: str = "") -> str:
        """Return all rows as a LaTeX table with the rules of the package booktabs.

        Args:
            caption: The caption; with one, or with a label, the ``tabular`` stands in a ``table``.
            label: For ``\\ref``.

        Returns:
            LaTeX source; method, level and numbers are in comments above it.
        """
        return self._text(None).latex(caption=caption, label=label)

    def plot(self, *, width: int = 420) -> "alt.LayerChart | alt.VConcatChart":
        """Return a forest plot: a dot per row with its confidence interval.

        Args:
            width: Pixels of the plot without its labels.

        Returns:
            An Altair chart; ``chart.save("figure.pdf")`` writes it (also .svg, .png, .html).
        """
        # Altair takes a second to load, and only plots need it.
        from beholder.stats.frames.display.forest_plot import forest_plot  # noqa: PLC0415

        names = self.rows.columns
        labels = self.rows.select(
            pl.concat_str([pl.col(name).cast(pl.String) for name in names[: self.keys]], separator=self._joint)
        ).to_series()
        return forest_plot(
            self.rows.with_columns(labels.alias("label of the row")),
            label="label of the row",
            estimate=self._plotted,
            title=self.unit or self.title,
            reference=self.reference,
            width=width,
        )

    @property
    def _plotted(self) -> str:
        return self.estimate or self.rows.columns[self.keys]

    @property
    def _joint(self) -> str:
        """What stands between the keys of a row in a plot."""
        return " − " if self.rows.columns[self._plotted_at] == "difference" else ", "

    @property
    def _plotted_at(self) -> int:
        return self.rows.columns.index(self._plotted)

    def _text(self, most: int | None) -> TextTable:
        listed = self.rows if most is None else self.rows.head(most)
        columns = [column for name in self.rows.columns if (column := self._column(name, listed)) is not None]
        hidden = len(self.rows) - len(listed)
        footer = ([f"… and {hidden:,} more rows"] if hidden else []) + self._footer()
        return TextTable(
            title=self.title,
            heads=tuple(head for head, _, _ in columns),
            numeric=tuple(numeric for _, numeric, _ in columns),
            cells=tuple(zip(*(cells for _, _, cells in columns), strict=True)),
            footer=tuple(footer),
        )

    def _column(self, name: str, listed: pl.DataFrame) -> tuple[str, bool, list[str]] | None:
        """Return head, whether it holds numbers, and cells; none for the upper end of an interval."""
        pair = _other_end(name, self.rows.columns)
        values = listed[name].to_list()
        if pair == LOW:
            return None
        if pair == HIGH:
            others = listed[_upper(name)].to_list()
            if name == "rank_low":
                return "rank", False, [range_text(low, high) for low, high in zip(values, others, strict=True)]
            digits = self._decimals(name)
            cells = [
                interval_text(low, high, digits, signed=self._signed(name))
                for low, high in zip(values, others, strict=True)
            ]
            return self._interval_head(name), True, cells
        return _head(name), not _is_text(self.rows[name]), self._cells(name, values)

    def _cells(self, name: str, values: list[Any]) -> list[str]:
        kind = self.rows[name].dtype
        if name == "p" or name.startswith("p_"):
            return [p_text(number) for number in values]
        if kind == pl.Boolean:
            return ["–" if flag is None else "yes" if flag else "no" for flag in values]
        if kind.is_integer() and self.rows.columns.index(name) >= self.keys:
            return [number_text(number, 0) for number in values]
        if kind.is_float():
            digits, signed = self._decimals(name), self._signed(name)
            return [number_text(number, digits, signed=signed) for number in values]
        return ["–" if cell is None else str(cell) for cell in values]

    def _decimals(self, name: str) -> int:
        """Return the decimals of a column: those of its interval, where it has one."""
        ends = self._interval_of(name)
        if ends is not None and all(end in self.rows.columns for end in ends):
            return interval_decimals(*(self.rows[end].to_list() for end in ends))
        return plain_decimals(self.rows[name].to_list())

    def _interval_of(self, name: str) -> tuple[str, str] | None:
        stem = name.removesuffix(f"_{LOW}")
        if name in (LOW, self._plotted, "se"):
            return LOW, HIGH
        return f"{stem}_{LOW}", f"{stem}_{HIGH}"

    def _signed(self, name: str) -> bool:
        return self.signed and name in (self._plotted, LOW)

    def _interval_head(self, name: str) -> str:
        words = "CI" if self.level is None else f"{100 * self.level:g} % CI"
        return words if name == LOW else f"{_head(name.removesuffix(f'_{LOW}'))} {words}"

    def _footer(self) -> list[str]:
        nouns: dict[str, int | None] = {
            "rater": self.raters,
            "item": self.items,
            "answer": self.answers,
            "replicate": self.replicates,
        }
        counts = {noun: count for noun, count in nouns.items() if count is not None}
        parts = [self.method if self.level is None else f"{100 * self.level:g} % CI: {self.method}"]
        parts += [f"{count:,} {noun if count == 1 else noun + 's'}" for noun, count in counts.items()]
        parts += [] if self.seed is None else [f"seed {self.seed}"]
        return [" · ".join(parts), *([f"ties: {self.ties}"] if self.ties else []), *self.notes]


def frame_of(columns: Mapping[str, object]) -> pl.DataFrame:
    """Return the rows of a result from columns; nan becomes null.

    Args:
        columns: Arrays or lists of one length.

    Returns:
        A Polars frame.
    """
    frame = pl.DataFrame(dict(columns), strict=False)
    return frame.with_columns(pl.selectors.float().fill_nan(None))


def _other_end(name: str, names: list[str]) -> str | None:
    """Say whether a column is the lower end of an interval (then ``high`` is its other), the upper, or neither."""
    if (name == LOW or name.endswith(f"_{LOW}")) and _upper(name) in names:
        return HIGH
    if (name == HIGH or name.endswith(f"_{HIGH}")) and f"{name.removesuffix(HIGH)}{LOW}" in names:
        return LOW
    return None


def _upper(name: str) -> str:
    return f"{name.removesuffix(LOW)}{HIGH}"


def _head(name: str) -> str:
    return name.replace("_", " ")


def _is_text(series: pl.Series) -> bool:
    return not (series.dtype.is_numeric() or series.dtype == pl.Null)


def _portable(series: pl.Series, *, nullable: bool) -> object:
    """Return an array of numbers (missing ones nan), or a list where there are no numbers or nulls are kept."""
    complete = series.null_count() == 0
    if series.dtype.is_numeric() and (complete or (series.dtype.is_float() and not nullable)):
        return series.to_numpy()
    return series.to_list()
