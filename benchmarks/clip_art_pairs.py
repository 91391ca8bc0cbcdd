"""Pictures of Debian's ``openclipart-png`` with their titles in ``openclipart-svg``, both in the public domain."""

import re
from collections import Counter
from dataclasses import dataclass
from html import unescape
from pathlib import Path

MOST_PICTURES = 12
"""Titles of more pictures than this name a collection, not what is shown."""
COLLECTIONS = re.compile(r"theme|iconset|collection|clipart by nicu", re.I)
TITLE = re.compile(r"<dc:title>\s*([^<]*?)\s*</dc:title>")
KEYWORD = re.compile(r"<rdf:li>\s*([^<]*?)\s*</rdf:li>")
EMPTY_KEYWORD = re.compile(r"hash|unsorted|^$")


@dataclass(frozen=True, slots=True)
class Pair:
    """A picture, its title and its keywords."""

    file: Path
    title: str
    keywords: tuple[str, ...]

    @property
    def group(self) -> str:
        """The title without case, numbers, signs and brackets: pairs of one group are of one side of the split."""
        plain = re.sub(r"\([^)]*\)", " ", self.title.lower())
        return " ".join(re.findall(r"[^\W\d_]+", plain)) or self.title.lower()


def read_pairs(folder: Path) -> list[Pair]:
    """Read the pairs below ``folder``, which has the sub-folders ``png`` and ``svg`` of the two packages."""
    pairs = [pair for file in sorted((folder / "svg").rglob("*.svg")) if (pair := _read_pair(folder, file))]
    count = Counter(pair.title.lower() for pair in pairs)
    return [
        pair
        for pair in pairs
        if pair.title and count[pair.title.lower()] <= MOST_PICTURES and not COLLECTIONS.search(pair.title)
    ]


def _read_pair(folder: Path, drawing: Path) -> Pair | None:
    """The pair of a drawing, if it has a picture."""
    picture = folder / "png" / drawing.relative_to(folder / "svg").with_suffix(".png")
    text = drawing.read_text(errors="replace")
    title = TITLE.search(text)
    if title is None or not picture.exists():
        return None
    keywords = (
        unescape(word).replace("_", " ") for word in KEYWORD.findall(text) if not EMPTY_KEYWORD.search(word)
    )
    return Pair(picture, unescape(title[1]), tuple(dict.fromkeys(keywords)))
