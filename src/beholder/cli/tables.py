"""``beholder tables``: what tables there are, and which a study has."""

from dataclasses import asdict, dataclass
from pathlib import Path

import click
import polars as pl

from beholder.cli.output import show_json, show_table
from beholder.errors import StageError, TableError
from beholder.tables.catalogue import TABLES
from beholder.tables.describe import markdown
from beholder.tables.store import Store


@click.command()
@click.argument("folder", required=False, type=click.Path(path_type=Path, file_okay=False))
@click.option("--markdown", "as_markdown", is_flag=True, help="Print the page docs/reference/tables.md.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def tables(folder: Path | None, *, as_markdown: bool, as_json: bool) -> None:
    """Describe the tables, or check those of a study.

    Without FOLDER: every table there is, and what one row of it is. With FOLDER: each table there, the
    stage, seed and version it came from, and whether it passes its check; a table that does not gives exit code 2.
    """
    if as_markdown and (folder or as_json):
        raise click.UsageError("--markdown stands alone: it takes neither FOLDER nor --json")
    if as_markdown:
        click.echo(markdown(), nl=False)
    elif folder is None:
        _list_all(as_json=as_json)
    else:
        _list_tables(folder, as_json=as_json)


def _list_all(*, as_json: bool) -> None:
    listed = [{"table": t.name, "stage": t.stage, "about": t.about} for t in TABLES.values()]
    if as_json:
        show_json(listed)
    else:
        show_table(("table", "written by", "about"), [tuple(entry.values()) for entry in listed])


@dataclass(frozen=True, slots=True)
class StudyTable:
    """A table of a study; what is unknown about it is ``None``."""

    table: str
    rows: int | None
    stage: str | None
    seed: int | None
    version: str | None
    faults: tuple[str, ...]


def _list_tables(folder: Path, *, as_json: bool) -> None:
    store = Store(folder)
    study_tables = [_inspect(store, name) for name in TABLES if store.has(name)]
    if not study_tables:
        raise StageError(
            f"{folder} has no tables. Make a study with: beholder new PROTOCOL {folder} …"
            if folder.is_dir()
            else f"{folder} does not exist."
        )
    if as_json:
        show_json([asdict(table) for table in study_tables])
    else:
        show_table(("table", "rows", "stage", "seed", "version", "check"), [_row(table) for table in study_tables])
    faults = [f"{table.table}: {fault}" for table in study_tables for fault in table.faults]
    if faults:
        raise TableError(str(folder), faults)


def _inspect(store: Store, name: str) -> StudyTable:
    faults: tuple[str, ...] = ()
    try:
        store.read(name)
    except TableError as error:
        faults = error.faults
    rows = _count(store.path(name))
    record = store.provenance(name)
    if record is None:
        return StudyTable(name, rows, None, None, None, faults)
    return StudyTable(name, rows, record.stage, record.seed, record.version, faults)


def _count(path: Path) -> int | None:
    try:
        return int(pl.scan_parquet(path).select(pl.len()).collect().item())
    except (pl.exceptions.PolarsError, OSError):
        return None


def _row(table: StudyTable) -> tuple[str, ...]:
    rows = None if table.rows is None else f"{table.rows:,}"
    cells = (rows, table.stage, table.seed, table.version)
    check = (
        "passes" if not table.faults else "1 fault" if len(table.faults) == 1 else f"{len(table.faults)} faults"
    )
    return (table.table, *("?" if value is None else str(value) for value in cells), check)
