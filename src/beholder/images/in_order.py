"""Work spread over threads, with results in order and a bounded number of them in memory."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_order(
    work: Callable[[Item], Result], items: Iterable[Item], workers: int, ahead: int | None = None
) -> Iterator[Result]:
    """Yield the results in the order of the items; at most ``ahead`` items are in work or waiting at a time."""
    pool = ThreadPoolExecutor(workers)
    waiting: deque[Future[Result]] = deque()
    coming = iter(items)
    try:
        waiting.extend(pool.submit(work, item) for item in islice(coming, ahead or 2 * workers))
        while waiting:
            result = waiting.popleft().result()
            waiting.extend(pool.submit(work, item) for item in islice(coming, 1))
            yield result
    finally:
        pool.shutdown(cancel_futures=True)


def batches(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """The items in lists of ``size``, the last one maybe shorter."""
    coming = iter(items)
    while batch := list(islice(coming, size)):
        yield batch
