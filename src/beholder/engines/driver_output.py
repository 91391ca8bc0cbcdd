"""What Ray says to whoever started it goes to stderr, so that stdout has what the command prints and nothing else.

Ray prints that a worker died from a thread of its own, and what it has not printed yet when it is shut down. Both
go to stdout, whatever ``log_to_driver`` says.
"""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from typing import TextIO, cast

Connect = Callable[[], object]
"""Connects to Ray, or ends the connection."""


@contextmanager
def spoken_on_stderr(connect: Connect, disconnect: Connect) -> Iterator[None]:
    """Connect to Ray while the block lasts; what its threads print meanwhile goes to stderr.

    Other threads keep their stdout: which are Ray's is told by when they were started.

    Args:
        connect: Called first; the threads that it starts are Ray's.
        disconnect: Called at the end, also after an error in the block; all that it prints goes to stderr.
    """
    others = set(threading.enumerate())
    with redirect_stdout(sys.stderr):
        connect()
    own = sys.stdout
    divided = cast("TextIO", _DividedOutput(own, set(threading.enumerate()) - others))
    sys.stdout = divided
    try:
        yield
    finally:
        with redirect_stdout(sys.stderr):
            disconnect()
        if sys.stdout is divided:  # whoever replaced it meanwhile puts it back
            sys.stdout = own


class _DividedOutput:
    """Is stdout for all threads but some, for which it is stderr."""

    def __init__(self, own: TextIO, strangers: set[threading.Thread]) -> None:
        self._own, self._strangers = own, strangers

    def __getattr__(self, name: str) -> object:
        """Return what the stream of the thread that asks has under that name."""
        stream = sys.stderr if threading.current_thread() in self._strangers else self._own
        attribute: object = getattr(stream, name)
        return attribute
