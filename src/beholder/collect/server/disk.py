"""Free disk space, and a warning while it runs low."""

import logging
import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

LOW_BYTES = 500_000_000
LOW_FILES = 1_000
EVERY_SECONDS = 5.0

NO_ROOM = "The disk is full: nothing was written. Make room, and try again."

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Disk:
    """Free and total bytes of the disk that holds a folder."""

    free: int
    total: int
    low: bool

    def __str__(self) -> str:
        """Format the free space with a suitable unit."""
        for unit, size in (("GB", 1e9), ("MB", 1e6)):
            if self.free >= size:
                return f"{self.free / size:.1f} {unit}"
        return f"{self.free / 1e3:.0f} kB"


def disk_of(folder: Path) -> Disk:
    """Read the usage of the disk that holds a folder; it is also low when the file system runs out of inodes."""
    usage = shutil.disk_usage(folder)
    low = usage.free < LOW_BYTES
    if hasattr(os, "statvfs"):
        status = os.statvfs(folder)
        low = low or (status.f_files > 0 and status.f_favail < LOW_FILES)
    return Disk(usage.free, usage.total, low)


@contextmanager
def disk_watched(folder: Path) -> Iterator[None]:
    """While the block runs, log a warning whenever the free space falls below the limit."""
    stopped = threading.Event()

    def watch() -> None:
        low = False
        while True:
            disk = disk_of(folder)
            if disk.low and not low:
                log.warning("%s", low_disk_warning(folder, disk))
            low = disk.low
            if stopped.wait(EVERY_SECONDS):
                return

    threading.Thread(target=watch, daemon=True).start()
    try:
        yield
    finally:
        stopped.set()


def low_disk_warning(folder: Path, disk: Disk) -> str:
    """Word the warning for the researcher."""
    if disk.free == 0:
        return f"The disk of {folder} is full: no answer can be stored, and the pages wait. Make room now."
    return (
        f"Only {disk} are free on the disk of {folder}. When it is full, no answer can be stored, and the pages "
        "wait. Make room now."
    )
