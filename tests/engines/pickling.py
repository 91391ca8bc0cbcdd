"""An engine that sends everything as a cluster would, within this process: for tests without Ray."""

import pickle
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from beholder.stats.each import in_turn

Part = TypeVar("Part")
Answer = TypeVar("Answer")


class PicklingEngine:
    """Works on copies of function and parts that went through bytes, and returns such copies of the answers."""

    def __init__(self, most: int | None = None) -> None:
        self.done = 0
        self.functions: set[str] = set()
        """Names of the functions that were applied."""
        self._most = most

    def map(self, function: Callable[[Part], Answer], parts: Iterable[Part], /) -> Iterator[Answer]:
        """Yield the answers in order; stop as a killed process would after ``most`` parts."""
        sent = pickle.dumps(function)
        self.functions.add(getattr(getattr(function, "func", function), "__name__", ""))
        for part in parts:
            if self._most is not None and self.done >= self._most:
                raise KeyboardInterrupt
            (answer,) = in_turn(pickle.loads(sent), [pickle.loads(pickle.dumps(part))])
            self.done += 1
            yield pickle.loads(pickle.dumps(answer))
