"""Heatmaps read one by one: a ``regions`` table opens in the same time however many maps it has."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from beholder.errors import StageError, TableError
from beholder.feedback.heatmap import decode_heatmap
from beholder.tables.catalogue import TABLES
from beholder.tables.store import UNREADABLE, Store

MapKey = tuple[str, str, str]
"""Question, aspect and image of a map."""


@dataclass(frozen=True, slots=True)
class Regions:
    """The maps of a study: their keys are in memory, the maps are read when asked for."""

    path: Path
    keys: pl.DataFrame
    """``question``, ``aspect``, ``image``, ``width``, ``height`` and ``raters`` of every map."""
    places: dict[MapKey, int]

    def __len__(self) -> int:
        return len(self.places)

    def __iter__(self) -> Iterator[MapKey]:
        return iter(self.places)

    def heatmap(self, question: str, aspect: str, image: str) -> NDArray[np.float64]:
        """The map (height, width) of values from 0 to 1; a ``KeyError`` where there is none."""
        place = self.places[question, aspect, image]
        png = pl.scan_parquet(self.path).select("heatmap").slice(place, 1).collect().item()
        return decode_heatmap(png)


def open_regions(store: Store) -> Regions:
    """The maps of a study folder; only their keys are read."""
    path, table = store.path("regions"), TABLES["regions"]
    if not path.is_file():
        raise StageError(f"{path} is missing. It is written by: beholder {table.stage} {store.folder}")
    names = [column.name for column in table.columns if column.name != "heatmap"]
    try:
        keys = pl.read_parquet(path, columns=names)
    except UNREADABLE as error:
        raise TableError(str(path), [f"not a readable table of maps ({error})"]) from error
    return Regions(path, keys, {key: place for place, key in enumerate(keys.select(table.key).iter_rows())})
