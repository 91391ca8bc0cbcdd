"""From images to features: read, decode, prepare and encode on all cores, each content once.

First every image is read and hashed, so that it is known what there is to do. Then each core takes a batch through
all steps by itself, for all encoders. Decoding thus runs beside the networks, no thread waits for another, and no
more than a few batches per core are in memory.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from threading import Event
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from beholder.errors import ImageError
from beholder.images.background import DEFAULT_BACKGROUND
from beholder.images.decode import quiet_pillow
from beholder.images.formats import UndecodableError
from beholder.images.in_order import in_order
from beholder.images.reading import MAX_WORKERS, BrokenImage, DecodedImage, batch_size, read_batches
from beholder.images.sources import ImageSource
from beholder.models.allocator import keep_freed_memory
from beholder.models.encoders.encoder import BATCH, Encoder, Vectors
from beholder.models.encoders.features import open_features

Progress = Callable[[int, int], None]
"""Called with how many are done, of how many."""

Look = Callable[[Sequence[DecodedImage]], None]
"""What else looks at the images of a batch; called by several threads at once."""


@dataclass(frozen=True, slots=True)
class Features:
    """The vectors of images, in their order, with what they come from."""

    encoder: str
    preprocessing: str
    names: tuple[str, ...]
    sha256: tuple[str, ...]
    vectors: Vectors
    file: Path | None
    """Where the vectors lie, at ``rows``; ``None`` where they were not kept."""
    rows: NDArray[np.intp]
    broken: tuple[BrokenImage, ...]
    """What was skipped; always empty unless that was asked for."""


def encode(
    sources: Sequence[ImageSource],
    encoder: Encoder,
    *,
    background: str = DEFAULT_BACKGROUND,
    folder: Path | None = None,
    skip_broken: bool = False,
    workers: int | None = None,
    progress: Progress | None = None,
    wait: bool = False,
) -> Features:
    """The features of all images; those that lie in ``folder`` already are not computed again.

    Images that are missing or broken stop the run with a list of all of them, or are left out and listed in the
    result with ``skip_broken``. What was computed before the stop is kept in ``folder``. Where another process
    writes there, that is an error, unless ``wait`` is asked for.
    """
    return encode_by(
        sources,
        [encoder],
        background=background,
        folder=folder,
        skip_broken=skip_broken,
        workers=workers,
        progress=progress,
        wait=wait,
    ).features[0]


@dataclass(frozen=True, slots=True)
class Encoded:
    """The features by each encoder, in their order; and every image that was skipped."""

    features: tuple[Features, ...]
    broken: Mapping[int, BrokenImage]
    """By place among the sources."""


def encode_by(
    sources: Sequence[ImageSource],
    encoders: Sequence[Encoder],
    *,
    look: Look | None = None,
    background: str = DEFAULT_BACKGROUND,
    folder: Path | None = None,
    skip_broken: bool = False,
    workers: int | None = None,
    progress: Progress | None = None,
    wait: bool = False,
) -> Encoded:
    """The same by several encoders: each image is decoded once for all of them.

    With ``look``, every image is decoded, once, whether an encoder still needs it or not, and handed to ``look``
    as well, in batches.
    """
    workers = workers or min(os.cpu_count() or 1, MAX_WORKERS)
    keep_freed_memory()
    with quiet_pillow(), ExitStack() as opened:
        distinct = {(one.identity, one.preprocessing.version): one for one in encoders}
        by_encoder = {  # in an order of their own: two processes that wait never wait for each other
            key: opened.enter_context(_shelf(folder, encoder, background, wait=wait))
            for key, encoder in sorted(distinct.items(), key=itemgetter(0))
        }
        shelves = [by_encoder[one.identity, one.preprocessing.version] for one in encoders]
        for encoder in encoders:
            opened.enter_context(encoder.threads(workers))
        identities = list(in_order(_identify, sources, workers, 64)) if encoders else [b""] * len(sources)
        faults = {place: one for place, one in enumerate(identities) if isinstance(one, str)}
        parts = [
            _Part(one, shelf, _first_of_each(identities, shelf))
            for one, shelf in zip(encoders, shelves, strict=True)
        ]
        todo = [
            (place, source)
            for place, source in enumerate(sources)
            if place not in faults and (look or any(place in part.todo for part in parts))
        ]
        batch = _Batch(parts, identities, look)
        if faults and not skip_broken:
            batch.working.clear()
        done, size = len(sources) - len(todo), batch_size(len(todo), workers, BATCH)
        for found, unreadable, count in read_batches(
            todo, batch, background=background, size=size, workers=workers
        ):
            faults |= {one.place: one.reason for one in unreadable} | found.faults
            for part, vectors in zip(parts, found.vectors, strict=True):
                part.keep(vectors)
            if faults and not skip_broken:
                batch.working.clear()  # from here on, only look for what else is broken
            done += count
            if progress:
                progress(done, len(sources))
        return _collected(sources, identities, faults, parts, skip_broken)


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


def _shelf(folder: Path | None, encoder: Encoder, background: str, *, wait: bool) -> AbstractContextManager[Shelf]:
    if folder is None:
        return nullcontext(MemoryShelf(encoder.dims))
    return open_features(folder, encoder, background, wait=wait)


def _identify(source: ImageSource) -> bytes | str:
    """The hash of the content, or why it cannot be read."""
    try:
        return source.load()[0]
    except FileNotFoundError:
        return "no such file"
    except OSError as error:
        return f"cannot be read ({error.strerror or error})"


def _first_of_each(identities: Sequence[bytes | str], shelf: Shelf) -> frozenset[int]:
    """Places of the images to encode: of several with the same content, the first."""
    first: dict[bytes, int] = {}
    for place, identity in enumerate(identities):
        if isinstance(identity, bytes) and identity not in shelf.rows:
            first.setdefault(identity, place)
    return frozenset(first.values())


@dataclass(frozen=True, slots=True)
class _Vectors:
    """What one encoder made of a batch."""

    hashes: list[bytes]
    vectors: Vectors
    faults: dict[int, str]


@dataclass(frozen=True, slots=True)
class _Part:
    """One encoder's part in a run: where its vectors are put, and the places of the images that it lacks."""

    encoder: Encoder
    shelf: Shelf
    todo: frozenset[int]

    def encode(self, images: Sequence[DecodedImage]) -> _Vectors:
        """Vectors of those images of a batch that are lacking; faults of those that have none."""
        prepared: list[NDArray[np.float32]] = []
        lacking: list[DecodedImage] = []
        faults: dict[int, str] = {}
        for one in images:
            if one.place not in self.todo:
                continue
            try:
                prepared.append(self.encoder.preprocessing.prepare(one.image))
                lacking.append(one)
            except UndecodableError as error:
                faults[one.place] = str(error)
        if not prepared:
            return _Vectors([], np.empty((0, self.encoder.dims), np.float32), faults)
        vectors = self.encoder.network(np.stack(prepared))
        sound = np.asarray(np.isfinite(vectors).all(axis=1))
        faults |= {
            one.place: "its features are not finite" for one, good in zip(lacking, sound, strict=True) if not good
        }
        hashes = [one.sha256 for one, good in zip(lacking, sound, strict=True) if good]
        return _Vectors(hashes, vectors[sound], faults)

    def keep(self, vectors: _Vectors) -> None:
        """Put the vectors where they are found again."""
        if vectors.hashes:
            self.shelf.append(vectors.hashes, vectors.vectors)


@dataclass(frozen=True, slots=True)
class _Found:
    """What came of a batch: vectors by encoder, and faults by place."""

    vectors: list[_Vectors]
    faults: dict[int, str]


class _Batch:
    """What a core does with the images of a batch; once ``working`` is off, nothing."""

    def __init__(self, parts: Sequence[_Part], identities: Sequence[bytes | str], look: Look | None) -> None:
        self._parts, self._identities, self._look = parts, identities, look
        self.working = Event()
        self.working.set()

    def __call__(self, images: Sequence[DecodedImage]) -> _Found:
        changed = {
            one.place: "changed while it was being read"
            for one in images
            if self._parts and one.sha256 != self._identities[one.place]
        }
        images = [one for one in images if one.place not in changed]
        if not self.working.is_set():
            return _Found([_Vectors([], np.empty((0, 0), np.float32), {}) for _ in self._parts], changed)
        vectors = [part.encode(images) for part in self._parts]
        if self._look and images:
            self._look(images)
        faults = {place: reason for one in vectors for place, reason in one.faults.items()}
        return _Found(vectors, changed | faults)


def _collected(
    sources: Sequence[ImageSource],
    identities: Sequence[bytes | str],
    faults: Mapping[int, str],
    parts: Sequence[_Part],
    skip_broken: bool,
) -> Encoded:
    """The result, or the error that lists all that is broken; copies of a broken image are broken as well."""
    by_content = {identities[place]: reason for place, reason in faults.items() if identities[place]}
    broken: dict[int, BrokenImage] = {}
    for place, (source, identity) in enumerate(zip(sources, identities, strict=True)):
        reason = faults.get(place) or by_content.get(identity)
        if reason is not None:
            broken[place] = BrokenImage(source.name, reason)
    if broken and not skip_broken:
        raise ImageError(
            "images",
            [f"{one.name}: {one.reason}" for one in broken.values()],
            advice="Mend or remove them, or skip them with --skip-broken (skip_broken in Python).",
        )
    sound = [
        (source.name, identity)
        for place, (source, identity) in enumerate(zip(sources, identities, strict=True))
        if place not in broken and isinstance(identity, bytes)
    ]
    features = tuple(_features(part, sound, tuple(broken.values())) for part in parts)
    return Encoded(features, broken)


def _features(part: _Part, sound: Sequence[tuple[str, bytes]], broken: tuple[BrokenImage, ...]) -> Features:
    rows = np.array([part.shelf.rows[identity] for _, identity in sound], np.intp)
    return Features(
        encoder=part.encoder.identity,
        preprocessing=part.encoder.preprocessing.version,
        names=tuple(name for name, _ in sound),
        sha256=tuple(identity.hex() for _, identity in sound),
        vectors=part.shelf.take(rows),
        file=part.shelf.path,
        rows=rows,
        broken=broken,
    )
