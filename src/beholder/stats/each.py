"""How work on many parts is done: in this process, or by several."""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Protocol, TypeVar

from threadpoolctl import threadpool_limits

Part = TypeVar("Part")
Answer = TypeVar("Answer")

MOST_THREADS = 8  # as many answers are held at once


class Map(Protocol):
    """How a function is applied to every element: as the built-in ``map`` does, or by several processes."""

    def __call__(self, function: Callable[[Part], Answer], parts: Iterable[Part], /) -> Iterator[Answer]:
        """Yield the answers in the order of the parts."""
        ...


def in_turn(function: Callable[[Part], Answer], parts: Iterable[Part], /) -> Iterator[Answer]:
    """Apply a function in this process as workers with one core each do: to the byte.

    The last digits of a product of matrices depend on the number of threads that it is divided among.

    Args:
        function: What is applied.
        parts: What it is applied to, one after the other.

    Yields:
        The answers in the order of the parts.

    Example:
        >>> list(in_turn(len, ["a", "bc"]))
        [1, 2]
    """
    for part in parts:
        with threadpool_limits(1, user_api="blas"):
            answer = function(part)
        yield answer


def in_threads(function: Callable[[Part], Answer], parts: Iterable[Part], /) -> Iterator[Answer]:
    """Apply a function to several parts at a time, each on one core, with the bytes of :func:`in_turn`.

    Args:
        function: What is applied.
        parts: What it is applied to.

    Yields:
        The answers in the order of the parts.

    Example:
        >>> list(in_threads(len, ["a", "bc"]))
        [1, 2]
    """
    workers = min(os.cpu_count() or 1, MOST_THREADS)
    left = iter(parts)
    with ThreadPoolExecutor(workers) as pool:
        while together := list(islice(left, workers)):
            with threadpool_limits(1, user_api="blas"):
                answers = list(pool.map(function, together))
            yield from answers
