"""Some files of a local copy that are published as soon as they change, while a command works in the copy."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from beholder.errors import UserError
from beholder.storage.transfer import Transfer
from beholder.storage.working_copy import WorkingCopy

LOOK_SECONDS = 1.0
"""Between two looks at the files."""

RETRY_SECONDS = 30.0
"""Before it is tried again, where storage could not be reached."""

States = list[tuple[int, int] | None]
"""Size and time of change of every file; ``None`` for one that is not there."""


@contextmanager
def published_when_changed(
    copy: WorkingCopy,
    paths: Sequence[str],
    renew: Callable[[], object],
    say: Callable[[Transfer | UserError], None],
) -> Iterator[None]:
    """Publish files whenever they have changed, while the block runs; what a killed command left of them, at once.

    Nobody else may publish or update the copy within the block. What could not be published is left to whoever
    publishes the copy after it.

    Args:
        copy: The copy that they are in.
        paths: The files.
        renew: As in :meth:`beholder.storage.working_copy.WorkingCopy.publish_files`.
        say: Is told what was published, and what was wrong where it failed: it is tried again later.
    """
    ended = threading.Event()
    last: States = [] if copy.has_unpublished(paths) else _states(copy, paths)
    thread = threading.Thread(target=_watch, args=(copy, paths, renew, say, ended, last))
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _watch(
    copy: WorkingCopy,
    paths: Sequence[str],
    renew: Callable[[], object],
    say: Callable[[Transfer | UserError], None],
    ended: threading.Event,
    last: States,
) -> None:
    pause = LOOK_SECONDS
    while not ended.wait(pause):
        now = _states(copy, paths)
        if now == last:
            continue
        try:
            say(copy.publish_files(paths, renew))
        except UserError as error:
            say(error)
            pause = RETRY_SECONDS
        else:
            last, pause = now, LOOK_SECONDS


def _states(copy: WorkingCopy, paths: Sequence[str]) -> States:
    states: States = []
    for path in paths:
        try:
            status = (copy.folder / path).stat()
        except FileNotFoundError:
            states.append(None)
        else:
            states.append((status.st_size, status.st_mtime_ns))
    return states
