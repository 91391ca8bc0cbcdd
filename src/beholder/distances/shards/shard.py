"""Shards of a set of features, and how work is done on each."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

import numpy as np

from beholder.distances.features import Features
from beholder.distances.shards.parquet_features import read_parquet_features

Answer = TypeVar("Answer")
Part = TypeVar("Part")


class Shard(Protocol):
    """Some images of a set: their features are loaded when it is called."""

    def __call__(self) -> Features:
        """Return the features (images, dims)."""
        ...


@dataclass(frozen=True, slots=True)
class FeatureFile:
    """A shard in a file: of NumPy's format, or Parquet with a column of vectors."""

    path: Path

    def __call__(self) -> Features:
        """Read the file."""
        if self.path.suffix.lower() == ".parquet":
            return read_parquet_features(self.path)
        features: Features = np.load(self.path, allow_pickle=False)
        return features


@dataclass(frozen=True, eq=False, slots=True)
class Held:
    """A shard that is in memory."""

    features: Features

    def __call__(self) -> Features:
        """Return the features."""
        return self.features


class Map(Protocol):
    """How a function is applied to every element: as the built-in ``map`` does, or by several processes."""

    def __call__(self, function: Callable[[Part], Answer], parts: Iterable[Part], /) -> Iterator[Answer]:
        """Yield the answers in the order of the parts."""
        ...


def sizes_of(shards: Sequence[Shard], each: Map) -> list[int]:
    """Return the number of images of each shard."""
    return list(each(_size, shards))


def _size(shard: Shard) -> int:
    return len(shard())
