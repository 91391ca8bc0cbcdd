"""Batches that are prepared while the one before them trains."""

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, Protocol, TypeVar

from beholder.models.trainable import Movable

BatchT = TypeVar("BatchT", bound=Movable)
BatchT_co = TypeVar("BatchT_co", bound=Movable, covariant=True)


class Loader(Protocol[BatchT_co]):
    """A data loader: batches by step, always the same batch for the same step."""

    @property
    def steps_per_epoch(self) -> int:
        """Steps in which every example is seen once."""
        ...

    def __call__(self, step: int, part: int) -> BatchT_co:
        """Return a part of the batch of a step, both counted from 0."""
        ...


class Prefetcher(Generic[BatchT]):
    """This process's parts of each batch; the next batch is prepared while the current one trains."""

    def __init__(self, loader: Loader[BatchT], parts: Sequence[int], step: int, steps: int) -> None:
        self._loader, self._parts, self._steps = loader, parts, steps
        self._pool = ThreadPoolExecutor(1)
        self._next: Future[list[BatchT]] | None = self._pool.submit(self._load, step) if step < steps else None

    def __enter__(self) -> "Prefetcher[BatchT]":
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(cancel_futures=True)

    def take(self, step: int) -> list[BatchT]:
        """Return the parts of this step; steps must be taken in order."""
        assert self._next is not None
        batches = self._next.result()
        self._next = self._pool.submit(self._load, step + 1) if step + 1 < self._steps else None
        return batches

    def _load(self, step: int) -> list[BatchT]:
        return [self._loader(step, part) for part in self._parts]
