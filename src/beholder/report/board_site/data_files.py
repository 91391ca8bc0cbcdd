"""The downloads: tables as Parquet, the board as JSON with its JSON Schema, metadata, and how to cite them."""

import hashlib
import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from beholder import __version__
from beholder.report.board_site.citation import citation_file, citation_line
from beholder.report.board_site.content import READ, Content
from beholder.report.board_site.croissant import DataFile, Publication, croissant
from beholder.report.board_site.rendering import render
from beholder.tables.catalogue import TABLES
from beholder.tables.schema import FLAG, INTEGER, INTEGERS, NUMBER, TEXT, TEXTS, Column, Table
from beholder.tables.store import Store

ROOM = "data"

PROMPT_VALUES = Table(
    name="prompt_values",
    about="One row per measure, prompt and entry: its mean answer or score, or the proportion of votes won.",
    stage="report",
    columns=(
        Column("measure", TEXT, "Name of the measure."),
        Column("prompt", TEXT, "Id of the prompt."),
        Column("entry", TEXT, "The generator."),
        Column("value", NUMBER, "The mean, or the proportion of votes won."),
        Column("answers", INTEGER, "Answers or scores that it rests on."),
    ),
    key=("measure", "prompt", "entry"),
)
"""What the pages of prompts show."""

JSON_TYPES: Mapping[pl.DataType, str] = {
    TEXT: "string",
    INTEGER: "integer",
    NUMBER: "number",
    FLAG: "boolean",
    TEXTS: "array",
    INTEGERS: "array",
}
"""Column type -> JSON's."""

SCHEMA_FILE, BOARD_FILE = "board.schema.json", "board.json"


@dataclass(frozen=True, slots=True)
class Download:
    """A file as the page of the data lists it."""

    address: str
    about: str
    rows: int | None
    size: str


def write_data(content: Content, publication: Publication, site: Path) -> list[Download]:
    """Write the downloads.

    Args:
        content: Of the site.
        publication: What is stated about it.
        site: Where to write it.

    Returns:
        What was written, for the page that lists it.
    """
    room = site / ROOM
    room.mkdir()
    files = [*_copied_tables(content, room), _prompt_values(content, room)]
    texts = {
        BOARD_FILE: (json.dumps(board_json(content), ensure_ascii=False) + "\n", "The board’s tables as JSON."),
        SCHEMA_FILE: (json.dumps(board_schema(), indent=1) + "\n", "JSON Schema of that file."),
        "croissant.json": (
            croissant(publication, files, citation_line(publication)),
            "Croissant metadata of the Parquet files, for dataset loaders and search.",
        ),
        "CITATION.cff": (citation_file(publication), "How to cite the board."),
    }
    for name, (text, _) in texts.items():
        (room / name).write_text(text, encoding="utf-8")
    listed = [Download(f"{ROOM}/{file.file}", file.about, file.rows, _size(file.size)) for file in files]
    listed += [
        Download(f"{ROOM}/{name}", about, None, _size(len(text.encode()))) for name, (text, about) in texts.items()
    ]
    return listed


def data_page(content: Content, publication: Publication, files: list[Download]) -> str:
    """Return the page that lists the downloads."""
    return render(
        "data.html.j2",
        content=content,
        root="",
        here="data",
        files=files,
        licence=publication.licence,
        citation=citation_line(publication),
    )


def _copied_tables(content: Content, room: Path) -> list[DataFile]:
    """Copy tables byte for byte, so that their hashes are those of the study."""
    store = Store(content.folder)
    names = [name for name in (*READ, "prompts") if store.has(name)]
    files = []
    for name in names:
        target = room / f"{name}.parquet"
        shutil.copyfile(store.path(name), target)
        files.append(_data_file(TABLES[name], target, content.tables[name].height))
    return files


def _prompt_values(content: Content, room: Path) -> DataFile:
    target = room / f"{PROMPT_VALUES.name}.parquet"
    content.values.write_parquet(target, compression="zstd")
    return _data_file(PROMPT_VALUES, target, content.values.height)


def _data_file(table: Table, path: Path, rows: int) -> DataFile:
    present = set(pl.read_parquet_schema(path))
    columns = tuple(column for column in table.columns if column.name in present)
    body = path.read_bytes()
    return DataFile(
        name=table.name,
        about=table.about,
        file=path.name,
        rows=rows,
        size=len(body),
        sha256=hashlib.sha256(body).hexdigest(),
        columns=columns,
        key=table.key,
    )


def board_json(content: Content) -> dict[str, object]:
    """Return the board's tables as JSON has them, with the settings that a reader needs."""
    return {
        "$schema": SCHEMA_FILE,
        "study": content.study.title,
        "version": __version__,
        "seed": content.study.seed,
        "simulated": content.simulated,
        **{name: content.tables[name].to_dicts() for name in READ},
    }


def board_schema() -> dict[str, object]:
    """Return the JSON Schema of :func:`board_json`, from the declarations of the tables."""
    plain: dict[str, object] = {
        "$schema": {"type": "string"},
        "study": {"type": "string"},
        "version": {"type": "string", "description": "Version of beholder."},
        "seed": {"type": "integer"},
        "simulated": {"type": "boolean", "description": "Whether all raters are simulated."},
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A board of beholder",
        "type": "object",
        "required": [*plain, *READ],
        "additionalProperties": False,
        "properties": plain | {name: _table_schema(TABLES[name]) for name in READ},
    }


def _table_schema(table: Table) -> dict[str, object]:
    return {
        "type": "array",
        "description": table.about,
        "items": {
            "type": "object",
            "required": [column.name for column in table.columns],
            "additionalProperties": False,
            "properties": {column.name: _column_schema(column) for column in table.columns},
        },
    }


def _column_schema(column: Column) -> dict[str, object]:
    plain = JSON_TYPES[column.dtype]
    schema: dict[str, object] = {
        "type": [plain, "null"] if column.nullable else plain,
        "description": column.about,
    }
    if column.allowed:
        schema["enum"] = [*column.allowed, *([None] if column.nullable else [])]
    if column.low is not None:
        schema["minimum"] = column.low
    if column.high is not None:
        schema["maximum"] = column.high
    return schema


def _size(number: int) -> str:
    return (
        f"{number:,} B"
        if number < 1000
        else f"{number / 1000:,.0f} kB"
        if number < 1e6
        else f"{number / 1e6:,.1f} MB"
    )
