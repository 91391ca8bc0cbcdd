"""From images to features: read, decode, preprocess and encode on all cores, each distinct image once.

First every image is read and hashed, which shows what has to be encoded. Then each core takes a batch through all
steps by itself, for all encoders. Decoding thus runs in parallel with the networks, no thread waits for another,
and no more than a few batches per core are in memory.
"""

import os
from collections.abc import Callable, Collection, Mapping, Sequence
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
from beholder.images.reading import MAX_WORKERS, BrokenImage, DecodedImage, batch_size, read_batches
from beholder.images.sources import ImageSource
from beholder.models.allocator import keep_freed_memory
from beholder.models.encoders.encoder import BATCH, Encoder, Vectors
from beholder.models.encoders.features import open_features
from beholder.models.encoders.identify import identify_all

Progress = Callable[[int, int], None]
"""Called with the number of images done and the number of all images."""

EncoderKey = tuple[str, str]
"""Identity of an encoder and version of its preprocessing, which determine its vectors."""

BatchObserver = Callable[[Sequence[DecodedImage]], Mapping[EncoderKey, Mapping[int, Vectors]]]
"""Called with the decoded images of each batch, by several threads at once; returns the vectors that it computed
on the way, by encoder and index of the image, so that they are not computed twice."""


@dataclass(frozen=True, slots=True)
class Features:
    """The vectors of images, in their order, with their encoder and preprocessing."""

    encoder: str
    preprocessing: str
    names: tuple[str, ...]
    sha256: tuple[str, ...]
    vectors: Vectors
    file: Path | None
    """The file that holds the vectors, at ``rows``; ``None`` where they were not stored."""
    rows: NDArray[np.intp]
    broken: tuple[BrokenImage, ...]
    """Images that were skipped; empty without ``skip_broken``."""


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
    """The features of all images; those that are stored in ``folder`` already are not computed again.

    Images that are missing or broken stop the run with a list of all of them, or are left out and listed in the
    result with ``skip_broken``. What was computed before the stop is stored in ``folder``. Where another process
    writes there, that is an error; with ``wait``, the call waits.
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
class EncodedImages:
    """The features by each encoder, in order, and every image that was skipped."""

    features: tuple[Features, ...]
    broken: Mapping[int, BrokenImage]
    """By index among the sources."""


def encode_by(
    sources: Sequence[ImageSource],
    encoders: Sequence[Encoder],
    *,
    observe: BatchObserver | None = None,
    observed: Collection[int] | None = None,
    identities: Sequence[bytes | str] | None = None,
    background: str = DEFAULT_BACKGROUND,
    folder: Path | None = None,
    skip_broken: bool = False,
    workers: int | None = None,
    progress: Progress | None = None,
    wait: bool = False,
) -> EncodedImages:
    """As :func:`encode` with several encoders: each image is decoded once for all of them.

    With ``observe``, every image is decoded once, whether an encoder still needs it or not, and passed to
    ``observe`` as well, in batches; with ``observed``, only the images of these indices are. ``identities`` are
    what :func:`~beholder.models.encoders.identify.identify_all` returned, where the caller has read the images.
    """
    workers = workers or min(os.cpu_count() or 1, MAX_WORKERS)
    keep_freed_memory()
    with quiet_pillow(), ExitStack() as opened:
        distinct = {(encoder.identity, encoder.preprocessing.version): encoder for encoder in encoders}
        by_encoder = {  # in sorted order: two waiting processes never deadlock
            key: opened.enter_context(_open_store(folder, encoder, background, wait=wait))
            for key, encoder in sorted(distinct.items(), key=itemgetter(0))
        }
        stores = [by_encoder[encoder.identity, encoder.preprocessing.version] for encoder in encoders]
        for encoder in encoders:
            opened.enter_context(encoder.threads(workers))
        if identities is None:
            identities = identify_all(sources, workers) if encoders else [b""] * len(sources)
        faults = {index: fault for index, fault in enumerate(identities) if isinstance(fault, str)}
        jobs = [
            _EncoderJob(encoder, store, _missing_images(identities, store))
            for encoder, store in zip(encoders, stores, strict=True)
        ]
        todo = [
            (index, source)
            for index, source in enumerate(sources)
            if index not in faults
            and (_is_observed(index, observe, observed) or any(index in job.todo for job in jobs))
        ]
        batch = _BatchEncoder(jobs, identities, observe, observed)
        if faults and not skip_broken:
            batch.working.clear()
        done, size = len(sources) - len(todo), batch_size(len(todo), workers, BATCH)
        for outcome, unreadable, count in read_batches(
            todo, batch, background=background, size=size, workers=workers
        ):
            faults |= {image.place: image.reason for image in unreadable} | outcome.faults
            for job, vectors in zip(jobs, outcome.vectors, strict=True):
                job.keep(vectors)
            if faults and not skip_broken:
                batch.working.clear()  # from here on, only search for other broken images
            done += count
            if progress:
                progress(done, len(sources))
        return _collect(sources, identities, faults, jobs, skip_broken)


class VectorStore(Protocol):
    """Stores vectors by the hash of their image."""

    rows: dict[bytes, int]

    @property
    def path(self) -> Path | None:
        """The file of the store, if there is one."""
        ...

    def append(self, hashes: Sequence[bytes], vectors: Vectors) -> None:
        """Add rows."""
        ...

    def take(self, rows: NDArray[np.intp]) -> Vectors:
        """The vectors of these rows, in this order."""
        ...


class MemoryVectors:
    """Vectors in memory only."""

    path = None

    def __init__(self, dims: int) -> None:
        self.rows: dict[bytes, int] = {}
        self._batches: list[Vectors] = [np.empty((0, dims), np.float32)]

    def append(self, hashes: Sequence[bytes], vectors: Vectors) -> None:
        """Add rows."""
        self.rows |= {identity: len(self.rows) + index for index, identity in enumerate(hashes)}
        self._batches.append(vectors)

    def take(self, rows: NDArray[np.intp]) -> Vectors:
        """The vectors of these rows, in this order."""
        return np.concatenate(self._batches)[rows]


def _open_store(
    folder: Path | None, encoder: Encoder, background: str, *, wait: bool
) -> AbstractContextManager[VectorStore]:
    if folder is None:
        return nullcontext(MemoryVectors(encoder.dims))
    return open_features(folder, encoder, background, wait=wait)


def _is_observed(index: int, observe: BatchObserver | None, observed: Collection[int] | None) -> bool:
    return observe is not None and (observed is None or index in observed)


def _missing_images(identities: Sequence[bytes | str], store: VectorStore) -> frozenset[int]:
    """Indices of the images to encode: of several with the same content, the first."""
    first: dict[bytes, int] = {}
    for index, identity in enumerate(identities):
        if isinstance(identity, bytes) and identity not in store.rows:
            first.setdefault(identity, index)
    return frozenset(first.values())


@dataclass(frozen=True, slots=True)
class _Vectors:
    """The vectors of a batch by one encoder."""

    hashes: list[bytes]
    vectors: Vectors
    faults: dict[int, str]


@dataclass(frozen=True, slots=True)
class _EncoderJob:
    """One encoder's part of a run: its store, and the indices of the images that it has to encode."""

    encoder: Encoder
    store: VectorStore
    todo: frozenset[int]

    @property
    def key(self) -> EncoderKey:
        """What determines the vectors."""
        return self.encoder.identity, self.encoder.preprocessing.version

    def encode(self, images: Sequence[DecodedImage], ready: Mapping[int, Vectors]) -> _Vectors:
        """Vectors of those images of a batch that are not stored yet, and faults of those without one.

        ``ready`` has vectors that were computed already, by index.
        """
        prepared: list[NDArray[np.float32]] = []
        lacking: list[DecodedImage] = []
        faults: dict[int, str] = {}
        missing = [image for image in images if image.place in self.todo]
        computed = [image for image in missing if image.place in ready]
        for image in missing:
            if image.place in ready:
                continue
            try:
                prepared.append(self.encoder.preprocessing.prepare(image.image))
                lacking.append(image)
            except UndecodableError as error:
                faults[image.place] = str(error)
        vectors = np.array([ready[image.place] for image in computed], np.float32).reshape(-1, self.encoder.dims)
        if prepared:
            vectors = np.concatenate([vectors, self.encoder.network(np.stack(prepared))])
        lacking = computed + lacking
        sound = np.asarray(np.isfinite(vectors).all(axis=1))
        faults |= {
            image.place: "its features are not finite"
            for image, good in zip(lacking, sound, strict=True)
            if not good
        }
        hashes = [image.sha256 for image, good in zip(lacking, sound, strict=True) if good]
        return _Vectors(hashes, vectors[sound], faults)

    def keep(self, vectors: _Vectors) -> None:
        """Add the vectors to the store."""
        if vectors.hashes:
            self.store.append(vectors.hashes, vectors.vectors)


@dataclass(frozen=True, slots=True)
class _BatchOutcome:
    """The outcome of a batch: vectors by encoder, and faults by index."""

    vectors: list[_Vectors]
    faults: dict[int, str]


class _BatchEncoder:
    """Shows the images of a batch to the observer, then encodes them with all encoders, unless it already has.

    Does nothing once ``working`` is cleared.
    """

    def __init__(
        self,
        jobs: Sequence[_EncoderJob],
        identities: Sequence[bytes | str],
        observe: BatchObserver | None,
        observed: Collection[int] | None,
    ) -> None:
        self._jobs, self._identities = jobs, identities
        self._observe, self._observed = observe, observed
        self.working = Event()
        self.working.set()

    def __call__(self, images: Sequence[DecodedImage]) -> _BatchOutcome:
        changed = {
            image.place: "changed while it was being read"
            for image in images
            if self._identities[image.place] and image.sha256 != self._identities[image.place]
        }
        images = [image for image in images if image.place not in changed]
        if not self.working.is_set():
            return _BatchOutcome([_Vectors([], np.empty((0, 0), np.float32), {}) for _ in self._jobs], changed)
        looked_at = [image for image in images if _is_observed(image.place, self._observe, self._observed)]
        ready = self._observe(looked_at) if self._observe and looked_at else {}
        vectors = [job.encode(images, ready.get(job.key, {})) for job in self._jobs]
        faults = {index: reason for encoded in vectors for index, reason in encoded.faults.items()}
        return _BatchOutcome(vectors, changed | faults)


def _collect(
    sources: Sequence[ImageSource],
    identities: Sequence[bytes | str],
    faults: Mapping[int, str],
    jobs: Sequence[_EncoderJob],
    skip_broken: bool,
) -> EncodedImages:
    """All features, or the error that lists all broken images; copies of a broken image are broken as well."""
    by_content = {identities[index]: reason for index, reason in faults.items() if identities[index]}
    broken: dict[int, BrokenImage] = {}
    for index, (source, identity) in enumerate(zip(sources, identities, strict=True)):
        reason = faults.get(index) or by_content.get(identity)
        if reason is not None:
            broken[index] = BrokenImage(source.name, reason)
    if broken and not skip_broken:
        raise ImageError(
            "images",
            [f"{image.name}: {image.reason}" for image in broken.values()],
            advice="Mend or remove them, or skip them with --skip-broken (skip_broken in Python).",
        )
    sound = [
        (source.name, identity)
        for index, (source, identity) in enumerate(zip(sources, identities, strict=True))
        if index not in broken and isinstance(identity, bytes)
    ]
    features = tuple(_features(job, sound, tuple(broken.values())) for job in jobs)
    return EncodedImages(features, broken)


def _features(job: _EncoderJob, sound: Sequence[tuple[str, bytes]], broken: tuple[BrokenImage, ...]) -> Features:
    rows = np.array([job.store.rows[identity] for _, identity in sound], np.intp)
    return Features(
        encoder=job.encoder.identity,
        preprocessing=job.encoder.preprocessing.version,
        names=tuple(name for name, _ in sound),
        sha256=tuple(identity.hex() for _, identity in sound),
        vectors=job.store.take(rows),
        file=job.store.path,
        rows=rows,
        broken=broken,
    )
