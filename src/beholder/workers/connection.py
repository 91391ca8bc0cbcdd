"""What a connection to a worker is, and how long it waits."""

from dataclasses import dataclass
from typing import Protocol

from beholder.workers.frames import LARGEST_FRAME, Frame
from beholder.workers.identity import Identity


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a worker may take, and how much it may send."""

    start_seconds: float = 600.0
    """Until its greeting: networks are loaded before."""
    reply_seconds: float = 600.0
    """For one request."""
    silence_heartbeats: float = 10.0
    """A worker that promised a heartbeat counts as hanging after so many without one."""
    stop_seconds: float = 5.0
    """After its input was closed, until it is killed."""
    reply_bytes: int = LARGEST_FRAME


class Connection(Protocol):
    """A way to reach a worker: a child process, or a service."""

    @property
    def label(self) -> str:
        """What to call the worker in messages."""
        ...

    def open(self) -> Identity:
        """Reach the worker, started if it must be, and return its identity."""
        ...

    def exchange(self, request: Frame) -> Frame:
        """Send a request and return the reply to it; after a failure the next call starts again."""
        ...

    def close(self) -> None:
        """Let the worker end; what does not end in time is killed."""
        ...
