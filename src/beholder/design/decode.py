"""Opening images for certain: every pixel is decoded, as a browser would have to."""

import os
import stat
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from PIL import ExifTags, Image, ImageFile, UnidentifiedImageError

from beholder.images.formats import DAMAGE, FORMATS, LARGEST_PIXELS
from beholder.tables.provenance import file_hash

MAX_WORKERS = 8

Progress = Callable[[int, int], None]
"""Called with how many are done, of how many."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """An image that can be shown: its size as displayed, after the rotation its EXIF asks for."""

    width: int
    height: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Unusable:
    """An image that cannot be shown, and why."""

    reason: str


def decode_all(files: Sequence[Path], progress: Progress | None = None) -> list[Decoded | Unusable]:
    """Decode each file, several at a time; the results are in the order of the files."""
    workers = min(MAX_WORKERS, os.cpu_count() or 1)
    outcomes: list[Decoded | Unusable] = []
    with _limits():
        pool = ThreadPoolExecutor(workers)
        try:
            for outcome in pool.map(decode, files):
                outcomes.append(outcome)
                if progress:
                    progress(len(outcomes), len(files))
        finally:
            pool.shutdown(cancel_futures=True)
    return outcomes


def decode(file: Path) -> Decoded | Unusable:
    """Decode one file. Pillow's limits are those of the caller: see :func:`decode_all`."""
    try:
        status = file.stat()
        if not stat.S_ISREG(status.st_mode):
            return Unusable("not a file")
        if status.st_size == 0:
            return Unusable("the file is empty (0 bytes)")
        with Image.open(file, formats=FORMATS) as image:
            frames = 1 if image.format == "MPO" else getattr(image, "n_frames", 1)
            if frames > 1:
                return Unusable(f"holds {frames} frames; a still image is expected")
            image.load()
            width, height = _displayed(image)
        return Decoded(width, height, file_hash(file))
    except FileNotFoundError:
        return Unusable("no such file")
    except UnidentifiedImageError:
        return Unusable(f"not an image that can be read; known: {', '.join(FORMATS)}")
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        return Unusable(f"larger than {LARGEST_PIXELS // 1_000_000} megapixels")
    except DAMAGE as error:
        return Unusable(f"damaged or cut short ({error})")


@contextmanager
def _limits() -> Iterator[None]:
    """Pillow's process-wide limits set as we mean them, its other warnings silenced, both put back at the end."""
    before = Image.MAX_IMAGE_PIXELS, ImageFile.LOAD_TRUNCATED_IMAGES
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        Image.MAX_IMAGE_PIXELS, ImageFile.LOAD_TRUNCATED_IMAGES = LARGEST_PIXELS, False
        try:
            yield
        finally:
            Image.MAX_IMAGE_PIXELS, ImageFile.LOAD_TRUNCATED_IMAGES = before


def _displayed(image: Image.Image) -> tuple[int, int]:
    try:
        orientation = image.getexif().get(ExifTags.Base.Orientation, 1)
    except DAMAGE:
        orientation = 1  # browsers pass over a damaged EXIF block, too
    width, height = image.size
    return (height, width) if orientation in (5, 6, 7, 8) else (width, height)
