"""From pictures to features: read, decode, prepare and encode on all cores, each content once.

First every picture is read and hashed, so that it is known what there is to do. Then each core takes a batch
through all steps by itself. Decoding thus runs beside the network, no thread waits for another, and no more than a
batch a core is held in memory.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from beholder.errors import ImageError
from beholder.models.allocator import keep_freed_memory
from beholder.models.decode import UndecodableError, quiet_pillow
from beholder.models.encoders.encoder import BATCH, Encoder, Vectors
from beholder.models.encoders.features import open_features
from beholder.models.in_order import batches, in_order
from beholder.models.pictures import Picture, image_of

MAX_WORKERS = 8

Progress = Callable[[int, int], None]
"""Called with how many are done, of how many."""


@dataclass(frozen=True, slots=True)
class Broken:
    """A picture that is missing or cannot be decoded, and why."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Features:
    """The vectors of pictures, in their order, with what they come from."""

    encoder: str
    preprocessing: str
    names: tuple[str, ...]
    sha256: tuple[str, ...]
    vectors: Vectors
    file: Path | None
    """Where the vectors lie, at ``rows``; ``None`` where they were not kept."""
    rows: NDArray[np.intp]
    broken: tuple[Broken, ...]
    """What was skipped; always empty unless that was asked for."""


def encode(
    pictures: Sequence[Picture],
    encoder: Encoder,
    *,
    folder: Path | None = None,
    skip_broken: bool = False,
    workers: int | None = None,
    progress: Progress | None = None,
    wait: bool = False,
) -> Features:
    """The features of all pictures; those that lie in ``folder`` already are not computed again.

    Pictures that are missing or broken stop the run with a list of all of them, or are left out and listed in the
    result with ``skip_broken``. What was computed before the stop is kept in ``folder``. Where another process
    writes there, that is an error, unless ``wait`` is asked for.
    """
    workers = workers or min(os.cpu_count() or 1, MAX_WORKERS)
    keep_freed_memory()
    with quiet_pillow(), _shelf(folder, encoder, wait=wait) as shelf, encoder.threads(workers):
        identities = list(in_order(_identify, pictures, workers, 64))
        todo = _first_of_each(pictures, identities, shelf.rows)
        work = _Work(encoder, encoding=skip_broken or not any(isinstance(one, str) for one in identities))
        done, faults = len(pictures) - len(todo), dict[bytes, str]()
        for found in in_order(work.batch, _portions(todo, workers), workers):
            if found.hashes:
                shelf.append(found.hashes, found.vectors)
            faults |= found.faults
            if faults and not skip_broken:
                work.encoding.clear()  # from here on, only look for what else is broken
            done += len(found.hashes) + len(found.faults)
            if progress:
                progress(done, len(pictures))
        return _collected(pictures, identities, faults, encoder, shelf, skip_broken)


class Shelf(Protocol):
    """Where vectors are put, and found again by the hash of the image."""

    rows: dict[bytes, int]

    @property
    def path(self) -> Path | None:
        """The file, if there is one."""
        ...

    def append(self, hashes: Sequence[bytes], vectors: Vectors) -> None:
        """Add rows."""
        ...

    def take(self, rows: NDArray[np.intp]) -> Vectors:
        """The vectors of these rows, in this order."""
        ...


class MemoryShelf:
    """Vectors that are not kept."""

    path = None

    def __init__(self, dims: int) -> None:
        self.rows: dict[bytes, int] = {}
        self._parts: list[Vectors] = [np.empty((0, dims), np.float32)]

    def append(self, hashes: Sequence[bytes], vectors: Vectors) -> None:
        """Add rows."""
        self.rows |= {one: len(self.rows) + place for place, one in enumerate(hashes)}
        self._parts.append(vectors)

    def take(self, rows: NDArray[np.intp]) -> Vectors:
        """The vectors of these rows, in this order."""
        return np.concatenate(self._parts)[rows]


def _shelf(folder: Path | None, encoder: Encoder, *, wait: bool) -> AbstractContextManager[Shelf]:
    return open_features(folder, encoder, wait=wait) if folder else nullcontext(MemoryShelf(encoder.dims))


def _identify(picture: Picture) -> bytes | str:
    """The hash of the content, or why it cannot be read."""
    try:
        return picture.load()[0]
    except FileNotFoundError:
        return "no such file"
    except OSError as error:
        return f"cannot be read ({error.strerror or error})"


def _first_of_each(
    pictures: Sequence[Picture], identities: Sequence[bytes | str], known: dict[bytes, int]
) -> list[tuple[bytes, Picture]]:
    first: dict[bytes, Picture] = {}
    for picture, identity in zip(pictures, identities, strict=True):
        if isinstance(identity, bytes) and identity not in known:
            first.setdefault(identity, picture)
    return list(first.items())


def _portions(todo: list[tuple[bytes, Picture]], workers: int) -> Iterator[list[tuple[bytes, Picture]]]:
    """Batches, smaller ones where there would not be one for each core."""
    return batches(todo, min(BATCH, max(-(-len(todo) // workers), 1)))


@dataclass(frozen=True, slots=True)
class _Found:
    hashes: list[bytes]
    vectors: Vectors
    faults: dict[bytes, str]


class _Work:
    """What a core does with a batch."""

    def __init__(self, encoder: Encoder, *, encoding: bool) -> None:
        self._encoder = encoder
        self.encoding = Event()
        if encoding:
            self.encoding.set()

    def batch(self, portion: list[tuple[bytes, Picture]]) -> _Found:
        """Vectors of the sound pictures, faults of the others; once encoding is off, faults only."""
        prepared: dict[bytes, NDArray[np.float32]] = {}
        faults: dict[bytes, str] = {}
        for identity, picture in portion:
            try:
                found, content = picture.load()
                if found != identity:
                    raise UndecodableError("changed while it was being read")
                image = image_of(content)
                if self.encoding.is_set():
                    prepared[identity] = self._encoder.preprocessing.prepare(image)
            except (UndecodableError, OSError) as error:
                faults[identity] = str(error)
        if not prepared or not self.encoding.is_set():
            return _Found([], np.empty((0, self._encoder.dims), np.float32), faults)
        vectors = self._encoder.network(np.stack(list(prepared.values())))
        sound = np.asarray(np.isfinite(vectors).all(axis=1))
        faults |= {
            one: "its features are not finite" for one, good in zip(prepared, sound, strict=True) if not good
        }
        kept = [one for one, good in zip(prepared, sound, strict=True) if good]
        return _Found(kept, vectors[sound], faults)


def _collected(
    pictures: Sequence[Picture],
    identities: Sequence[bytes | str],
    faults: dict[bytes, str],
    encoder: Encoder,
    shelf: Shelf,
    skip_broken: bool,
) -> Features:
    """The result, or the error that lists all that is broken."""
    broken: list[Broken] = []
    sound: list[tuple[str, bytes]] = []
    for picture, identity in zip(pictures, identities, strict=True):
        if isinstance(identity, str):
            broken.append(Broken(picture.name, identity))
        elif identity in faults:
            broken.append(Broken(picture.name, faults[identity]))
        else:
            sound.append((picture.name, identity))
    if broken and not skip_broken:
        raise ImageError(
            "images",
            [f"{one.name}: {one.reason}" for one in broken],
            advice="Mend or remove them, or ask for broken images to be skipped.",
        )
    rows = np.array([shelf.rows[identity] for _, identity in sound], np.intp)
    return Features(
        encoder=encoder.identity,
        preprocessing=encoder.preprocessing.version,
        names=tuple(name for name, _ in sound),
        sha256=tuple(identity.hex() for _, identity in sound),
        vectors=shelf.take(rows),
        file=shelf.path,
        rows=rows,
        broken=tuple(broken),
    )
