"""What storage refuses, as an error of ours in one line."""

from collections.abc import Iterator
from contextlib import contextmanager

from obstore.exceptions import BaseError

from beholder.errors import StorageError


@contextmanager
def reaching(address: str) -> Iterator[None]:
    """Turn what storage refuses within the block into a :class:`StorageError` that names the address."""
    try:
        yield
    except (BaseError, ValueError) as error:
        cause = str(error).strip().partition("\n")[0]
        raise StorageError(f"{address} cannot be reached: {cause}") from error
