"""Feature vectors on disk: computed once, indexed by the hash of the image, memory-mapped.

One folder per encoder, weights, preprocessing and background holds

- ``vectors.npy``, which grows: a plain npy file that ``np.load(…, mmap_mode="r")`` opens,
- ``hashes.bin``: the SHA-256 of the image of each row, 32 bytes each,
- ``about.json``: name, weights, preprocessing, dims and background in full.

A row counts once its hash is written, and a hash is written only after its vector has reached the disk. So a
process may be killed at any moment: what it leaves half-written is cut off when the file is next opened.
"""

import hashlib
import io
import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from beholder.errors import StageError
from beholder.models.encoders.encoder import Encoder, Vectors
from beholder.tables.atomic import write_atomically

if sys.platform != "win32":
    import fcntl

HASH_BYTES = 32


class FeatureFile:
    """The vectors of one encoder, open for one writer; created by :func:`open_features`."""

    def __init__(self, path: Path, dims: int, vectors: IO[bytes], hashes: IO[bytes]) -> None:
        self.path = path
        self.dims = dims
        self._vectors = vectors
        self._hashes = hashes
        self._start = len(_header(0, dims))
        self._count = self._recover()
        self.rows = self._read_rows()
        """Hash of an image -> its row."""

    def append(self, hashes: Sequence[bytes], vectors: Vectors) -> None:
        """Add rows; when this returns they are on the disk."""
        first = self._count
        self._vectors.seek(self._start + first * self.dims * 4)
        self._vectors.write(np.ascontiguousarray(vectors, "<f4").tobytes())
        _flush(self._vectors)
        self._hashes.seek(first * HASH_BYTES)
        self._hashes.write(b"".join(hashes))
        _flush(self._hashes)
        self.rows |= {identity: first + offset for offset, identity in enumerate(hashes)}
        self._count += len(hashes)
        self._write_header(self._count)

    def take(self, rows: NDArray[np.intp]) -> Vectors:
        """The vectors of these rows, in this order: a view of the file where they lie one after the other."""
        return take_rows(self.path, rows, self.dims)

    def _recover(self) -> int:
        """Truncate both files to their complete common rows; returns how many these are."""
        complete = max(self._vectors.seek(0, os.SEEK_END) - self._start, 0) // (self.dims * 4)
        count = min(complete, self._hashes.seek(0, os.SEEK_END) // HASH_BYTES)
        self._hashes.truncate(count * HASH_BYTES)
        self._vectors.truncate(self._start + count * self.dims * 4)
        self._write_header(count)
        return count

    def _read_rows(self) -> dict[bytes, int]:
        self._hashes.seek(0)
        content = self._hashes.read()
        return {content[row * HASH_BYTES : (row + 1) * HASH_BYTES]: row for row in range(self._count)}

    def _write_header(self, rows: int) -> None:
        """Write the npy header with this number of rows; its length does not depend on the number."""
        header = _header(rows, self.dims)
        if len(header) != self._start:
            raise RuntimeError(f"a header of {len(header)} bytes, not {self._start}: numpy has changed its format")
        self._vectors.seek(0)
        self._vectors.write(header)
        self._vectors.flush()


def take_rows(path: Path, rows: NDArray[np.intp], dims: int) -> Vectors:
    """The vectors of these rows of a file, in this order: a view of it where they lie one after the other."""
    if not rows.size:
        return np.empty((0, dims), np.float32)
    mapped: Vectors = np.load(path, mmap_mode="r")
    if np.array_equal(rows, np.arange(rows[0], rows[0] + rows.size)):
        return mapped[rows[0] : rows[0] + rows.size]
    return np.asarray(mapped[rows])


@contextmanager
def open_features(folder: Path, encoder: Encoder, background: str, *, wait: bool = False) -> Iterator[FeatureFile]:
    """The file for the encoder's vectors within ``folder``, created where there is none; one process at a time.

    Where another process has it open, that is an error; with ``wait``, the call waits.
    """
    about = {
        "encoder": encoder.name,
        "weights": encoder.weights,
        "preprocessing": encoder.preprocessing.version,
        "dims": encoder.dims,
        "background": background,
    }
    key = hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()[:16]
    encoder_folder = folder / f"{encoder.name}-{key}"
    encoder_folder.mkdir(parents=True, exist_ok=True)
    with (encoder_folder / "hashes.bin").open("ab") as lock_file, (encoder_folder / "vectors.npy").open("ab"):
        _lock(lock_file, encoder_folder, wait=wait)
        if not (encoder_folder / "about.json").exists():
            with write_atomically(encoder_folder / "about.json") as file:
                file.write((json.dumps(about, indent=2) + "\n").encode())
        with (
            (encoder_folder / "hashes.bin").open("r+b") as hashes,
            (encoder_folder / "vectors.npy").open("r+b") as vectors,
        ):
            yield FeatureFile(encoder_folder / "vectors.npy", encoder.dims, vectors, hashes)


def _lock(file: IO[bytes], encoder_folder: Path, *, wait: bool) -> None:
    """Lock the file until it is closed or the process ends."""
    if sys.platform == "win32":
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise StageError(
            f"{encoder_folder}: another process is writing features here; wait until it has ended"
        ) from error


def _header(rows: int, dims: int) -> bytes:
    buffer = io.BytesIO()
    described = {"descr": "<f4", "fortran_order": False, "shape": (rows, dims)}
    np.lib.format.write_array_header_1_0(buffer, described)
    return buffer.getvalue()


def _flush(file: IO[bytes]) -> None:
    file.flush()
    os.fsync(file.fileno())
