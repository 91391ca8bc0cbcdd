"""Whether image files can be shown, and how large they are then."""

import hashlib
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from PIL import ExifTags, Image

from beholder.images.decode import decode, opened, quiet_pillow, read_file
from beholder.images.formats import DAMAGE, UndecodableError

MAX_WORKERS = 8

Progress = Callable[[int, int], None]
"""Called with the number done and the total."""


@dataclass(frozen=True, slots=True)
class UsableFile:
    """An image file that can be shown: its size as displayed, after the rotation its EXIF asks for."""

    width: int
    height: int
    sha256: str


@dataclass(frozen=True, slots=True)
class UnusableFile:
    """An image file that cannot be shown, and why."""

    reason: str


def inspect_files(files: Sequence[Path], progress: Progress | None = None) -> list[UsableFile | UnusableFile]:
    """Decode each file in full, several at a time; the results are in the order of the files."""
    workers = min(MAX_WORKERS, os.cpu_count() or 1)
    outcomes: list[UsableFile | UnusableFile] = []
    with quiet_pillow():
        pool = ThreadPoolExecutor(workers)
        try:
            for outcome in pool.map(inspect_file, files):
                outcomes.append(outcome)
                if progress:
                    progress(len(outcomes), len(files))
        finally:
            pool.shutdown(cancel_futures=True)
    return outcomes


def inspect_file(file: Path) -> UsableFile | UnusableFile:
    """Decode one file in full; call it within :func:`beholder.images.decode.quiet_pillow`."""
    try:
        content = read_file(file)
        width, height = decode(content).size
    except UndecodableError as error:
        return UnusableFile(str(error))
    return UsableFile(width, height, hashlib.sha256(content).hexdigest())


def read_header(file: Path) -> UsableFile:
    """Size and hash of a file whose pixels are not looked at; UndecodableError where it is no image."""
    content = read_file(file)
    with opened(content) as image:
        width, height = _displayed(image)
    return UsableFile(width, height, hashlib.sha256(content).hexdigest())


def _displayed(image: Image.Image) -> tuple[int, int]:
    try:
        orientation = image.getexif().get(ExifTags.Base.Orientation, 1)
    except DAMAGE:
        orientation = 1  # browsers pass over a damaged EXIF block, too
    width, height = image.size
    return (height, width) if orientation in (5, 6, 7, 8) else (width, height)
