"""From folders and manifests to the tables ``images`` and ``prompts``, every image opened and every fault listed.

The id of an image is the one its manifest gives, or ``<generator>/<path within its folder, without suffix>``.
The id of a prompt is the first 12 hexadecimal digits of the SHA-256 of its text, so the same text has the same id
in every study.
"""

import hashlib
import os
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from beholder.design.folders import Findings, Found, search_folder
from beholder.design.manifest import REAL, read_manifest
from beholder.images.inspection import UnusableFile, UsableFile, inspect_files
from beholder.tables.schemas.new import IMAGES, PROMPTS

GENERATOR_NAME = re.compile(r"\w[\w.+() -]*(/\w[\w.+() -]*)*")
IMAGES_FOLDER = "images"


@dataclass(frozen=True, slots=True)
class Sources:
    """Where the images of a study come from. *Gold* images serve only to check people."""

    real: tuple[Path, ...] = ()
    generated: tuple[tuple[str, Path], ...] = ()
    gold: tuple[tuple[str, Path], ...] = ()
    manifest: Path | None = None


@dataclass(frozen=True, slots=True)
class Intake:
    """The tables, what they were made from, and what is wrong; with any fault the tables are not to be used."""

    images: pl.DataFrame
    prompts: pl.DataFrame
    found: tuple[Found, ...]
    copies: Mapping[str, Path]
    """Path below the study folder -> file to be copied there."""
    faults: tuple[str, ...]
    notes: tuple[str, ...]


def take_in(
    sources: Sources, folder: Path, *, copy: bool = False, progress: Callable[[int, int], None] | None = None
) -> Intake:
    """Find and open all images for a study in ``folder``; nothing is written.

    Paths are stored relative to ``folder``; with ``copy`` they point to ``images/<generator>/…`` within it, and
    ``copies`` says which file goes where.
    """
    listed = read_manifest(sources.manifest) if sources.manifest else Findings()
    places = [*_search(sources), listed]
    found = tuple(one for place in places for one in place.found)
    outcomes = inspect_files([one.file for one in found], progress)
    sound = [(one, got) for one, got in zip(found, outcomes, strict=True) if isinstance(got, UsableFile)]
    paths = [_copied(one) if copy else _stored(one.file, folder) for one, _ in sound]
    faults = [
        *_generator_faults(sources, listed.found),
        *_scope_faults(sources, found),
        *(fault for place in places for fault in place.faults),
        *(
            f"{o.file}: {got.reason}"
            for o, got in zip(found, outcomes, strict=True)
            if isinstance(got, UnusableFile)
        ),
        *_twice("id", [(one.image, str(one.file)) for one in found]),
        *_twice("content", [(f"{one.generator} {got.sha256}", one.image) for one, got in sound]),
        *(
            _twice("place for the copy", [(p, o.image) for p, (o, _) in zip(paths, sound, strict=True)])
            if copy
            else ()
        ),
    ]
    return Intake(
        images=IMAGES.frame([_row(*pair, path) for pair, path in zip(sound, paths, strict=True)]),
        prompts=_prompts(found),
        found=found,
        copies={path: one.file for path, (one, _) in zip(paths, sound, strict=True)} if copy else {},
        faults=tuple(dict.fromkeys(faults)),
        notes=(*(note for place in places for note in place.notes), *_shared_content(sound)),
    )


def prompt_id(text: str) -> str:
    """The id of a prompt: the same for the same text, everywhere."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _search(sources: Sources) -> Iterator[Findings]:
    for folder in sources.real:
        yield search_folder(folder, REAL, real=True)
    for name, folder in sources.generated:
        yield search_folder(folder, name)
    for name, folder in sources.gold:
        yield search_folder(folder, name, gold=True)


def _copied(one: Found) -> str:
    return f"{IMAGES_FOLDER}/{one.generator}/{one.below}"


def _stored(file: Path, folder: Path) -> str:
    """The path from the study folder, or the whole path where there is none (another drive)."""
    try:
        return Path(os.path.relpath(file.absolute(), folder.resolve())).as_posix()
    except ValueError:
        return file.absolute().as_posix()


def _generator_faults(sources: Sources, listed: Sequence[Found]) -> Iterator[str]:
    """Names that cannot be, or that several sources use."""
    named = [name for name, _ in (*sources.generated, *sources.gold)]
    named += sorted({one.generator for one in listed if not one.real})
    for name, count in Counter(named).items():
        if name == REAL:
            yield f"a generator cannot be called '{REAL}': that names the real images"
        elif not GENERATOR_NAME.fullmatch(name):
            yield f"generator '{name}': use letters, digits, spaces and . _ + - ( ), in parts with / between"
        elif count > 1:
            yield f"generator '{name}' is named {count} times; put its images into one folder or one manifest"


def _scope_faults(sources: Sources, found: Sequence[Found]) -> Iterator[str]:
    if sources == Sources():
        yield "no images were given: name folders (generated, real) or a manifest"
    elif found and all(one.real or one.gold for one in found):
        yield "no generated images to be judged: all are real or gold"


def _twice(what: str, pairs: Sequence[tuple[str, str]]) -> Iterator[str]:
    """A fault for each key that several have."""
    holders: dict[str, list[str]] = defaultdict(list)
    for key, holder in pairs:
        holders[key].append(holder)
    for key, several in holders.items():
        if len(several) > 1:
            shown = f" '{key}'" if what != "content" else ""
            yield f"the same {what}{shown}: {', '.join(several)}"


def _row(one: Found, got: UsableFile, path: str) -> dict[str, object]:
    return {
        "image": one.image,
        "path": path,
        "generator": one.generator,
        "real": one.real,
        "gold": one.gold,
        "prompt": prompt_id(one.prompt) if one.prompt else None,
        "style": one.style,
        "width": got.width,
        "height": got.height,
        "sha256": got.sha256,
    }


def _prompts(found: Sequence[Found]) -> pl.DataFrame:
    texts = dict.fromkeys(one.prompt for one in found if one.prompt)
    return PROMPTS.frame([{"prompt": prompt_id(text), "text": text} for text in texts])


def _shared_content(sound: Sequence[tuple[Found, UsableFile]]) -> Iterator[str]:
    """A note for each two generators that have files in common: seldom meant."""
    makers: dict[str, set[str]] = defaultdict(set)
    for one, got in sound:
        makers[got.sha256].add(one.generator)
    shared = Counter(tuple(sorted(names)) for names in makers.values() if len(names) > 1)
    for names, count in shared.items():
        yield f"{count} files are the same, byte for byte, under {' and '.join(names)}"
