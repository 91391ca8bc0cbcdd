"""Sequences whose items are built when they are looked at: a million images in a few dozen bytes each."""

from abc import abstractmethod
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import TypeVar, overload

Item_co = TypeVar("Item_co", covariant=True)


class Lazy(Sequence[Item_co]):
    """A sequence of which only ``at`` and the length are left to say; slices are lazy, too.

    It equals every other sequence of equal items.
    """

    @abstractmethod
    def at(self, place: int) -> Item_co:
        """Return the item at a place from 0 on."""

    @overload
    def __getitem__(self, place: int) -> Item_co: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[Item_co]: ...

    def __getitem__(self, place: int | slice) -> Item_co | Sequence[Item_co]:
        places = range(len(self))[place]
        return self.at(places) if isinstance(places, int) else Mapped(self.at, places)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]


class Mapped(Lazy[Item_co]):
    """What a function returns for each of some numbers."""

    def __init__(self, function: Callable[[int], Item_co], numbers: Sequence[int]) -> None:
        self._function, self._numbers = function, numbers

    def __len__(self) -> int:
        return len(self._numbers)

    def at(self, place: int) -> Item_co:
        """Call the function."""
        return self._function(self._numbers[place])


class Chained(Lazy[Item_co]):
    """Several sequences, one after the other."""

    def __init__(self, parts: Iterable[Sequence[Item_co]]) -> None:
        self._parts = [part for part in parts if part]
        self._starts = [0, *accumulate(map(len, self._parts))]

    def __len__(self) -> int:
        return self._starts[-1]

    def at(self, place: int) -> Item_co:
        """Return the item of the part that the place is in."""
        part = bisect_right(self._starts, place) - 1
        return self._parts[part][place - self._starts[part]]
