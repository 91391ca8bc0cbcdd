"""The cache of encoded images: its files, and the lock that is held while it is being filled.

An image is stored under the hash of its content and its settings, so files of other images or settings can stay.
The lock is one of the operating system, visible to all processes of a server and released when its process ends.
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
"""Bytes of the disk that are reserved for answers."""


def cache_file(folder: Path, sha256: str, side: int, quality: int, background: str) -> Path:
    """Return the path of an encoded image."""
    return folder / CACHE / f"{sha256}-{side}-{quality}-{background.lstrip('#')}{SUFFIX}"


def stored(file: Path) -> bytes | None:
    """Read an encoded image; ``None`` if it is missing, unreadable or truncated."""
    try:
        content = file.read_bytes()
    except OSError:
        return None
    return content if is_whole(content) else None


def store(file: Path, content: bytes) -> None:
    """Write an encoded image into the cache atomically; raise ``OSError`` if there is no space."""
    file.parent.mkdir(exist_ok=True)
    if shutil.disk_usage(file.parent).free < KEPT_FREE + len(content):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(file))
    handle, name = tempfile.mkstemp(prefix=".", suffix=TEMPORARY, dir=file.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as growing:
            growing.write(content)
        temporary.replace(file)  # other processes may have encoded the same image
    finally:
        temporary.unlink(missing_ok=True)


def names_in(folder: Path) -> set[str]:
    """Return the names of all non-empty files of the cache."""
    try:
        with os.scandir(folder / CACHE) as entries:
            return {entry.name for entry in entries if entry.name.endswith(SUFFIX) and entry.stat().st_size}
    except OSError:
        return set()


def note_broken(folder: Path, broken: Mapping[str, str]) -> None:
    """Record which images cannot be encoded, and why, for all processes of a server; skipped on a full disk."""
    file = folder / CACHE / BROKEN
    with suppress(OSError):
        if broken:
            file.write_text(json.dumps(broken), encoding="utf-8")
        else:
            file.unlink(missing_ok=True)


def noted_broken(folder: Path) -> dict[str, str]:
    """Return the images that cannot be encoded, with the reason."""
    try:
        broken = json.loads((folder / CACHE / BROKEN).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {str(image): str(reason) for image, reason in broken.items()} if isinstance(broken, dict) else {}


def take_lock(folder: Path) -> int | None:
    """Take the lock of the cache: a file handle that holds it until closed; ``None`` if another process has it.

    Partial files that a killed process left behind are removed.
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
    """Whether a process is filling the cache now."""
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
