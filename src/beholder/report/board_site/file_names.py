"""Names of pages: what entries, slices and prompts are called in addresses."""

import hashlib
import re
import unicodedata
from collections.abc import Iterable

LONGEST = 40
"""Characters of a name that stay readable in an address."""


def file_names(names: Iterable[str]) -> dict[str, str]:
    """Return a file name without its ending for each name: safe on every system, each of its own.

    A name that is not plain is written in plain characters; where that loses something, a part of its
    hash follows, so that a page keeps its address when others are added.

    Example:
        >>> file_names(["sd-2.1", "SD 2.1", "aurora"])
        {'sd-2.1': 'sd-2-1-e9f6e4', 'SD 2.1': 'sd-2-1-c79784', 'aurora': 'aurora'}
    """
    return {name: _file_name(name) for name in names}


def _file_name(name: str) -> str:
    ascii_text = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    plain = re.sub(r"[^a-z0-9]+", "-", ascii_text).strip("-")[:LONGEST].strip("-")
    if plain == name and not RESERVED.fullmatch(plain):
        return plain
    digest = hashlib.sha256(name.encode()).hexdigest()[:6]
    return f"{plain}-{digest}" if plain else digest


RESERVED = re.compile(r"index|page-\d+|con|nul|aux|prn|com\d|lpt\d")
"""The lists of a folder, and what Windows keeps for devices."""
