"""How work on many parts is done: in this process, or by several."""

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeVar

Part = TypeVar("Part")
Answer = TypeVar("Answer")


class Map(Protocol):
    """How a function is applied to every element: as the built-in ``map`` does, or by several processes."""

    def __call__(self, function: Callable[[Part], Answer], parts: Iterable[Part], /) -> Iterator[Answer]:
        """Yield the answers in the order of the parts."""
        ...
