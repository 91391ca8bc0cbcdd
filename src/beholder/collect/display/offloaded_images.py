"""Images that browsers fetch from object storage: copied there in the background, served from here until then."""

import logging
import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from beholder.collect.display.served_images import ServedImages
from beholder.errors import RefusedError, StorageError

VALID_SECONDS = 900.0
"""How long a signed address can be read: longer than a slow connection needs, shorter than a session."""

LOOK_SECONDS = 5.0
AGAIN_SECONDS = 2.0

log = logging.getLogger(__name__)


class Objects(Protocol):
    """Where contents are stored under secret names; see :class:`beholder.storage.signed_objects.SignedObjects`."""

    origin: str

    def name(self, content_id: str) -> str:
        """Return the name of the object with a content."""
        ...

    def put(self, content_id: str, content: bytes) -> None:
        """Store a content."""
        ...

    def names(self) -> set[str]:
        """Return the names of all objects that are there."""
        ...

    def signed_address(self, content_id: str, *, seconds: float) -> str:
        """Return an address by which anyone can read the content for so long."""
        ...


class OffloadedImages:
    """The images of a study in object storage, as far as they were copied."""

    def __init__(self, images: ServedImages, objects: Objects) -> None:
        self._images, self._objects = images, objects
        self._names: set[str] = set()
        self._looked = float("-inf")
        self._turn = threading.Lock()
        self._is_reached = True

    @property
    def origin(self) -> str:
        """Where the addresses lead to, which the pages must be allowed to fetch from."""
        return self._objects.origin

    def address(self, image: str) -> str | None:
        """Return a signed address of the image; ``None`` as long as it is not there."""
        content_id = self._images.content_id(image)
        name = self._objects.name(content_id)
        if name not in self._names:
            self._look()
        return self._objects.signed_address(content_id, seconds=VALID_SECONDS) if name in self._names else None

    def copy_missing(self, stopped: threading.Event) -> None:
        """Copy what is not there, in random order, so that the progress reveals nothing about an image."""
        waiting = {self._images.content_id(image): image for image in self._images.names}
        while waiting:
            try:
                there = self._objects.names()
                order = [content_id for content_id in waiting if self._objects.name(content_id) not in there]
                random.SystemRandom().shuffle(order)
                waiting = {
                    content_id: waiting[content_id]
                    for content_id in order
                    if not stopped.is_set() and not self._is_copied(content_id, waiting[content_id])
                }
                self._is_reached = True
            except StorageError as error:
                self._warn(error)
            if stopped.wait(AGAIN_SECONDS):
                return

    def _is_copied(self, content_id: str, image: str) -> bool:
        """Copy an image; ``False`` as long as it is not encoded. One that cannot be shown needs no copy."""
        try:
            self._objects.put(content_id, self._images.content(image))
        except RefusedError as error:
            return error.status != 503
        return True

    def _look(self) -> None:
        """Ask what is there, at intervals."""
        with self._turn:
            if time.monotonic() - self._looked < LOOK_SECONDS:
                return
            self._looked = time.monotonic()
        try:
            self._names = self._objects.names()
        except StorageError as error:
            self._warn(error)

    def _warn(self, error: StorageError) -> None:
        """Say once that storage is out of reach."""
        if self._is_reached:
            log.warning("images are served from here: %s", error)
        self._is_reached = False


@contextmanager
def copying(offloaded: OffloadedImages | None) -> Iterator[None]:
    """Copy images to object storage while the block runs."""
    if offloaded is None:
        yield
        return
    stopped = threading.Event()
    thread = threading.Thread(target=offloaded.copy_missing, args=(stopped,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join(AGAIN_SECONDS)
