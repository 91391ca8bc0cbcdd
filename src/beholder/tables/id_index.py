"""Which of all ids a text is, part by part of a large table, at the same cost whatever their number.

A join, or a cast to an enumerated type, sorts all ids into a table again for each part, so that time grows with
the square of a study. Here that is done once; and as the table holds numbers, a look-up is one access to memory.
"""

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

NOWHERE = -1


@dataclass(frozen=True, eq=False)
class IdIndex:
    """Distinct ids with a table of hashes: an id lies in the slot that its hash says, or in the next free one."""

    ids: pl.Series
    seed: int
    slots: NDArray[np.int64]  # (a power of 2,) the place of an id among the ids, or NOWHERE
    hashes: NDArray[np.uint64]  # (as many,) its hash

    @staticmethod
    def of(ids: pl.Series) -> "IdIndex":
        """Prepare distinct texts; each is numbered by its place."""
        seed = 0
        hashes = _hashes(ids, seed)
        while len(np.unique(hashes)) < len(hashes):
            seed += 1
            hashes = _hashes(ids, seed)
        slots = np.full(2 << len(ids).bit_length(), NOWHERE, np.int64)
        left, at = np.arange(len(ids)), _homes(hashes, len(slots))
        while len(left):
            free = slots[at] == NOWHERE
            slots[at[free]] = left[free]  # of several the last
            moved = slots[at] != left
            left, at = left[moved], _next(at[moved], len(slots))
        stored = np.zeros(len(slots), np.uint64)
        stored[slots >= 0] = hashes[slots[slots >= 0]]
        return IdIndex(ids, seed, slots, stored)

    def places(self, texts: pl.Series) -> NDArray[np.int64]:
        """Return the place of each text among the ids; ``NOWHERE`` for one that is none of them, and for null."""
        if self.ids.is_empty():
            return np.full(len(texts), NOWHERE)
        hashes = _hashes(texts, self.seed)
        at = _homes(hashes, len(self.slots))
        places = self.slots[at]
        left = np.flatnonzero((places >= 0) & (self.hashes[at] != hashes))
        while len(left):
            at[left] = _next(at[left], len(self.slots))
            places[left] = self.slots[at[left]]
            left = left[(places[left] >= 0) & (self.hashes[at[left]] != hashes[left])]
        same = self.ids.gather(np.maximum(places, 0)) == texts
        return np.where(same.fill_null(value=False).to_numpy(), places, NOWHERE)

    def holds(self, texts: pl.Series) -> bool:
        """Say whether each of the texts is one of the ids."""
        return bool((self.places(texts) >= 0).all())


@dataclass(frozen=True, eq=False)
class Enumerated:
    """Ids as an enumerated type in ascending order, for columns that come in parts."""

    index: IdIndex
    names: pl.Series
    """The ids, of that type."""

    @staticmethod
    def of(ids: pl.Series) -> "Enumerated":
        """Number the ids, which may be repeated."""
        ordered = ids.unique().sort()
        return Enumerated(IdIndex.of(ordered), ordered.cast(pl.Enum(ordered)))

    def coded(self, texts: pl.Series) -> pl.Series:
        """Return ids as the enumerated type, null where they are null; Polars refuses a text that is no id."""
        if texts.null_count() == len(texts):
            return self.names.clear(len(texts)).alias(texts.name)
        places = pl.Series(self.index.places(texts))
        unknown = places == NOWHERE
        if unknown.sum() > texts.null_count():
            return texts.cast(self.names.dtype)
        return self.names.gather(places.set(unknown, None)).alias(texts.name)


def _hashes(texts: pl.Series, seed: int) -> NDArray[np.uint64]:
    return texts.hash(seed).to_numpy()


def _homes(hashes: NDArray[np.uint64], slots: int) -> NDArray[np.int64]:
    return (hashes & np.uint64(slots - 1)).astype(np.int64)


def _next(slots: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    return (slots + 1) & (count - 1)
