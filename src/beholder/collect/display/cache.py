"""The folder of encoded images: the files in it, and the lock that says whether it is being filled.

An image is stored under the hash of its content, so that a folder of other images or other settings can stay. The
lock is the system's, and goes with the process that holds it: all processes of a server see it, and none that was
killed leaves it behind.
"""

import errno
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from beholder.images.display import SUFFIX, is_whole

if sys.platform != "win32":
    import fcntl

CACHE = "cache"
LOCK = "filling.lock"
BROKEN = "broken.json"
TEMPORARY = ".tmp"

KEPT_FREE = 16_000_000
"""Bytes of the disk that are left to answers: images are not worth the last of it."""


def cache_file(folder: Path, sha256: str, side: int, quality: int, background: str) -> Path:
    """Where an image lies that is encoded."""
    return folder / CACHE / f"{sha256}-{side}-{quality}-{background.lstrip('#')}{SUFFIX}"


def stored(file: Path) -> bytes | None:
    """An encoded image; ``None`` where it is absent, unreadable or cut short."""
    try:
        content = file.read_bytes()
    except OSError:
        return None
    return content if is_whole(content) else None


def store(file: Path, content: bytes) -> None:
    """Put an encoded image into the cache at once, or, with an OSError, nothing at all."""
    file.parent.mkdir(exist_ok=True)
    if shutil.disk_usage(file.parent).free < KEPT_FREE + len(content):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(file))
    handle, name = tempfile.mkstemp(prefix=".", suffix=TEMPORARY, dir=file.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as growing:
            growing.write(content)
        temporary.replace(file)  # several may have encoded the same
    finally:
        temporary.unlink(missing_ok=True)


def names_in(folder: Path) -> set[str]:
    """The names of all files of the cache that are not empty."""
    try:
        with os.scandir(folder / CACHE) as entries:
            return {entry.name for entry in entries if entry.name.endswith(SUFFIX) and entry.stat().st_size}
    except OSError:
        return set()


def note_broken(folder: Path, broken: Mapping[str, str]) -> None:
    """Note which images cannot be encoded, and why, for all processes of a server; on a full disk, do without."""
    file = folder / CACHE / BROKEN
    with suppress(OSError):
        if broken:
            file.write_text(json.dumps(broken), encoding="utf-8")
        else:
            file.unlink(missing_ok=True)


def noted_broken(folder: Path) -> dict[str, str]:
    """Image → why it cannot be encoded."""
    try:
        broken = json.loads((folder / CACHE / BROKEN).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {str(image): str(reason) for image, reason in broken.items()} if isinstance(broken, dict) else {}


def take_lock(folder: Path) -> int | None:
    """Begin to fill: an open file that holds the lock until it is closed; ``None`` where another process fills.

    What an earlier filling that was killed left half written is removed.
    """
    try:
        (folder / CACHE).mkdir(exist_ok=True)
        handle = os.open(folder / CACHE / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError:
        return None
    if sys.platform != "win32":
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(handle)
            return None
    for left_over in (folder / CACHE).glob(f".*{TEMPORARY}"):
        left_over.unlink(missing_ok=True)
    return handle


def is_locked(folder: Path) -> bool:
    """Whether some process is filling the cache now."""
    if sys.platform == "win32":
        return False
    try:
        handle = os.open(folder / CACHE / LOCK, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(handle)
    return False
