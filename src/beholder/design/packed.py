"""Images in tar and Parquet files as images of a study: they are unpacked first, since pages show files."""

import re
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from beholder.errors import ImageError
from beholder.images.folders import Listing, search_folder
from beholder.images.parquet_images import ParquetImage
from beholder.images.sources import find_images
from beholder.images.tar_images import TarImage
from beholder.images.tar_shards import unpack

PACKED = (".tar", ".parquet")
"""Suffixes of files that hold images."""


def may_be_packed(place: Path) -> bool:
    """Say whether a place is a tar or Parquet file, or a folder that has some."""
    if place.is_dir():
        return any(path.suffix.lower() in PACKED for path in place.rglob("*"))
    return place.suffix.lower() in PACKED


def room_for_unpacked(folder: Path) -> TemporaryDirectory[str]:
    """Return an empty folder on the disk of the study that is to be made; what a killed run left is removed."""
    beside = next(parent for parent in folder.parents if parent.is_dir())
    prefix = f".{folder.name}.unpacked-"
    for left_over in (path for path in beside.iterdir() if path.name.startswith(prefix)):
        shutil.rmtree(left_over, ignore_errors=True)
    return TemporaryDirectory(prefix=prefix, dir=beside)


def search_packed(
    place: Path, room: Path, generator: str, *, real: bool = False, gold: bool = False
) -> Listing | None:
    """Unpack the images of tar or Parquet files, and list them as images of one generator.

    Args:
        place: A tar file, a Parquet file with images, or a folder that has such files and no loose images.
        room: Where they are unpacked, in a folder of their own.
        generator: Who made them.
        real: Whether they are real.
        gold: Whether they only serve to check raters.

    Returns:
        The images with their prompts, and the faults; ``None`` where the place has no tar or Parquet files.
    """
    if not may_be_packed(place) or not place.exists():
        return None
    try:
        images = find_images(place)
        if not isinstance(images[0], TarImage | ParquetImage):
            return None
        own = room / str(sum(1 for _ in room.iterdir())) / place.name
        unpack(images, own)
    except ImageError as error:
        return Listing(faults=error.faults)
    return search_folder(own, generator, real=real, gold=gold)


def without_room(fault: str, room: Path) -> str:
    """Return a fault that names an unpacked image by the file it comes from: nobody knows the room."""
    return re.sub(re.escape(f"{room}/") + r"\d+/", "", fault)
