"""Images of a study or a folder as tar files, and back: ``beholder copy --shards`` and ``--loose``."""

from pathlib import Path

import polars as pl

from beholder.errors import ImageError
from beholder.formats.imported import UNKNOWN
from beholder.images.folders import search_folder
from beholder.images.sources import ImageFile, find_images
from beholder.images.tar_shards import Sample, unpack, write_shards
from beholder.study.study import FILE_NAME
from beholder.tables.store import Store


def shard_images(source: Path, target: Path, size: int) -> tuple[int, int]:
    """Write the images of a study, or of a folder with its prompts, as tar files; return images and files.

    Of a study, what is beside each image says its generator and hash.
    """
    samples = _of_study(source) if (source / FILE_NAME).is_file() else _of_folder(source)
    return len(samples), len(write_shards(samples, target, size))


def unpack_shards(source: Path, target: Path) -> int:
    """Write the images of tar or Parquet files as loose files with their prompts; return how many."""
    return unpack(find_images(source), target)


def _of_study(folder: Path) -> list[Sample]:
    store = Store(folder)
    images = store.read("images").filter(~pl.col("gold") & (pl.col("sha256") != UNKNOWN))
    if images.is_empty():
        raise ImageError("images", [f"{folder}: the study has no image files"])
    texts = dict(store.read_or_empty("prompts").select("prompt", "text").iter_rows())
    return [
        Sample(
            row["image"],
            ImageFile(row["path"], folder / row["path"]),
            texts.get(row["prompt"]),
            {"generator": row["generator"], "sha256": row["sha256"]},
        )
        for row in images.iter_rows(named=True)
    ]


def _of_folder(folder: Path) -> list[Sample]:
    listing = search_folder(folder, "")
    if listing.faults:
        raise ImageError("images", list(listing.faults))
    return [
        Sample(str(entry.below), ImageFile(str(entry.below), entry.file), entry.prompt)
        for entry in listing.entries
    ]
