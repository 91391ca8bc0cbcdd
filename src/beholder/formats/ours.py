"""Our own tables: as Parquet, and as CSV for those who want to look at them elsewhere."""

import base64
import json
from pathlib import Path

import polars as pl

from beholder.formats.format import Tables, Written
from beholder.study.study import FILE_NAME, Study, dump_study
from beholder.tables.csv_text import escape_texts


def write_parquet(study: Study, tables: Tables, folder: Path) -> Written:
    """The study file and every table as ``tables/NAME.parquet``."""
    files = [_study(study, folder)]
    (folder / "tables").mkdir(exist_ok=True)
    for name, frame in tables.items():
        files.append(folder / "tables" / f"{name}.parquet")
        frame.write_parquet(files[-1], compression="zstd")
    return Written(tuple(files))


def write_csv(study: Study, tables: Tables, folder: Path) -> Written:
    """The study file and every table as ``NAME.csv``; lists are JSON, moments ISO 8601 in UTC, bytes base64.

    A text that a spreadsheet would take for a formula stands behind an apostrophe.
    """
    files = [_study(study, folder)]
    for name, frame in tables.items():
        files.append(folder / f"{name}.csv")
        plain = frame.select(_plain(frame[column]) for column in frame.columns)
        escape_texts(plain).write_csv(files[-1])
    return Written(tuple(files))


def _study(study: Study, folder: Path) -> Path:
    path = folder / FILE_NAME
    path.write_text(dump_study(study), encoding="utf-8")
    return path


def _plain(values: pl.Series) -> pl.Series:
    """The column as CSV can hold it."""
    if isinstance(values.dtype, pl.List):
        texts = [None if row is None else json.dumps(row, ensure_ascii=False) for row in values.to_list()]
        return pl.Series(values.name, texts, dtype=pl.String)
    if isinstance(values.dtype, pl.Binary):
        texts = [None if row is None else base64.b64encode(row).decode() for row in values.to_list()]
        return pl.Series(values.name, texts, dtype=pl.String)
    if isinstance(values.dtype, pl.Datetime):
        return values.dt.strftime("%Y-%m-%dT%H:%M:%S%.6fZ").alias(values.name)
    return values
