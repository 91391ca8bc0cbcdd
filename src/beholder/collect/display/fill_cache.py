"""Fill the cache of images with several processes, while the server runs."""

import json
import logging
import os
import random
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from beholder.collect.display.cache import note_broken, take_lock
from beholder.collect.display.served_images import Job, ServedImages

MOST_PROCESSES = 8
PATIENCE_SECONDS = 5.0
LISTED = 10
"""Number of broken images that are named in the log."""

log = logging.getLogger(__name__)


@contextmanager
def filling(images: ServedImages) -> Iterator[None]:
    """Fill the cache while the block runs; what is missing at its end is filled at the next start.

    The lock is taken before the block begins, so that no request precedes it.
    """
    lock = take_lock(images.folder)
    if lock is None:  # another server fills it, or the disk is too full for a lock file
        yield
        return
    filler = CacheFiller(images, lock)
    filler.start()
    try:
        yield
    finally:
        filler.stop()


class CacheFiller:
    """The processes that fill a cache, in random order, so that their progress reveals nothing about an image."""

    def __init__(self, images: ServedImages, lock: int) -> None:
        self._images, self._lock = images, lock
        self._turn = threading.Lock()
        self._jobs: list[Job] = []
        self._broken: dict[str, str] = {}
        self._unwritten = ""
        self._stopped = threading.Event()
        self._encoders: set[Encoder] = set()
        self._thread = threading.Thread(target=self._fill, daemon=True)

    def start(self) -> None:
        """Start, and return at once."""
        self._thread.start()

    def stop(self) -> None:
        """End the processes."""
        self._stopped.set()
        with self._turn:
            for encoder in self._encoders:
                encoder.kill()
        self._thread.join(PATIENCE_SECONDS)

    def _fill(self) -> None:
        try:
            self._jobs = self._images.missing()
            random.SystemRandom().shuffle(self._jobs)
            workers = [
                threading.Thread(target=self._work, daemon=True)
                for _ in range(min(os.cpu_count() or 1, MOST_PROCESSES, len(self._jobs)))
            ]
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join()
            if not self._stopped.is_set():
                note_broken(self._images.folder, self._broken)
                self._report()
        finally:
            os.close(self._lock)

    def _work(self) -> None:
        """Encode image after image; if the encoder dies, the image is broken and a new encoder starts."""
        encoder = self._new_encoder()
        while (job := self._next_job()) is not None:
            answer = encoder.encode(job)
            if answer is None and not self._stopped.is_set():
                answer = {"broken": "the process that encoded it was ended, perhaps because memory ran out"}
                encoder.end()
                encoder = self._new_encoder()
            with self._turn:
                if answer and "broken" in answer:
                    self._broken[job.image] = answer["broken"]
                elif answer and "unwritten" in answer:
                    self._unwritten = answer["unwritten"]
        encoder.end()

    def _next_job(self) -> Job | None:
        with self._turn:
            if self._stopped.is_set() or self._unwritten or not self._jobs:
                return None
            return self._jobs.pop()

    def _new_encoder(self) -> "Encoder":
        encoder = Encoder(self._images.side, self._images.quality, self._images.background)
        with self._turn:
            self._encoders.add(encoder)
            if self._stopped.is_set():
                encoder.kill()
        return encoder

    def _report(self) -> None:
        if self._unwritten:
            log.warning(
                "images could not be stored in %s (%s); they are served from memory, which is slower. Make room, "
                "and start the server again",
                self._images.folder,
                self._unwritten,
            )
        if self._broken:
            paths = {image: self._images.path_of(image) for image in sorted(self._broken)}
            lines = [f"  {path}: {self._broken[image]}" for image, path in paths.items()]
            if len(lines) > LISTED:
                lines[LISTED:] = [f"  … and {len(lines) - LISTED} more; the researcher's page lists all"]
            log.warning("%d images cannot be shown; raters can skip them:\n%s", len(paths), "\n".join(lines))


class Encoder:
    """A child process that encodes images one after another."""

    def __init__(self, side: int, quality: int, background: str) -> None:
        self._settings = {"side": side, "quality": quality, "background": background}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "beholder.collect.display.encoder"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,  # Ctrl-C goes to the server, which then ends this process
        )

    def encode(self, job: Job) -> dict[str, str] | None:
        """Encode one image and return the reply; ``None`` if the process has died."""
        stdin, stdout = self._process.stdin, self._process.stdout
        if stdin is None or stdout is None:
            raise TypeError("the encoder has no pipes")
        try:
            stdin.write(json.dumps({"path": str(job.path), "file": str(job.file), **self._settings}) + "\n")
            stdin.flush()
            line = stdout.readline()
        except (OSError, ValueError):
            return None
        return json.loads(line) if line.endswith("\n") else None

    def kill(self) -> None:
        """Kill the process."""
        self._process.kill()

    def end(self) -> None:
        """Close the pipes, and wait for the process to end."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except OSError:  # it was killed while a line was being written
                    continue
        self._process.wait()
