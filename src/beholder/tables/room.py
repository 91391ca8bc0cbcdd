"""The error message of a full disk."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from beholder.errors import NoRoomError
from beholder.tables.full import is_full


@contextmanager
def room_on_disk(path: Path) -> Iterator[None]:
    """Turn the failure of a write within the block into a :class:`NoRoomError` where the disk is full.

    The block must clean up after itself, so that nothing was written, as the message says.
    """
    try:
        yield
    except (OSError, pl.exceptions.PolarsError) as error:
        if not is_full(error):
            raise
        raise NoRoomError(f"the disk is full: {path} was not written. Make room, and try again.") from error
