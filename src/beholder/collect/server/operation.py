"""How a server is operated: where its metrics and images are, how it logs, how it drains before it stops."""

import json
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path

OPERATION = "BEHOLDER_OPERATION"
"""Environment variable that holds the settings, for processes of the server."""

COUNTERS_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""Environment variable by which ``prometheus_client`` finds its counters; read when it is imported."""

DRAINING, COUNTERS = "draining", "counters"


@dataclass(frozen=True, slots=True)
class Operation:
    """Settings for whoever operates a server; by default there is nothing to operate.

    >>> Operation(drain_seconds=15).is_draining
    False
    """

    metrics: str = ""
    """``HOST:PORT`` of the metrics; empty for none"""
    log_json: bool = False
    """whether log lines are JSON, with a line for every request"""
    drain_seconds: float = 0.0
    """how long the server goes on after a request to stop, while it says that it is not ready"""
    images: str = ""
    """address in object storage that browsers fetch images from, as ``s3://bucket/served``; empty for none"""
    scratch: str = ""
    """folder that the processes of one server share"""

    @property
    def is_draining(self) -> bool:
        """Whether the server was told to stop, and is not to get new connections."""
        return bool(self.scratch) and (Path(self.scratch) / DRAINING).exists()

    @property
    def counters(self) -> Path:
        """The folder in which each process keeps its counters."""
        return Path(self.scratch) / COUNTERS

    def start_draining(self) -> None:
        """Note, for all processes of this server, that it is going to stop."""
        (Path(self.scratch) / DRAINING).touch()


@contextmanager
def operating(settings: Operation) -> Iterator[Operation]:
    """Give the processes of a server a folder to share, and the settings in their environment."""
    before = {name: os.environ.get(name) for name in (OPERATION, COUNTERS_FOLDER)}
    with tempfile.TemporaryDirectory(prefix="beholder-operation-") as scratch:
        shared = replace(settings, scratch=scratch)
        shared.counters.mkdir()
        os.environ[OPERATION], os.environ[COUNTERS_FOLDER] = json.dumps(asdict(shared)), str(shared.counters)
        try:
            yield shared
        finally:
            for name, text in before.items():
                os.environ.pop(name)
                if text is not None:
                    os.environ[name] = text


def operation_of_process() -> Operation:
    """Return the settings that the server was started with; the default outside of one."""
    text = os.environ.get(OPERATION)
    return Operation(**json.loads(text)) if text else Operation()


class Drain:
    """The time between a request to stop and the end of a server; a second request ends it at once.

    >>> drain = Drain(Operation())
    >>> drain.ask_to_stop(), drain.is_over
    (True, True)
    """

    def __init__(self, operation: Operation) -> None:
        self._operation = operation
        self._ends = float("inf")

    def ask_to_stop(self) -> bool:
        """Note a request to stop; return whether to stop now."""
        if self._operation.drain_seconds <= 0 or self._ends < float("inf"):
            self._ends = float("-inf")
            return True
        self._operation.start_draining()
        self._ends = time.monotonic() + self._operation.drain_seconds
        return False

    @property
    def is_over(self) -> bool:
        """Whether the server is to stop now."""
        return time.monotonic() >= self._ends
