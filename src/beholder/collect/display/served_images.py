"""The images of a study as they are served: encoded in advance, never while a request waits."""

import logging
import queue
import threading
import time
from collections import OrderedDict
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from beholder.collect.display.cache import (
    cache_file,
    is_locked,
    names_in,
    note_broken,
    noted_broken,
    store,
    stored,
)
from beholder.collect.session.catalogue import StudyImage
from beholder.errors import RefusedError
from beholder.images.display import encode
from beholder.images.formats import UndecodableError

REMEMBERED_BYTES = 64_000_000
"""Bytes of encoded images that are kept in memory when they cannot be stored."""

WAITING = 256
"""Length of the queue of images to encode."""

LOOK_SECONDS = 0.5
COUNT_SECONDS = 2.0
THREADS = 2

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Job:
    """An image file to encode, and the path of the result."""

    image: str
    path: Path
    file: Path


@dataclass(frozen=True, slots=True)
class CacheProgress:
    """How much of the cache is filled."""

    done: int
    total: int
    filling: bool
    broken: dict[str, str]
    """Image → why it cannot be shown."""

    @property
    def unstored(self) -> int:
        """Number of images that are intact, but not in the cache."""
        return max(self.total - self.done - len(self.broken), 0)


class ServedImages:
    """Encoded images, from the cache in the study folder; from memory where that cannot be written.

    While the cache is being filled no image is served: response times must not depend on the size of an image. An
    image that is missing afterwards (the disk was full, or the cache was emptied) is encoded in a background
    thread, and the request is told to try again in a second.
    """

    def __init__(
        self, folder: Path, pictures: Mapping[str, StudyImage], *, side: int, quality: int, background: str
    ) -> None:
        self.folder, self.side, self.quality, self.background = folder, side, quality, background
        self._pictures = pictures
        self._turn = threading.Lock()
        self._filled, self._looked = False, float("-inf")
        self._broken: dict[str, str] = {}
        self._remembered: OrderedDict[Path, bytes] = OrderedDict()
        self._waiting: queue.Queue[Job] = queue.Queue(WAITING)
        self._coming: set[str] = set()
        self._thread: threading.Thread | None = None
        self._counting = threading.Lock()
        self._counted = (float("-inf"), 0, False)

    def content(self, image: str) -> bytes:
        """Return the image as WebP; refused if it is not ready (503) or cannot be shown (404)."""
        if self._is_being_filled():
            raise RefusedError(503, "preparing", "the images are being prepared; try again in a moment")
        job = self._job(image)
        content = stored(job.file)
        if content is not None:
            return content
        with self._turn:
            if image in self._broken:
                raise RefusedError(404, "broken-image", "the file of this image cannot be shown")
            if job.file in self._remembered:
                self._remembered.move_to_end(job.file)
                return self._remembered[job.file]
            self._encode_in_background(job)
        raise RefusedError(503, "preparing", "the image is being prepared; try again in a moment")

    def missing(self) -> list[Job]:
        """Return the images that are not in the cache, one per content."""
        names = names_in(self.folder)
        jobs = {job.file: job for job in map(self._job, self._pictures) if job.file.name not in names}
        return list(jobs.values())

    def fill(self) -> None:
        """Encode all missing images before returning, for a server that does not serve yet."""
        broken: dict[str, str] = {}
        with ThreadPoolExecutor(THREADS) as pool:
            for job, reason in pool.map(lambda job: (job, self._encode(job)), self.missing()):
                if reason:
                    broken[job.image] = reason
        note_broken(self.folder, broken)
        self._broken = broken

    def cache_progress(self) -> CacheProgress:
        """Return how much of the cache is filled now."""
        filling, total = self._is_being_filled(), len({picture.sha256 for picture in self._pictures.values()})
        with self._counting:
            at, done, while_filling = self._counted
            if filling != while_filling or time.monotonic() - at > COUNT_SECONDS:
                done = total - len(self.missing())
                self._counted = (time.monotonic(), done, filling)
        with self._turn:
            broken = {image: reason for image, reason in self._broken.items() if image in self._pictures}
        return CacheProgress(done, total, filling, broken)

    @property
    def names(self) -> list[str]:
        """The images of the study."""
        return list(self._pictures)

    def content_id(self, image: str) -> str:
        """Return what tells an encoded image from any other."""
        return self._job(image).file.name

    def path_of(self, image: str) -> str:
        """Return the path of an image file, as the study names it."""
        return self._pictures[image].path

    def _job(self, image: str) -> Job:
        picture = self._pictures[image]
        file = cache_file(self.folder, picture.sha256, self.side, self.quality, self.background)
        return Job(image, self.folder / picture.path, file)

    def _is_being_filled(self) -> bool:
        """Whether the cache is being filled; checked at intervals until it is full."""
        if self._filled:
            return False
        with self._turn:
            if time.monotonic() - self._looked > LOOK_SECONDS:
                self._looked = time.monotonic()
                self._filled = not is_locked(self.folder)
                if self._filled:
                    self._broken = noted_broken(self.folder) | self._broken
            return not self._filled

    def _encode_in_background(self, job: Job) -> None:
        """Queue an image for the background thread; if the queue is full, the next request tries again."""
        if job.image in self._coming:
            return
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._work, daemon=True)
            self._thread.start()
        try:
            self._waiting.put_nowait(job)
        except queue.Full:
            return
        self._coming.add(job.image)

    def _work(self) -> None:
        while True:
            job = self._waiting.get()
            reason = self._encode(job)
            with self._turn:
                self._coming.discard(job.image)
                if reason:
                    self._broken[job.image] = reason
            if reason:
                log.warning("%s cannot be shown: %s", job.path, reason)

    def _encode(self, job: Job) -> str | None:
        """Encode into the cache, or into memory if that cannot be written; return why the image is broken."""
        try:
            content = encode(job.path, self.side, self.quality, self.background)
        except UndecodableError as error:
            return str(error)
        try:
            store(job.file, content)
        except OSError:
            with self._turn:
                self._remember(job.file, content)
        return None

    def _remember(self, file: Path, content: bytes) -> None:
        self._remembered[file] = content
        while sum(map(len, self._remembered.values())) > REMEMBERED_BYTES and len(self._remembered) > 1:
            self._remembered.popitem(last=False)
