"""The images of a site: which are shown, as thumbnails or in full, and where their files are."""

import os
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import polars as pl

from beholder.formats.imported import UNKNOWN
from beholder.images.in_order import in_order
from beholder.images.thumbnail import QUALITY, open_or_none, shrunk

ImageChoice = Literal["none", "thumbnails", "full"]

IMAGES = "images"
"""Folder of the files."""

SIDE = 256
"""Longest side of a thumbnail in pixels: shown at about 170, sharp on fine screens."""

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Picture:
    """An image as the pages show it; addresses are relative to the site."""

    address: str
    width: int
    height: int
    full: str | None = None
    """Address of the file in full, where the site has it."""


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """The file of an entry's image of a prompt."""

    path: Path
    sha256: str
    width: int
    height: int


def image_sources(images: pl.DataFrame, folder: Path) -> dict[tuple[str, str], Source]:
    """Return the first image of each prompt and entry that has a file, by prompt and entry."""
    generated = images.filter(
        ~pl.col("real") & ~pl.col("gold") & pl.col("prompt").is_not_null() & (pl.col("sha256") != UNKNOWN)
    )
    columns = ("prompt", "generator", "path", "sha256", "width", "height")
    sources: dict[tuple[str, str], Source] = {}
    for prompt, entry, path, sha256, width, height in generated.select(columns).iter_rows():
        sources.setdefault((prompt, entry), Source(folder / path, sha256, width, height))
    return sources


def choose_prompts(
    prompts: Sequence[str], first: Iterable[str], sources: Mapping[tuple[str, str], Source], most: int
) -> set[str]:
    """Return the prompts whose images are shown, so that there are no more than ``most`` images.

    Args:
        prompts: All prompts, in order.
        first: Prompts that pages name as examples; they are chosen before others.
        sources: The images.
        most: Images of the site.

    Returns:
        All prompts where their images are few enough; else the examples, then prompts spread evenly over the rest.
    """
    counts: dict[str, int] = {}
    for prompt, _ in sources:
        counts[prompt] = counts.get(prompt, 0) + 1
    examples = dict.fromkeys(prompt for prompt in first if prompt in counts)
    rest = [prompt for prompt in prompts if prompt in counts and prompt not in examples]
    chosen: set[str] = set()
    room = most
    for prompt in (*examples, *_spread(rest)):
        if counts[prompt] <= room:
            chosen.add(prompt)
            room -= counts[prompt]
    return chosen


def _spread(names: Sequence[str]) -> list[str]:
    """Return all names in an order whose every beginning is spread over them (van der Corput)."""
    bits = max(len(names) - 1, 1).bit_length()
    return [names[k] for k in (int(f"{n:0{bits}b}"[::-1], 2) for n in range(1 << bits)) if k < len(names)]


def write_pictures(
    sources: Mapping[tuple[str, str], Source],
    site: Path,
    background: str,
    *,
    full: bool,
    earlier: Path | None,
    progress: Progress,
) -> dict[tuple[str, str], Picture]:
    """Write the images, each once under the hash of its bytes.

    Args:
        sources: The images to write.
        site: Where to write them.
        background: What transparent images are shown on.
        full: Whether the file itself is written too.
        earlier: The site as it was, whose thumbnails are used again.
        progress: Called with what is done.

    Returns:
        The pictures; those that cannot be decoded are left out.
    """
    by_hash = {source.sha256: source for source in sources.values()}
    (site / IMAGES).mkdir(exist_ok=True)

    def write(source: Source) -> Picture | None:
        stem = f"{IMAGES}/{source.sha256[:20]}"
        small = _write_thumbnail(source, site / f"{stem}.webp", background, earlier and earlier / f"{stem}.webp")
        if not small:
            return None
        original = f"{stem}-full{source.path.suffix.lower()}" if full else None
        if original is not None:
            shutil.copyfile(source.path, site / original)
        scale = min(1.0, SIDE / max(source.width, source.height))
        size = (max(round(source.width * scale), 1), max(round(source.height * scale), 1))
        return Picture(f"{stem}.webp", *size, original)

    pictures: dict[str, Picture | None] = {}
    for sha256, picture in zip(by_hash, in_order(write, by_hash.values(), os.cpu_count() or 1), strict=True):
        pictures[sha256] = picture
        progress("images", len(pictures), len(by_hash))
    return {key: picture for key, source in sources.items() if (picture := pictures[source.sha256]) is not None}


def _write_thumbnail(source: Source, target: Path, background: str, earlier: Path | None) -> bool:
    if earlier is not None and earlier.is_file():
        shutil.copyfile(earlier, target)
        return True
    image = open_or_none(source.path, background)
    if image is None:
        return False
    shrunk(image, SIDE).save(target, "WEBP", quality=QUALITY, method=4)
    return True
