"""The main program of a worker in Python: over stdin and stdout, or over HTTP with ``--http HOST:PORT``."""

import argparse
import os
import sys
import threading
from collections.abc import Callable
from typing import IO

from beholder.errors import UserError
from beholder.workers.frames import Frame, FrameError, pack_frame, read_frame
from beholder.workers.identity import greeting
from beholder.workers.serve_http import TOKEN, serve_http
from beholder.workers.service import Service, reply_to

HEARTBEAT = 2.0
"""Seconds between two signs of life."""

USER_FAULT = 2

Load = Callable[[argparse.Namespace], Service]
"""Loads what is served, from the arguments of the command."""


def main(parser: argparse.ArgumentParser, load: Load) -> int:
    """Parse the arguments, load, and serve until the client closes stdin; returns the exit code.

    What is printed to stdout goes to stderr instead, so that a library's messages do not get among the frames.
    """
    parser.add_argument("--http", metavar="HOST:PORT", help=f"serve over HTTP; a token may be in ${TOKEN}")
    arguments = parser.parse_args()
    try:
        if arguments.http:
            serve_http(load(arguments), arguments.http)
        else:
            _serve_pipes(lambda: load(arguments))
    except UserError as error:
        sys.stderr.write(f"error: {error}\n")
        return USER_FAULT
    except (FrameError, KeyboardInterrupt, BrokenPipeError) as error:
        sys.stderr.write(f"ended: {error!r}\n")
        return 1
    return 0


def _serve_pipes(load: Callable[[], Service]) -> None:
    wire = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    with _Outgoing(wire) as outgoing:
        service = load()
        outgoing.send(greeting(service.identity(HEARTBEAT)))
        while (request := read_frame(sys.stdin.buffer)) is not None:
            outgoing.send(reply_to(request, service))


class _Outgoing:
    """Frames to the client, and a heartbeat between them; a client that is gone ends the process."""

    def __init__(self, wire: IO[bytes]) -> None:
        self._wire = wire
        self._turn = threading.Lock()
        self._ended = threading.Event()
        self._beating = threading.Thread(target=self._beat, daemon=True)

    def __enter__(self) -> "_Outgoing":
        self._beating.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()

    def send(self, frame: Frame) -> None:
        content = pack_frame(frame)
        with self._turn:
            self._wire.write(content)
            self._wire.flush()

    def _beat(self) -> None:
        while not self._ended.wait(HEARTBEAT):
            try:
                self.send(Frame({"alive": True}))
            except OSError:
                os._exit(1)  # killed clients close the pipe: nobody waits for the work any more
