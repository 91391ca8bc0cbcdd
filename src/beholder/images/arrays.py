"""Arrays of images on disk, mapped into memory: an image is read when it is needed."""

import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

COPY_BYTES = 1 << 22
GIB = 1 << 30
LARGEST_UNPACKED = 64 * GIB
"""What an npz may hold: 50,000 images of 512 × 512 pixels have 37 GiB."""

SPARED = GIB // 4
"""What stays free of the disk for temporary files."""


class SourceFault(Exception):  # noqa: N818 - gathered into one ImageError
    """Why a place gives no images."""


def open_arrays(path: Path) -> Iterator[tuple[str, NDArray[np.uint8]]]:
    """Name and images (images, height, width[, 1, 3 or 4]) of each array of an npy or npz file that holds images.

    Those of an npz are unpacked into temporary files, so that memory stays bounded. Arrays of other shapes in it,
    such as labels, are ignored.
    """
    try:
        if path.suffix.lower() == ".npy":
            yield str(path), _checked(np.load(path, mmap_mode="r"))
            return
        with zipfile.ZipFile(path) as archive:
            _check_room(archive)
            opened = [(entry.filename, _mapped(archive, entry)) for entry in archive.infolist()]
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        raise SourceFault(f"cannot be read as arrays ({error})") from error
    of_images = [(name, array) for name, array in opened if array.ndim >= 3]
    if not of_images:
        raise SourceFault("holds no array of images with the shape (images, height, width, channels)")
    for name, array in of_images:
        yield f"{path}/{name.removesuffix('.npy')}", _checked(array)


def _check_room(archive: zipfile.ZipFile) -> None:
    """Refuse an archive that is too large unpacked, before any of it is; no entry gives more than it declares."""
    declared = sum(entry.file_size for entry in archive.infolist())
    if declared > LARGEST_UNPACKED:
        raise SourceFault(
            f"unpacks to {declared / GIB:,.1f} GiB; at most {LARGEST_UNPACKED / GIB:,.0f} GiB are taken. Save the "
            "arrays as npy files, which are read in place"
        )
    free = shutil.disk_usage(tempfile.gettempdir()).free
    if declared > free - SPARED:
        raise SourceFault(
            f"unpacks to {declared / GIB:,.1f} GiB, and {tempfile.gettempdir()} has {free / GIB:,.1f} GiB free. "
            "Set TMPDIR to a folder with more room, or save the arrays as npy files, which are read in place"
        )


def _mapped(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> NDArray[np.generic]:
    with archive.open(entry) as member, tempfile.TemporaryFile() as file:
        while block := member.read(COPY_BYTES):
            file.write(block)
        file.seek(0)
        return _map(file)


def _map(file: IO[bytes]) -> NDArray[np.generic]:
    """The npy in an open file as a read-only map; it outlives the file's name."""
    version = np.lib.format.read_magic(file)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, fortran, dtype = read(file)
    if dtype.hasobject:
        raise ValueError("an array of Python objects")
    if 0 in shape or not shape:
        return np.empty(shape, dtype)
    return np.memmap(file, dtype, "r", file.tell(), shape, "F" if fortran else "C")


def _checked(array: NDArray[np.generic]) -> NDArray[np.uint8]:
    if array.dtype != np.uint8:
        raise SourceFault(f"holds {array.dtype}; bytes (uint8) are expected")
    if array.ndim not in (3, 4) or (array.ndim == 4 and array.shape[3] not in (1, 3, 4)):
        raise SourceFault(f"has the shape {array.shape}; (images, height, width, 1, 3 or 4) is expected")
    return array.astype(np.uint8, copy=False)
