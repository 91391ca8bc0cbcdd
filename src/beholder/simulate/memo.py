"""A cache for arrays that are expensive to compute and often needed again, bounded by bytes.

A cached value is a pure function of its key, so caching never changes a result, only its cost.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

Value = TypeVar("Value")


class Memo(Generic[Value]):
    """Caches values by key; evicts the least recently used ones beyond ``limit`` bytes."""

    def __init__(self, limit: int, weigh: Callable[[Value], int]) -> None:
        self._limit = limit
        self._weigh = weigh
        self._held: OrderedDict[Hashable, Value] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()

    def get(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """Return the value of ``key``, computed by ``make`` when it is not cached."""
        with self._lock:
            if key in self._held:
                self._held.move_to_end(key)
                return self._held[key]
        value = make()
        with self._lock:
            if key not in self._held:
                self._held[key] = value
                self._bytes += self._weigh(value)
            while self._bytes > self._limit and len(self._held) > 1:
                self._bytes -= self._weigh(self._held.popitem(last=False)[1])
        return value
