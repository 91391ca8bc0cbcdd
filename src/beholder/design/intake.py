"""From folders, manifests and generations to ``images`` and ``prompts``: all images opened, all faults listed.

The id of an image is the one its manifest gives, or ``<generator>/<path within its folder, without suffix>``.
The id of a prompt is the first 12 hexadecimal digits of the SHA-256 of its text, so the same text has the same id
in every study.
"""

import os
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from beholder.design.generations import list_generations
from beholder.design.manifest import REAL, read_manifest
from beholder.design.packed import search_packed, without_room
from beholder.images.folders import ImageEntry, Listing, search_folder
from beholder.images.inspection import UnusableFile, UsableFile, inspect_files
from beholder.tables.prompt_id import prompt_id
from beholder.tables.schemas.new import IMAGES, PROMPTS

GENERATOR_NAME = re.compile(r"\w[\w.+() -]*(/\w[\w.+() -]*)*")
IMAGES_FOLDER = "images"


@dataclass(frozen=True, slots=True)
class Sources:
    """Where the images of a study come from: folders, tar or Parquet files. *Gold* images only check raters."""

    real: tuple[Path, ...] = ()
    generated: tuple[tuple[str, Path], ...] = ()
    gold: tuple[tuple[str, Path], ...] = ()
    manifest: Path | None = None
    generations: tuple[Path, ...] = ()
    """Folders in which ``beholder generate`` made images."""


@dataclass(frozen=True, slots=True)
class Intake:
    """The tables, what they were made from, and what is wrong; with any fault the tables are not to be used."""

    images: pl.DataFrame
    prompts: pl.DataFrame
    entries: tuple[ImageEntry, ...]
    copies: Mapping[str, Path]
    """Path below the study folder -> file to be copied there."""
    faults: tuple[str, ...]
    notes: tuple[str, ...]


def gather_images(
    sources: Sources,
    folder: Path,
    *,
    copy: bool = False,
    room: Path | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Intake:
    """Find and open all images for a study in ``folder``; nothing is written there.

    Paths are stored relative to ``folder``. Those of images that are to be copied point to
    ``images/<generator>/…`` within it, and ``copies`` says which file goes where.

    Args:
        sources: Where the images are.
        folder: Of the study.
        copy: Whether all images are to be copied.
        room: Where images of tar and Parquet files are unpacked; these are to be copied in any case. Without a
            room, only loose images are taken.
        progress: Is called with the number of images that were opened, and of all.

    Returns:
        The tables, and all faults.
    """
    listed = read_manifest(sources.manifest) if sources.manifest else Listing()
    generated = [list_generations(place) for place in sources.generations]
    listings = [*_search(sources, room), listed, *generated]
    entries = tuple(entry for listing in listings for entry in listing.entries)
    outcomes = inspect_files([entry.file for entry in entries], progress)
    sound = [
        (entry, inspected)
        for entry, inspected in zip(entries, outcomes, strict=True)
        if isinstance(inspected, UsableFile)
    ]
    moved = [copy or (room is not None and entry.file.is_relative_to(room)) for entry, _ in sound]
    paths = [
        _copied(entry) if moves else _stored(entry.file, folder)
        for (entry, _), moves in zip(sound, moved, strict=True)
    ]
    copies = [(path, entry) for path, (entry, _), moves in zip(paths, sound, moved, strict=True) if moves]
    faults = [
        *_generator_faults(sources, [listed, *generated]),
        *_scope_faults(sources, entries),
        *(fault for listing in listings for fault in listing.faults),
        *(
            f"{entry.file}: {inspected.reason}"
            for entry, inspected in zip(entries, outcomes, strict=True)
            if isinstance(inspected, UnusableFile)
        ),
        *_twice("id", [(entry.image, str(entry.file)) for entry in entries]),
        *_twice("content", [(f"{entry.generator} {inspected.sha256}", entry.image) for entry, inspected in sound]),
        *_twice("place for the copy", [(path, entry.image) for path, entry in copies]),
    ]
    if room is not None:
        faults = [without_room(fault, room) for fault in faults]
    return Intake(
        images=IMAGES.frame([_row(*pair, path) for pair, path in zip(sound, paths, strict=True)]),
        prompts=_prompts(entries),
        entries=entries,
        copies={path: entry.file for path, entry in copies},
        faults=tuple(dict.fromkeys(faults)),
        notes=(*(note for listing in listings for note in listing.notes), *_shared_content(sound)),
    )


def _search(sources: Sources, room: Path | None) -> Iterator[Listing]:
    places = [
        *((REAL, place, True, False) for place in sources.real),
        *((name, place, False, False) for name, place in sources.generated),
        *((name, place, False, True) for name, place in sources.gold),
    ]
    for name, place, real, gold in places:
        packed = search_packed(place, room, name, real=real, gold=gold) if room is not None else None
        yield search_folder(place, name, real=real, gold=gold) if packed is None else packed


def _copied(entry: ImageEntry) -> str:
    return f"{IMAGES_FOLDER}/{entry.generator}/{entry.below}"


def _stored(file: Path, folder: Path) -> str:
    """Return the path from the study folder, or the absolute path where there is none (another drive)."""
    try:
        return Path(os.path.relpath(file.absolute(), folder.resolve())).as_posix()
    except ValueError:
        return file.absolute().as_posix()


def _generator_faults(sources: Sources, listings: Sequence[Listing]) -> Iterator[str]:
    """Yield faults of names that are not allowed or that several sources use."""
    named = [name for name, _ in (*sources.generated, *sources.gold)]
    for listing in listings:
        named += sorted({entry.generator for entry in listing.entries if not entry.real})
    for name, count in Counter(named).items():
        if name == REAL:
            yield f"a generator cannot be called '{REAL}': that names the real images"
        elif not GENERATOR_NAME.fullmatch(name):
            yield f"generator '{name}': use letters, digits, spaces and . _ + - ( ), in parts with / between"
        elif count > 1:
            yield f"generator '{name}' is named {count} times; put its images into one folder or one manifest"


def _scope_faults(sources: Sources, entries: Sequence[ImageEntry]) -> Iterator[str]:
    if sources == Sources():
        yield "no images were given: name folders (generated, real), a manifest or generations"
    elif entries and all(entry.real or entry.gold for entry in entries):
        yield "no generated images to be judged: all are real or gold"


def _twice(what: str, pairs: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Yield a fault for each key that several images have."""
    holders: dict[str, list[str]] = defaultdict(list)
    for key, holder in pairs:
        holders[key].append(holder)
    for key, several in holders.items():
        if len(several) > 1:
            name = f" '{key}'" if what != "content" else ""
            yield f"the same {what}{name}: {', '.join(several)}"


def _row(entry: ImageEntry, inspected: UsableFile, path: str) -> dict[str, object]:
    return {
        "image": entry.image,
        "path": path,
        "generator": entry.generator,
        "real": entry.real,
        "gold": entry.gold,
        "prompt": prompt_id(entry.prompt) if entry.prompt else None,
        "style": entry.style,
        "width": inspected.width,
        "height": inspected.height,
        "sha256": inspected.sha256,
    }


def _prompts(entries: Sequence[ImageEntry]) -> pl.DataFrame:
    texts = dict.fromkeys(entry.prompt for entry in entries if entry.prompt)
    return PROMPTS.frame([{"prompt": prompt_id(text), "text": text} for text in texts])


def _shared_content(sound: Sequence[tuple[ImageEntry, UsableFile]]) -> Iterator[str]:
    """Yield a note for each two generators that have files in common, which is rarely intended."""
    makers: dict[str, set[str]] = defaultdict(set)
    for entry, inspected in sound:
        makers[inspected.sha256].add(entry.generator)
    shared = Counter(tuple(sorted(names)) for names in makers.values() if len(names) > 1)
    for names, count in shared.items():
        yield f"{count} files are the same, byte for byte, under {' and '.join(names)}"
