"""The images of a folder, and the prompts that come with them.

A folder is searched with its subfolders; names that begin with a dot are passed over. The prompt of an image comes
from ``prompts.csv`` in the folder itself (columns ``file`` or ``image``, relative to the folder, ``prompt``
and, optionally, ``style``) or, for an image not listed there, from a text file of the same name (``cat.png``,
``cat.txt``).
"""

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from beholder.images.formats import SUFFIXES
from beholder.images.listing import Row, read_listing

VECTOR_SUFFIXES = (".svg", ".svgz")
PROMPTS_FILE = "prompts.csv"


@dataclass(frozen=True, slots=True)
class ImageEntry:
    """An image that a source lists, not yet opened."""

    image: str
    file: Path
    generator: str
    real: bool
    gold: bool
    prompt: str | None
    style: str | None
    below: PurePosixPath
    """Where a copy goes, below the folder of the generator."""


@dataclass(frozen=True, slots=True)
class Listing:
    """The images of one source, and what is wrong or worth knowing about it."""

    entries: tuple[ImageEntry, ...] = ()
    faults: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def search_folder(folder: Path, generator: str, *, real: bool = False, gold: bool = False) -> Listing:
    """List all images of a folder, in the order of their names, as images of one generator."""
    if not folder.is_dir():
        found = "not a folder, nor a tar or Parquet file with images" if folder.exists() else "no such folder"
        return Listing(faults=(f"{folder}: {found}",))
    listed, faults = _listed_prompts(folder)
    entries: list[ImageEntry] = []
    ignored: Counter[str] = Counter()
    names, linked = _files_below(folder, faults)
    for name in names:
        suffix = name.suffix.lower()
        if not _is_unicode(folder / name):
            faults.append(f"{str(folder / name)!a}: the name is not valid UTF-8")
        elif (reason := suffix_fault(suffix)) is None:
            prompt, style, fault = _prompt_of(folder, name, listed)
            faults += [fault] if fault else []
            image = f"{generator}/{name.with_suffix('')}"
            entries.append(ImageEntry(image, folder / name, generator, real, gold, prompt, style, name))
        elif suffix in VECTOR_SUFFIXES:
            faults.append(f"{folder / name}: {reason}")
        elif suffix != ".txt" and str(name) != PROMPTS_FILE:
            ignored[suffix or "no suffix"] += 1
    strangers = sorted(listed.keys() - {str(entry.below) for entry in entries})
    faults += [f"{folder / PROMPTS_FILE}: lists '{name}', which is no image here" for name in strangers]
    if not entries and not faults:
        faults.append(f"{folder}: no images here; looked for {' '.join(SUFFIXES)}")
    kinds = ", ".join(f"{count} {suffix}" for suffix, count in sorted(ignored.items()))
    notes = [f"{folder}: ignored what is no image ({kinds})"] if ignored else []
    notes += [f"{path}: a link to a folder is not followed" for path in linked]
    return Listing(tuple(entries), tuple(faults), tuple(notes))


def suffix_fault(suffix: str) -> str | None:
    """Say why a file with this suffix is not accepted; ``None`` where it is."""
    if suffix in SUFFIXES:
        return None
    if suffix in VECTOR_SUFFIXES:
        return "SVG is drawn by the browser, at any size and with scripts; make it a PNG first"
    return f"'{suffix}' is not taken as an image; known: {' '.join(SUFFIXES)}"


def _listed_prompts(folder: Path) -> tuple[dict[str, Row], list[str]]:
    path = folder / PROMPTS_FILE
    if not path.exists():
        return {}, []
    rows, faults = read_listing(path, required=("file", "prompt"), optional=("style",), synonyms={"image": "file"})
    listed: dict[str, Row] = {}
    for row in rows:
        file = row["file"] or ""
        if file in listed:
            faults.append(f"{path}: lists '{file}' more than once")
        listed[file] = row
    return ({}, faults) if faults else (listed, faults)


def _files_below(folder: Path, faults: list[str]) -> tuple[list[PurePosixPath], list[Path]]:
    """Return files relative to the folder, and links to folders; what cannot be searched becomes a fault."""
    names: list[PurePosixPath] = []
    linked: list[Path] = []
    for root, folders, files in os.walk(
        folder, onerror=lambda error: faults.append(f"cannot be searched: {error}")
    ):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        linked += [Path(root, name) for name in folders if Path(root, name).is_symlink()]
        below = Path(root).relative_to(folder)
        names += [PurePosixPath((below / name).as_posix()) for name in files if not name.startswith(".")]
    return sorted(names), linked


def _is_unicode(path: Path) -> bool:
    """Say whether the name is text: others come out of the file system as lone surrogates."""
    return not any("\ud800" <= letter <= "\udfff" for letter in str(path))


def _prompt_of(
    folder: Path, name: PurePosixPath, listed: Mapping[str, Row]
) -> tuple[str | None, str | None, str | None]:
    """Return prompt, style and fault."""
    row = listed.get(str(name))
    if row is not None:
        return row["prompt"], row["style"], None
    beside = folder / name.with_suffix(".txt")
    try:
        text = beside.read_text(encoding="utf-8-sig").strip() if beside.is_file() else ""
    except (OSError, UnicodeDecodeError) as error:
        return None, None, f"{beside}: cannot be read as UTF-8 text ({error})"
    return text or None, None, None
