"""A study folder from other people's files: written completely, or not at all."""

import shutil
import tempfile
from pathlib import Path

from beholder.errors import StudyError
from beholder.formats.format import Imported
from beholder.study.study import FILE_NAME, dump_study
from beholder.tables.catalogue import TABLES
from beholder.tables.provenance import Plain, Provenance, file_hash
from beholder.tables.store import Store

STAGE = "import"
NOTES = "import.md"
"""The file that says what was filled in and what does not add up."""

DATA = (".csv", ".json", ".jsonl", ".parquet", ".tfrecord", ".tsv", ".xml", ".yaml", ".yml")
"""Endings of files whose hashes are recorded."""

NEEDED = ("prompts", "images", "trials", "sessions", "answers", "marks")
"""Tables of every study; empty where the data has no such thing."""


def require_new(folder: Path) -> None:
    """Refuse a folder that holds something already: an import never mixes with another study."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise StudyError(
            f"{folder} cannot be written",
            ["it is there already, and not an empty folder"],
            advice="Name a new one.",
        )


def write_folder(imported: Imported, folder: Path, *, form: str, source: Path | None = None) -> None:
    """Write ``study.toml``, the tables and ``import.md``; the folder appears when all of it is written."""
    require_new(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    growing = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        tables = {name: TABLES[name].empty() for name in NEEDED} | dict(imported.tables)
        settings: dict[str, Plain] = {"format": form, "source": source.name if source else "memory"}
        record = Provenance(STAGE, settings, imported.study.seed, _hashes(source) if source else {})
        Store(growing).write(tables, record)
        (growing / FILE_NAME).write_text(dump_study(imported.study), encoding="utf-8")
        (growing / NOTES).write_text(import_report(imported), encoding="utf-8")
        growing.chmod(0o755)
        if folder.exists():
            folder.rmdir()
        growing.replace(folder)
    finally:
        shutil.rmtree(growing, ignore_errors=True)


def import_report(imported: Imported) -> str:
    """Return what was filled in and what does not add up, as a Markdown page."""
    lines = [f"# {imported.study.title}: how it was imported", "", "## What the data does not tell", ""]
    lines += [f"- {note}" for note in imported.notes] or ["Nothing is missing."]
    lines += ["", "## What does not add up", ""]
    lines += [f"- {difference}" for difference in imported.differences] or ["Everything adds up."]
    return "\n".join(lines) + "\n"


def _hashes(source: Path) -> dict[str, str]:
    if source.is_file():
        return {source.name: file_hash(source)}
    files = sorted(path for path in source.rglob("*") if path.suffix in DATA)
    return {path.relative_to(source).as_posix(): file_hash(path) for path in files}
