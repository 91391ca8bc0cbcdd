"""Rehearsals of a study: each has a numbered folder of its own in the study folder, and none is ever deleted."""

from collections.abc import Iterable
from pathlib import Path

from beholder.tables.store import Store

REHEARSALS_ROOM = "rehearsals"


def rehearsal_folders(folder: Path) -> list[Path]:
    """Return the folders of all rehearsals of a study, the latest first."""
    room = folder / REHEARSALS_ROOM
    numbered = [path for path in room.iterdir() if path.name.isdigit()] if room.is_dir() else []
    return sorted(numbered, key=lambda path: -int(path.name))


def new_rehearsal(folder: Path) -> Path:
    """Create the folder of the next rehearsal, for its owner alone: it may hold a database with secrets."""
    latest = next((int(path.name) for path in rehearsal_folders(folder)), 0)
    created = folder / REHEARSALS_ROOM / str(latest + 1)
    created.mkdir(mode=0o700, parents=True)
    return created


def is_rehearsed(store: Store) -> bool:
    """Return whether the study holds answers, and all of them are simulated."""
    return store.has("sessions") and bool(store.read("sessions")["simulated"].all())


def move_tables_away(store: Store, names: Iterable[str]) -> Path | None:
    """Move tables of simulated answers, which no longer apply, to a rehearsal of their own.

    Tables without a row are deleted: they hold nothing. Returns where the others are; ``None`` if there are none.
    """
    existing = [name for name in names if store.has(name)]
    if not any(store.read(name).height for name in existing):
        for name in existing:
            store.path(name).unlink()
        return None
    files, room = [store.path(name) for name in existing], new_rehearsal(store.folder)
    for file in files:
        file.replace(room / file.name)
    return room


def in_study(room: Path) -> str:
    """Where a rehearsal is, as a user would look for it: ``rehearsals/2 in the folder of the study``."""
    return f"{REHEARSALS_ROOM}/{room.name} in the folder of the study"
