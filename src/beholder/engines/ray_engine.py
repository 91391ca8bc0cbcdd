"""The engine on Ray: every part is a task on one core, done again where its worker dies."""

import logging
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import ray

from beholder.errors import BeholderError

Part = TypeVar("Part")
Answer = TypeVar("Answer")

AHEAD = 2
"""Parts per worker that are handed out before their answers are taken."""


class RayEngine:
    """Applies functions by the workers of a Ray cluster."""

    def __init__(self, workers: int) -> None:
        self.workers = workers

    def map(self, function: Callable[[Part], Answer], parts: Iterable[Part], /) -> Iterator[Answer]:
        """Yield the answers in order; no more than a few parts per worker are under way at a time.

        A task whose worker is killed is done again, as often as it takes.
        """
        task: Any = ray.remote(num_cpus=1, max_retries=-1)(_applied)
        shared, waiting = ray.put(function), deque[Any]()
        try:
            for part in parts:
                waiting.append(task.remote(shared, part))
                if len(waiting) >= AHEAD * self.workers:
                    yield _answer(waiting.popleft())
            while waiting:
                yield _answer(waiting.popleft())
        finally:
            for ref in waiting:
                ray.cancel(ref, force=False)


@contextmanager
def open_ray(*, address: str | None, workers: int | None) -> Iterator[RayEngine]:
    """Connect to a cluster, or start workers on this machine, and disconnect at the end."""
    count = workers or os.cpu_count() or 1
    here: dict[str, Any] = {"num_cpus": count, "include_dashboard": False} if address is None else {}
    ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR, **here)
    try:
        if address is not None and workers is None:
            resources: dict[str, float] = ray.cluster_resources()
            count = max(int(resources.get("CPU", 1)), 1)
        yield RayEngine(count)
    finally:
        ray.shutdown()


def _applied(function: Callable[[Part], Answer], part: Part) -> Answer:
    return function(part)


def _answer(ref: Any) -> Any:  # noqa: ANN401 - Ray's references have the types of nothing
    """Return the answer; an error of ours is raised as it was."""
    try:
        return ray.get(ref)
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, BeholderError):
            raise error.cause from None
        raise
