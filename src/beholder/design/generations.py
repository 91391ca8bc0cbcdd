"""Images that ``beholder generate`` made, as a source of a study's images."""

import hashlib
from collections import Counter
from pathlib import Path, PurePosixPath

from beholder.images.folders import ImageEntry, Listing
from beholder.tables.schemas.generate import DONE, FAILED, REFUSED
from beholder.tables.store import Store


def list_generations(folder: Path) -> Listing:
    """List all images of the table ``generations`` of a folder; notes count what was refused or failed.

    The id of an image is ``<generator>/<id of its prompt>-<sample>``. A file that is missing, or is not the one
    that was generated, is a fault.
    """
    store = Store(folder)
    if not store.has("generations"):
        return Listing(faults=(f"{folder}: no generations here; they are written by: beholder generate {folder}",))
    entries: list[ImageEntry] = []
    faults: list[str] = []
    missing: Counter[tuple[str, str]] = Counter()
    for row in store.read("generations").iter_rows(named=True):
        if row["status"] != DONE:
            missing[row["generator"], row["status"]] += 1
            continue
        file = folder / row["path"]
        fault = _fault(file, row["sha256"])
        if fault:
            faults.append(f"{file}: {fault}; beholder generate makes it again")
            continue
        below = PurePosixPath(PurePosixPath(row["path"]).name)
        image = f"{row['generator']}/{below.with_suffix('')}"
        entries.append(ImageEntry(image, file, row["generator"], False, False, row["text"], row["style"], below))
    names = list(dict.fromkeys(name for name, _ in missing))
    notes = [f"{name}: no image of {_counted(missing, name)} prompts" for name in names]
    return Listing(tuple(entries), tuple(faults), tuple(notes))


def _fault(file: Path, sha256: str) -> str | None:
    try:
        content = file.read_bytes()
    except OSError as error:
        return f"cannot be read ({error.strerror or error})"
    return None if hashlib.sha256(content).hexdigest() == sha256 else "not the file that was generated"


def _counted(missing: Counter[tuple[str, str]], name: str) -> str:
    counts = [(missing[name, status], status) for status in (REFUSED, FAILED)]
    return " and ".join(f"{count:,} {status}" for count, status in counts if count)
