"""Export of the study, as it stands now, in one of the published formats.

python -m beholder.collect.researcher.exports FOLDER URL FORMAT FILE.zip
"""

import json
import os
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl

from beholder.collect.database.address import DATABASE
from beholder.collect.exchange.export import collected_tables
from beholder.collect.exchange.slots_of_hosts import take_over_into
from beholder.collect.researcher.child_processes import report_failure
from beholder.errors import StageError, UserError
from beholder.formats.catalogue import WRITABLE
from beholder.formats.format import Written
from beholder.formats.formulas import formula_notes
from beholder.study.study import load_study
from beholder.tables.atomic import write_atomically
from beholder.tables.catalogue import TABLES
from beholder.tables.room import room_on_disk
from beholder.tables.stages import COLLECT, STAGES, made_from
from beholder.tables.store import Store

IMPORTED = STAGES["import"].outputs
"""Tables that imported data have in place of answers."""

LATER = made_from(*COLLECT.outputs)
"""Tables derived from the answers; used only together with the answers of the folder."""


def write_export(folder: Path, url: str | None, name: str, out: Path, *, licence: str | None = None) -> Written:
    """Write one format into a folder, or into one file if ``out`` ends in ``.zip``.

    With a database, the answers are those that it holds now; without one, those of the tables on the disk. Only
    the format ``datasets`` states a licence.
    """
    if name not in WRITABLE:
        raise StageError(f"there is no format '{name}'; known: {', '.join(WRITABLE)}")
    study, tables = load_study(folder), _tables(folder, url)

    def write(target: Path) -> Written:
        written = WRITABLE[name].write_study(study, tables, target, source=folder, licence=licence)
        return Written(written.files, (*written.notes, *formula_notes(written.files)))

    with room_on_disk(out):
        if out.suffix != ".zip":
            return _into_folder(write, out)
        with TemporaryDirectory(prefix="beholder-export-") as temporary:
            written = write(Path(temporary))
            _zip(Path(temporary), written, out)
        return Written((out,), written.notes)


def _into_folder(write: Callable[[Path], Written], out: Path) -> Written:
    """Write all files beside the folder and then move them into it, so that a full disk leaves none behind."""
    out.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=f".{out.name}.", dir=out.parent) as temporary:
        written = write(Path(temporary))
        files = [out / path.relative_to(temporary) for path in written.files]
        for source, target in zip(written.files, files, strict=True):
            target.parent.mkdir(parents=True, exist_ok=True)
            source.replace(target)
        out.mkdir(exist_ok=True)
    return Written(tuple(files), written.notes)


def _tables(folder: Path, url: str | None) -> dict[str, pl.DataFrame]:
    if url is not None:
        take_over_into(folder, url)
    store = Store(folder)
    tables = {name: store.read(name) for name in ("prompts", "images", "trials")}
    if url is not None:
        return tables | collected_tables(url)
    tables |= {name: store.read(name) for name in ("sessions", "answers", "marks")}
    tables["skips"] = store.read_or_empty("skips")  # which older studies do not have
    tables |= {name: store.read(name) for name in IMPORTED if store.has(name)}
    return {name: frame for name in TABLES if (frame := tables.get(name)) is not None} | {
        name: store.read(name) for name in LATER if store.has(name)
    }


def _zip(folder: Path, written: Written, out: Path) -> None:
    with write_atomically(out) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in written.files:
            archive.write(path, path.relative_to(folder).as_posix())
        if written.notes:
            archive.writestr("notes.txt", "\n".join(written.notes) + "\n")


def main() -> int:
    """Run the command of this module."""
    folder, name, out = sys.argv[1:]
    url = os.environ[DATABASE]
    try:
        written = write_export(Path(folder), url, name, Path(out))
    except UserError as error:
        return report_failure(error)
    json.dump({"file": out, "notes": written.notes}, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
