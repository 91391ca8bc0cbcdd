"""Worker processes behind live results, a queue for each target: the server neither waits nor loads torch."""

import logging
import queue
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from beholder.errors import RefusedError

if TYPE_CHECKING:
    from beholder.generators.checked import CheckedImage

LONGEST_QUEUE = 8
"""Results that may wait for one target; whoever comes then is asked to try again."""

WORKERS = "beholder.collect.live.worker_makers"
"""The module that opens workers: too much to load for a server without live questions."""

LIVE_SECONDS = 60.0
"""A result that takes longer counts as failed."""

faults = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Order:
    """A result to be made."""

    attempt: str
    prompt: str
    seed: int
    files: tuple[Path, ...] = ()
    """Images to be scored, where the target is a scorer."""


@dataclass(frozen=True, slots=True)
class Made:
    """What came of an order."""

    status: str
    note: str = ""
    image: "CheckedImage | None" = None
    scores: tuple[float, ...] | None = None


class Maker(Protocol):
    """Makes one result; a failure is a ``Made``, too."""

    def __call__(self, order: Order) -> Made:
        """Return the result."""
        ...


class Makers:
    """The targets of a study, each with a queue and a thread that processes it."""

    def __init__(self, makers: Mapping[str, Maker], deliver: Callable[[str, Made], None]) -> None:
        """``deliver`` is called in the target's thread with each result. Nothing is started before an order."""
        self._makers, self._deliver = dict(makers), deliver
        self._queues: dict[str, queue.Queue[Order | None]] = {}
        self._turn = threading.Lock()

    @property
    def targets(self) -> tuple[str, ...]:
        """Whom one can ask."""
        return tuple(self._makers)

    def require_room(self, *targets: str) -> None:
        """Refuse where a target is unknown, or too many wait for it."""
        for target in targets:
            if target not in self._makers:
                raise RefusedError(404, "no-target", f"there is no target '{target}'")
            if self._queue(target).qsize() >= LONGEST_QUEUE:
                raise RefusedError(409, "busy", f"{LONGEST_QUEUE} results are waiting already; please try again")

    def order(self, target: str, order: Order) -> None:
        """Put an order into the queue of its target."""
        self._queue(target).put(order)

    def waiting(self, target: str) -> int:
        """How many orders wait for a target."""
        return self._queue(target).qsize()

    def close(self) -> None:
        """Let the threads end after what they are doing."""
        for orders in self._queues.values():
            orders.put(None)

    def _queue(self, target: str) -> "queue.Queue[Order | None]":
        with self._turn:
            if target not in self._queues:
                self._queues[target] = queue.Queue()
                threading.Thread(target=self._serve, args=(target,), daemon=True).start()
            return self._queues[target]

    def _serve(self, target: str) -> None:
        maker, orders = self._makers[target], self._queues[target]
        while (order := orders.get()) is not None:
            try:
                result = maker(order)
            except Exception:  # noqa: BLE001 - whatever happened, the rater must not wait for ever
                faults.exception("%s failed on a live prompt", target)
                result = Made("failed", "the worker failed")
            self._deliver(order.attempt, result)
