"""Which images a packaged model was trained on, so that its agreement with raters can leave them out.

A file of sorted 6-byte prefixes of the SHA-256 of the image files: enough to recognise an image (the chance that
any of a million others matches one of 2,000 is 1 in 140,000), and nothing that an image could be rebuilt from.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

SHIFT_FILE, SHIFT_ASPECT = "shift.safetensors", "shift"
"""How unlike the training images of a model an image is: the file beside its weights, and the name for it."""

PREFIX = 6
"""Bytes of each hash that are kept."""


@dataclass(frozen=True, slots=True)
class TrainingImages:
    """The images of a data set that a model was trained on, by the hashes of their files.

    Example:
        >>> import hashlib
        >>> file = hashlib.sha256(b"an image file").hexdigest()
        >>> images = TrainingImages.of_hashes("some data set", [file])
        >>> file in images, "00" * 32 in images
        (True, False)
    """

    data_set: str
    prefixes: frozenset[str]
    """As hexadecimal texts."""

    @classmethod
    def of_hashes(cls, data_set: str, hashes: Iterable[str]) -> "TrainingImages":
        """From SHA-256 as hexadecimal texts."""
        return cls(data_set, frozenset(sha256[: 2 * PREFIX] for sha256 in hashes))

    @classmethod
    def read(cls, data_set: str, path: Path) -> "TrainingImages":
        """From a file that :meth:`content` was written to."""
        content = path.read_bytes()
        return cls(data_set, frozenset(content[at : at + PREFIX].hex() for at in range(0, len(content), PREFIX)))

    @property
    def content(self) -> bytes:
        """The prefixes in ascending order."""
        return bytes.fromhex("".join(sorted(self.prefixes)))

    def __contains__(self, sha256: str) -> bool:
        return sha256[: 2 * PREFIX] in self.prefixes
