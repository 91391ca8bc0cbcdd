"""Scores on disk: computed once for each scorer, image and prompt.

One file per scorer, weights, version of beholder and background holds records of 44 bytes: the key (SHA-256 of the
image's hash and its prompt), the score as a 64-bit float, and a checksum. A process may be killed at any moment:
what it leaves half-written is cut off when the file is next opened.
"""

import hashlib
import json
import os
import re
import struct
import sys
import threading
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from beholder import __version__
from beholder.errors import StageError

if sys.platform != "win32":
    import fcntl

RECORD = struct.Struct("<32sdI")
"""Key, score, and the checksum of both."""


class ScoreFile:
    """The scores of one scorer, open for one writer; made by :func:`open_scores`."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._turn = threading.Lock()
        self._scores = dict(self._recover())

    def __len__(self) -> int:
        return len(self._scores)

    def get(self, key: bytes) -> float | None:
        """Return the score of an image and prompt, or ``None``."""
        return self._scores.get(key)

    def append(self, keys: Sequence[bytes], scores: NDArray[np.float64]) -> None:
        """Add scores, from any thread; when this returns they are on the disk. Those not finite are not kept."""
        pairs = [(key, float(score)) for key, score in zip(keys, scores, strict=True) if np.isfinite(score)]
        content = b"".join(_packed(key, score) for key, score in pairs)
        with self._turn:
            self._file.write(content)
            self._file.flush()
            os.fsync(self._file.fileno())
            self._scores.update(pairs)

    def _recover(self) -> Iterator[tuple[bytes, float]]:
        """Yield the records up to the first that is damaged, and cut off the rest."""
        self._file.seek(0)
        content, end = self._file.read(), 0
        for start in range(0, len(content) - RECORD.size + 1, RECORD.size):
            key, score, _ = RECORD.unpack_from(content, start)
            if _packed(key, score) != content[start : start + RECORD.size]:
                break
            end = start + RECORD.size
            yield key, score
        self._file.truncate(end)
        self._file.seek(end)


@contextmanager
def open_scores(folder: Path, identity: str, background: str) -> Iterator[ScoreFile]:
    """The file for a scorer's scores within ``folder``, created where there is none; one process at a time."""
    about = {"scorer": identity, "beholder": __version__, "background": background}
    digest = hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()[:16]
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{re.sub(r'[^A-Za-z0-9.-]+', '-', identity)[:60]}-{digest}.bin"
    path.touch()
    with path.open("r+b") as file:
        _lock(file, path)
        yield ScoreFile(file)


def score_key(sha256: bytes, prompt: str | None) -> bytes:
    """Return the key of an image and its prompt."""
    return hashlib.sha256(sha256 + (b"" if prompt is None else b"\1" + prompt.encode())).digest()


def _packed(key: bytes, score: float) -> bytes:
    checksum = zlib.crc32(key + struct.pack("<d", score))
    return RECORD.pack(key, score, checksum)


def _lock(file: IO[bytes], path: Path) -> None:
    """Lock the file until it is closed or the process ends."""
    if sys.platform == "win32":
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise StageError(f"{path}: another process is writing scores here; wait until it has ended") from error
