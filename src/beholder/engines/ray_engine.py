"""The engine on Ray: every part is worked on by one core, and again where its worker dies.

Without GPUs parts are tasks. With GPUs they go to actors, which keep their GPU and what they have loaded: Ray ends
the worker of a task with a GPU after each.
"""

import logging
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

import ray

from beholder.engines.driver_output import spoken_on_stderr
from beholder.engines.own_cluster import start_own
from beholder.errors import BeholderError, UserError

Part = TypeVar("Part")
Answer = TypeVar("Answer")

AHEAD = 2
"""Parts per worker that are handed out before their answers are taken."""

Submit = Callable[[Any, Any], Any]
"""Hands a function, by its reference, and a part to a worker, and returns the reference of the answer."""


class RayEngine:
    """Applies functions by the workers of a Ray cluster."""

    def __init__(self, workers: int, submit: Submit) -> None:
        self.workers = workers
        self._submit = submit

    def map(self, function: Callable[[Part], Answer], parts: Iterable[Part], /) -> Iterator[Answer]:
        """Yield the answers in order; no more than a few parts per worker are under way at a time.

        A part whose worker is killed is worked on again, as often as it takes.
        """
        shared, waiting = ray.put(function), deque[Any]()
        try:
            for part in parts:
                waiting.append(self._submit(shared, part))
                if len(waiting) >= AHEAD * self.workers:
                    yield _answer(waiting.popleft())
            while waiting:
                yield _answer(waiting.popleft())
        finally:
            for ref in waiting:
                ray.cancel(ref, force=False)


@contextmanager
def open_ray(*, address: str | None, workers: int | None, gpus: float | None = None) -> Iterator[RayEngine]:
    """Connect to a cluster, or start workers on this machine, and disconnect at the end."""
    if gpus is not None and (gpus <= 0 or (gpus > 1 and gpus != int(gpus))):
        raise UserError(f"a worker has a whole number of GPUs, or a part of one; found {gpus:g}")
    count = workers or os.cpu_count() or 1
    settings: dict[str, Any] = {"logging_level": logging.ERROR, "log_to_driver": False}
    if address is None:
        connect = partial(start_own, count, settings)
    else:
        connect = partial(ray.init, address=address, **settings)
    with spoken_on_stderr(connect, ray.shutdown):
        if gpus is not None:
            count = _count_with_gpus(gpus, workers)
            yield RayEngine(count, _GpuWorkers(count, gpus).submit)
            return
        if address is not None and workers is None:
            resources: dict[str, float] = ray.cluster_resources()
            count = max(int(resources.get("CPU", 1)), 1)
        task: Any = ray.remote(num_cpus=1, max_retries=-1)(_applied)
        yield RayEngine(count, task.remote)


class _GpuWorkers:
    """Actors with a GPU each, or a part of one; a part goes to the one with the fewest that are not done."""

    def __init__(self, count: int, gpus: float) -> None:
        actor: Any = ray.remote(num_cpus=1, num_gpus=gpus, max_restarts=-1, max_task_retries=-1)(_GpuWorker)
        self._actors = [actor.remote() for _ in range(count)]
        self._under_way: list[list[Any]] = [[] for _ in range(count)]

    def submit(self, function: Any, part: Any) -> Any:  # noqa: ANN401 - Ray's references have the types of nothing
        """Hand a part to an actor."""
        for place, refs in enumerate(self._under_way):
            if refs:
                self._under_way[place] = ray.wait(refs, num_returns=len(refs), timeout=0)[1]
        fewest = min(range(len(self._actors)), key=lambda place: len(self._under_way[place]))
        ref = self._actors[fewest].apply.remote(function, part)
        self._under_way[fewest].append(ref)
        return ref


class _GpuWorker:
    """A process that stays: what it has loaded is there for the next part."""

    def apply(self, function: Callable[[Part], Answer], part: Part) -> Answer:
        """Apply the function."""
        return function(part)


def _count_with_gpus(gpus: float, workers: int | None) -> int:
    """Return how many workers there are; an error where machines lack GPUs for them: they would wait forever."""
    resources: list[dict[str, float]] = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    places = sum(
        min(int(node.get("GPU", 0) / gpus + 1e-6), int(node.get("CPU", 0)))  # a core for each
        for node in resources
    )
    if places < (workers or 1):
        available = sum(node.get("GPU", 0) for node in resources)
        raise UserError(
            f"{available:g} GPUs found on {len(resources)} machines: enough for {places} workers with {gpus:g} "
            f"each and a core, {workers or 1} expected; give fewer --workers, fewer --gpus, or a cluster by "
            "--address"
        )
    return workers or places


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
