"""The tables of a study as datasets of Hugging Face's library."""

from collections.abc import Sequence
from pathlib import Path

import datasets
import polars as pl

from beholder.tables.store import Store


def study_datasets(folder: Path, tables: Sequence[str]) -> dict[str, datasets.Dataset]:
    """Return the named tables; images have their file as a picture, ``None`` where it is not available."""
    store = Store(folder)
    frames = {name: store.read(name) for name in tables}
    if "images" in frames:
        files = [str(path) if (path := folder / own).is_file() else None for own in frames["images"]["path"]]
        frames["images"] = frames["images"].with_columns(pl.Series("file", files, dtype=pl.String))
    as_datasets = {name: datasets.Dataset(frame.to_arrow()) for name, frame in frames.items()}
    if "images" in as_datasets:
        as_datasets["images"] = as_datasets["images"].cast_column("file", datasets.Image())
    return as_datasets
