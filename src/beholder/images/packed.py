"""Plain values that are held compressed, some hundred together: a million names in a few MB."""

import marshal
import zlib
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain, islice
from typing import Any, TypeVar

from beholder.images.lazy import Lazy

Value_co = TypeVar("Value_co", covariant=True)

TOGETHER = 256
"""Values that are compressed together: more take less memory, and one alone takes longer to look at."""

UNPACKED = 16
"""Blocks that stay as objects, so that values in order are unpacked once: a few per thread that reads."""


class Packed(Lazy[Value_co]):
    """Texts, numbers, ``None``, or tuples of these, as a sequence."""

    def __init__(self, values: Iterable[Value_co] = ()) -> None:
        self._blocks, self._length = list[bytes](), 0
        rest: Iterator[Any] = iter(values)
        while together := tuple(islice(rest, TOGETHER)):
            self._blocks.append(zlib.compress(marshal.dumps(together, MARSHALLED)))
            self._length += len(together)

    def __len__(self) -> int:
        return self._length

    def at(self, place: int) -> Value_co:
        """Return the value at a place, whose block stays unpacked for a while."""
        block, inside = divmod(place, TOGETHER)
        value: Value_co = _unpacked(self._blocks[block])[inside]
        return value

    def __iter__(self) -> Iterator[Value_co]:
        """Yield all values."""
        return chain.from_iterable(map(_unpacked, self._blocks))


MARSHALLED = 2
"""The format of marshal whose bytes depend on values only: later ones say which objects are the same."""


@lru_cache(maxsize=UNPACKED)
def _unpacked(block: bytes) -> tuple[Any, ...]:
    values: tuple[Any, ...] = marshal.loads(zlib.decompress(block))
    return values
