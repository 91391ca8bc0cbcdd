"""Images read and decoded once each, on all cores, and passed in batches to everything that uses them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from PIL import Image

from beholder.images.formats import UndecodableError
from beholder.images.in_order import batches, in_order
from beholder.images.sources import ImageSource, read_pixels

MAX_WORKERS = 8

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class BrokenImage:
    """An image that is missing or cannot be decoded, and why."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class DecodedImage:
    """An image in memory: its position among all sources, the source, the hash of its content, and flat RGB."""

    place: int
    source: ImageSource
    sha256: bytes
    image: Image.Image


@dataclass(frozen=True, slots=True, eq=False)
class UnreadableImage:
    """An image that cannot be read: its position among all sources, and why."""

    place: int
    reason: str


def read_batches(
    sources: Sequence[tuple[int, ImageSource]],
    look: Callable[[Sequence[DecodedImage]], Result],
    *,
    background: str,
    size: int,
    workers: int,
) -> Iterator[tuple[Result, list[UnreadableImage], int]]:
    """Yield for each batch the result of ``look``, the images that cannot be decoded, and the number of sources.

    Each core reads a batch, decodes it and calls ``look`` with it; no more than a few batches per core are in
    memory at a time. Results are in the order of the sources, which come with their positions. Call it within
    :func:`beholder.images.decode.quiet_pillow`.
    """

    def work(portion: list[tuple[int, ImageSource]]) -> tuple[Result, list[UnreadableImage], int]:
        images: list[DecodedImage] = []
        unreadable: list[UnreadableImage] = []
        for place, source in portion:
            try:
                sha256, content = source.load()
                images.append(DecodedImage(place, source, sha256, read_pixels(content, background)))
            except FileNotFoundError:
                unreadable.append(UnreadableImage(place, "no such file"))
            except (UndecodableError, OSError) as error:
                unreadable.append(UnreadableImage(place, str(error)))
        return look(images), unreadable, len(portion)

    return in_order(work, batches(sources, size), workers)


def batch_size(images: int, workers: int, largest: int) -> int:
    """At most ``largest``; fewer where there would not be a batch for each core."""
    return min(largest, max(-(-images // workers), 1))
