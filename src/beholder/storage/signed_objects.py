"""Contents in object storage that browsers fetch by addresses which are signed, and valid for a while.

An object's name is a keyed hash of what it holds: it says nothing to those who know the contents but not the key,
so that nobody learns from an address which image it is.
"""

import hashlib
import hmac
from datetime import timedelta
from urllib.parse import urlsplit

import obstore
from obstore.store import AzureStore, GCSStore, S3Store, from_url

from beholder.errors import StorageError
from beholder.storage.listing import list_objects
from beholder.storage.reaching import reaching


class SignedObjects:
    """Objects at an address such as ``s3://bucket/served``, named by a secret key."""

    def __init__(self, address: str, key: str, *, media_type: str) -> None:
        self.address, self._key, self._media_type = address.rstrip("/"), key.encode(), media_type
        with reaching(self.address):
            store = from_url(self.address)
        if not isinstance(store, S3Store | GCSStore | AzureStore):
            raise StorageError(f"{address} cannot sign addresses: s3://, gs:// or az:// is needed")
        self._store = store

    def name(self, content_id: str) -> str:
        """Return the name of the object with a content."""
        return hmac.new(self._key, content_id.encode(), hashlib.sha256).hexdigest()

    def put(self, content_id: str, content: bytes) -> None:
        """Store a content."""
        with reaching(self.address):
            obstore.put(self._store, self.name(content_id), content, attributes={"Content-Type": self._media_type})

    def names(self) -> set[str]:
        """Return the names of all objects that are there."""
        return set(list_objects(self.address, self._store))

    def signed_address(self, content_id: str, *, seconds: float) -> str:
        """Return an address by which anyone can read the content for so long."""
        with reaching(self.address):
            return obstore.sign(self._store, "GET", self.name(content_id), timedelta(seconds=seconds))

    @property
    def origin(self) -> str:
        """Scheme, host and port of the signed addresses."""
        parts = urlsplit(self.signed_address("", seconds=1))
        return f"{parts.scheme}://{parts.netloc}"
