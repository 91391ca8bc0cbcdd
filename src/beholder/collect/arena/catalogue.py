"""What an arena shows: the images of every entry by prompt, from the tables of the study."""

import secrets as randomness
import time
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, insert, select, update

from beholder.collect.arena.schema import entries, log, secrets
from beholder.collect.session.catalogue import StudyImage
from beholder.errors import StageError
from beholder.tables.store import Store

TOKEN = "token"
"""Name of the secret behind cookies and image tokens."""


@dataclass(frozen=True)
class ArenaImages:
    """All images that can be shown, and where."""

    pictures: Mapping[str, StudyImage]
    by_prompt: Mapping[str, Mapping[str, str]]
    """Text of a prompt → entry → its image."""

    @property
    def entries(self) -> tuple[str, ...]:
        """All entries with images."""
        return tuple(sorted({entry for by_entry in self.by_prompt.values() for entry in by_entry}))

    def prompts_of(self, first: str, second: str) -> tuple[str, ...]:
        """Prompts for which both have an image."""
        return tuple(
            prompt for prompt, by_entry in self.by_prompt.items() if first in by_entry and second in by_entry
        )


def load_images(folder: Path) -> ArenaImages:
    """Read the generated images of a study; prompts of fewer than two entries are left out."""
    store = Store(folder)
    text_of = dict(store.read("prompts").select("prompt", "text").iter_rows())
    pictures, images_by_prompt = {}, defaultdict[str, dict[str, str]](dict)
    columns = ("image", "path", "sha256", "width", "height", "generator", "real", "gold", "prompt")
    for name, path, sha256, width, height, generator, real, gold, prompt in (
        store.read("images").select(columns).sort("image").iter_rows()
    ):
        if real or gold or prompt is None:
            continue
        pictures[name] = StudyImage(path, sha256, width, height)
        images_by_prompt[text_of[prompt]].setdefault(generator, name)
    paired = {prompt: by_entry for prompt, by_entry in images_by_prompt.items() if len(by_entry) > 1}
    if not paired:
        raise StageError(
            f"{folder}: an arena needs prompts with images of at least two generators. Generate them "
            "(`beholder generate`), or add them to the study."
        )
    return ArenaImages(pictures, paired)


def register(connection: Connection, images: ArenaImages, *, now: float | None = None) -> None:
    """Make the secret, and note entries that came or whose images are gone; nothing is forgotten."""
    moment = time.time() if now is None else now
    if connection.scalar(select(secrets.c.value).where(secrets.c.name == TOKEN)) is None:
        connection.execute(insert(secrets).values(name=TOKEN, value=randomness.token_urlsafe(32)))
    before = {row.entry: row for row in connection.execute(select(entries))}
    for entry in images.entries:
        if entry not in before:
            connection.execute(insert(entries).values(entry=entry, added=moment))
            connection.execute(insert(log).values(at=moment, kind="entered", detail={"entry": entry}))
    for entry, row in before.items():
        if entry not in images.entries and row.retired is None:
            retire(connection, entry, "its images are no longer in the study", now=moment)


def retire(connection: Connection, entry: str, reason: str, *, now: float | None = None) -> None:
    """Show an entry no more; its votes, its rating and the reason stay on the board."""
    moment = time.time() if now is None else now
    row = connection.execute(select(entries).where(entries.c.entry == entry)).one_or_none()
    if row is None:
        entry_names = ", ".join(connection.scalars(select(entries.c.entry).order_by(entries.c.entry)))
        raise StageError(f"there is no entry '{entry}' in the arena; entries: {entry_names or 'none yet'}")
    if row.retired is not None:
        raise StageError(f"'{entry}' is retired already: {row.reason}")
    connection.execute(update(entries).where(entries.c.entry == entry).values(retired=moment, reason=reason))
    connection.execute(insert(log).values(at=moment, kind="retired", detail={"entry": entry, "reason": reason}))


def active_entries(connection: Connection) -> list[str]:
    """The entries that are shown now, in the order in which statistics number them."""
    return list(
        connection.scalars(select(entries.c.entry).where(entries.c.retired.is_(None)).order_by(entries.c.entry))
    )
