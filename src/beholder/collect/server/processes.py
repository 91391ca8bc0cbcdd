"""uvicorn's server and its supervisor of processes, which drain before they stop.

A load balancer learns from ``/api/ready`` that it is to send requests elsewhere, and needs some seconds for it.
"""

import multiprocessing
import os
import signal
import threading
from socket import socket
from types import FrameType

import uvicorn
from uvicorn.supervisors import Multiprocess

from beholder.collect.server.operation import Drain, Operation


class DrainingServer(uvicorn.Server):
    """A server in this process."""

    def __init__(self, config: uvicorn.Config, operation: Operation) -> None:
        super().__init__(config)
        self._drain = Drain(operation)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop at once when interrupted from the keyboard; when terminated, drain first."""
        if sig != signal.SIGTERM or self._drain.ask_to_stop():
            super().handle_exit(sig, frame)

    async def on_tick(self, counter: int) -> bool:
        """Say whether to stop."""
        return await super().on_tick(counter) or self._drain.is_over


class DrainingProcesses(Multiprocess):
    """Several processes that share a socket; one that ends or hangs is started again."""

    def __init__(self, config: uvicorn.Config, sockets: list[socket], operation: Operation) -> None:
        super().__init__(config, sockets)
        self._drain = Drain(operation)

    def handle_term(self) -> None:
        """Drain, then stop."""
        if self._drain.ask_to_stop():
            super().handle_term()

    def keep_subprocess_alive(self) -> None:
        """Start processes again that ended, unless the time has come to stop."""
        if self._drain.is_over:
            self.should_exit.set()
            return
        super().keep_subprocess_alive()


def end_with_supervisor() -> None:
    """In a process that :class:`DrainingProcesses` started: end when it has ended, in whatever way.

    A supervisor that was killed cannot stop its processes. They would go on to serve, with nobody to start them
    again, and hold the port that the next server needs.
    """
    supervisor = multiprocessing.parent_process()
    if supervisor is None:
        return

    def wait() -> None:
        supervisor.join()
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait, name="supervisor", daemon=True).start()
