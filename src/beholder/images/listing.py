"""A list of files, as CSV or Parquet: read as text, its columns checked."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

Row = dict[str, str | None]
"""A row of a listing: every column is there, what was blank or left out is ``None``."""


def read_listing(
    path: Path, *, required: Sequence[str], optional: Sequence[str], synonyms: Mapping[str, str] | None = None
) -> tuple[list[Row], list[str]]:
    """Return the rows and the faults: not readable, a column missing or unknown, a required value left blank.

    Values are trimmed. Rows are counted from 0, the line of column names left out. ``synonyms`` are other names of
    columns, each with the name under which it is returned.
    """
    try:
        frame = _load(path)
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = str(error).strip().splitlines()[0]
        return [], [f"{path}: cannot be read ({reason})"]
    columns = [*required, *optional]
    names = {other: name for other, name in (synonyms or {}).items() if name not in frame.columns}
    frame = frame.rename(names, strict=False)
    faults = [f"{path}: column '{n}' is missing" for n in required if n not in frame.columns]
    for name in frame.columns:
        if name not in columns:
            faults.append(f"{path}: column '{name}' is not known; known: {', '.join(columns)}")
        elif frame[name].dtype.is_nested():
            faults.append(f"{path}: column '{name}' holds {frame[name].dtype}, expected text")
    if faults:
        return [], faults
    text = frame.select(pl.col(name).cast(pl.String).str.strip_chars().replace("", None) for name in frame.columns)
    rows: list[Row] = [dict.fromkeys(columns) | row for row in text.to_dicts()]
    for name in required:
        faults += [f"{path}: row {i}: '{name}' is blank" for i, row in enumerate(rows) if row[name] is None]
    return rows, faults


def _load(path: Path) -> pl.DataFrame:
    if path.suffix.lower() == ".csv":
        return pl.read_csv(path, infer_schema=False)
    return pl.read_parquet(path)
