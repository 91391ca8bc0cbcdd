"""Errors of an unavailable database as one-sentence errors of the user."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import OperationalError

from beholder.errors import NoRoomError, StageError


@contextmanager
def usable_database() -> Iterator[None]:
    """Turn an operational error of the database into a one-sentence error; nothing was written then."""
    try:
        yield
    except OperationalError as error:
        why = str(error.orig).strip().partition("\n")[0]
        if "full" in why:
            raise NoRoomError("the disk is full: nothing was written. Make room, and try again.") from error
        raise StageError(
            f"the database cannot be used now ({why}): nothing was written. Make sure that it runs and that its "
            "disk has room, and try again."
        ) from error
