"""A rate limit: no more than so many requests per minute, evenly spaced, over all threads."""

import threading
import time
from collections.abc import Callable


class Pace:
    """Lets callers pass one after the other, at the least distance that a rate allows."""

    def __init__(
        self,
        per_minute: float | None,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """``None`` is no limit."""
        self._distance = 60.0 / per_minute if per_minute else 0.0
        self._clock, self._sleep = clock, sleep
        self._next = 0.0
        self._turn = threading.Lock()

    def wait(self) -> None:
        """Return when the next request may be sent."""
        if not self._distance:
            return
        with self._turn:
            now = self._clock()
            start = max(now, self._next)
            self._next = start + self._distance
        if start > now:
            self._sleep(start - now)
