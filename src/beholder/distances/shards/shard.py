"""Shards of a set of features, and how work is done on each."""

import socket
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from beholder.distances.features import Features
from beholder.distances.shards.parquet_features import is_parquet, parquet_shape, read_parquet_features
from beholder.errors import UserError
from beholder.stats.each import Map


class Shard(Protocol):
    """Some images of a set: their features are loaded when it is called."""

    def __call__(self) -> Features:
        """Return the features (images, dims)."""
        ...

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of images and of dims, known without loading the features."""
        ...


@dataclass(frozen=True, slots=True)
class FeatureFile:
    """A shard in a file: of NumPy's format, or Parquet with a column of vectors."""

    path: Path

    def __call__(self) -> Features:
        """Read the file."""
        return read_parquet_features(self.path) if is_parquet(self.path) else np.array(_mapped(self.path))

    @property
    def shape(self) -> tuple[int, int]:
        """What the head of the file says."""
        images, dims = parquet_shape(self.path) if is_parquet(self.path) else _mapped(self.path).shape
        return images, dims


@dataclass(frozen=True, eq=False, slots=True)
class FileRows:
    """A shard that is some rows of such a file, in their order: a range where they lie one after the other."""

    path: Path
    rows: range | NDArray[np.intp]
    dims: int

    def __call__(self) -> Features:
        """Read the rows."""
        rows = slice(self.rows.start, self.rows.stop) if isinstance(self.rows, range) else self.rows
        return np.array(_mapped(self.path)[rows])

    @property
    def shape(self) -> tuple[int, int]:
        """As many images as there are rows."""
        return len(self.rows), self.dims


@dataclass(frozen=True, eq=False, slots=True)
class Held:
    """A shard that is in memory."""

    features: Features

    def __call__(self) -> Features:
        """Return the features."""
        return self.features

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of the features."""
        images, dims = self.features.shape
        return images, dims


@dataclass(frozen=True, slots=True)
class Joined:
    """Several shards as one, of this shape together."""

    parts: tuple[Shard, ...]
    shape: tuple[int, int]

    def __call__(self) -> Features:
        """Load all parts."""
        if len(self.parts) == 1:
            return self.parts[0]()
        features: Features = np.concatenate([part() for part in self.parts])
        return features


def sizes_of(shards: Sequence[Shard], each: Map) -> list[int]:
    """Return the number of images of each shard."""
    return list(each(_size, shards))


def rows_of_file(path: Path, rows: NDArray[np.intp], dims: int, size: int) -> list[FileRows]:
    """Return shards of ``size`` images each, which are these rows of a file in this order.

    Example:
        >>> [shard.rows for shard in rows_of_file(Path("vectors.npy"), np.arange(5, 10), dims=8, size=3)]
        [range(5, 8), range(8, 10)]
    """
    starts = range(0, max(len(rows), 1), size)
    return [FileRows(path, _range_if_consecutive(rows[start : start + size]), dims) for start in starts]


def rows_in_memory(features: Features, size: int) -> list[Held]:
    """Return shards of ``size`` images each, which are these features in their order.

    Example:
        >>> [shard.shape for shard in rows_in_memory(np.zeros((5, 8)), size=3)]
        [(3, 8), (2, 8)]
    """
    starts = range(0, max(len(features), 1), size)
    return [Held(features[start : start + size]) for start in starts]


def joined(shards: Sequence[Shard], sizes: Sequence[int], least: int) -> list[Joined]:
    """Return the shards in order as fewer of them, each of at least ``least`` images but for the last.

    Example:
        >>> quarters = [Held(np.zeros((25, 8)))] * 4
        >>> [group.shape for group in joined(quarters, [25] * 4, least=60)]
        [(75, 8), (25, 8)]
    """
    groups, group, images = list[Joined](), list[Shard](), 0
    for place, (shard, size) in enumerate(zip(shards, sizes, strict=True), start=1):
        group.append(shard)
        images += size
        if images >= least or place == len(shards):
            groups.append(Joined(tuple(group), (images, shard.shape[1])))
            group, images = [], 0
    return groups


def _mapped(path: Path) -> NDArray[Any]:
    """Map a file of single or double precision into memory."""
    try:
        mapped: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    except FileNotFoundError as error:
        raise UserError(
            f"{path}: no such file of features on the machine {socket.gethostname()}; workers read features where "
            "they lie, so their folder (--features) has to be one that all machines reach under the same path"
        ) from error
    return mapped


def _size(shard: Shard) -> int:
    return shard.shape[0]


def _range_if_consecutive(rows: NDArray[np.intp]) -> range | NDArray[np.intp]:
    first = int(rows[0]) if len(rows) else 0
    return range(first, first + len(rows)) if (np.diff(rows) == 1).all() else rows
