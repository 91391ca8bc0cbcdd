"""Replacing a folder in one step, and only one that this package wrote."""

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from beholder.tables.provenance import Provenance
from beholder.tables.room import room_on_disk

MARKER = "beholder-site.json"
"""The file by which a site is recognised: the record of its work and its options."""


def faults_of_target(out: Path, folder: Path) -> list[str]:
    """Return why a site cannot be written to a folder; nothing where it can.

    Args:
        out: The folder of the site.
        folder: The study folder.

    Returns:
        The faults, in words.
    """
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        return [f"{out} is not a folder: name a folder that does not exist, is empty, or is a site"]
    if out.resolve() == folder.resolve() or out.resolve() in folder.resolve().parents:
        return [f"{out} holds the study itself: name a folder of its own, such as {folder / 'site'}"]
    if out.is_dir() and any(out.iterdir()) and not (out / MARKER).is_file():
        return [
            f"{out} has files and no {MARKER}, so it is no site of beholder and is not overwritten: name a folder "
            "that does not exist, is empty, or is a site"
        ]
    return []


def recorded(out: Path) -> Provenance | None:
    """Return the record of an existing site; ``None`` where there is none."""
    try:
        return Provenance.from_json((out / MARKER).read_text(encoding="utf-8"))
    except (OSError, ValueError, TypeError):
        return None


@contextmanager
def replaced_folder(out: Path, record: Provenance) -> Iterator[Path]:
    """Yield an empty folder that takes the place of ``out`` when the block ends without an error.

    Until then the old one stays as it is; after an error nothing is left of the new one. What a killed process
    left behind is removed.
    """
    out.parent.mkdir(parents=True, exist_ok=True)
    remove_left_overs(out)
    new = Path(tempfile.mkdtemp(prefix=f".{out.name}.", suffix=".new", dir=out.parent))
    try:
        with room_on_disk(out):
            yield new
            (new / MARKER).write_text(json.dumps(json.loads(record.to_json()), indent=1), encoding="utf-8")
            new.chmod(0o755)
        old = new.with_suffix(".old")
        if out.exists():
            out.rename(old)
        new.rename(out)
        shutil.rmtree(old, ignore_errors=True)
    finally:
        shutil.rmtree(new, ignore_errors=True)


def remove_left_overs(out: Path) -> None:
    """Remove what a killed process left; a site that it had moved away but not replaced goes back."""
    for left in out.parent.glob(f".{out.name}.*.old"):
        if not out.exists() and (left / MARKER).is_file():
            left.rename(out)
        else:
            shutil.rmtree(left, ignore_errors=True)
    for left in out.parent.glob(f".{out.name}.*.new"):
        shutil.rmtree(left, ignore_errors=True)
