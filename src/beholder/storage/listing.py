"""Which objects there are at an address."""

from typing import TYPE_CHECKING

import obstore
from obstore.exceptions import GenericError

from beholder.storage.reaching import reaching

if TYPE_CHECKING:
    from obstore import ObjectMeta
    from obstore.store import ObjectStore

NO_BUCKET = "NoSuchBucket"
"""What the protocol of S3 calls it; some servers make a bucket when something is stored in it."""


def list_objects(address: str, store: "ObjectStore") -> "dict[str, ObjectMeta]":
    """Return all objects below an address, by their paths; none where there is no such bucket yet."""
    with reaching(address):
        try:
            return {entry["path"]: entry for batch in obstore.list(store) for entry in batch}
        except GenericError as error:
            if NO_BUCKET in str(error):
                return {}
            raise
