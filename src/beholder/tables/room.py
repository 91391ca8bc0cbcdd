"""What to say when the disk is full."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from beholder.errors import NoRoomError
from beholder.tables.full import is_full


@contextmanager
def room_on_disk(path: Path) -> Iterator[None]:
    """Writes within the block that fail because the disk is full fail with one sentence that says so.

    The block must clean up after itself, so that the sentence is true.
    """
    try:
        yield
    except (OSError, pl.exceptions.PolarsError) as error:
        if not is_full(error):
            raise
        raise NoRoomError(f"the disk is full: {path} was not written. Make room, and try again.") from error
