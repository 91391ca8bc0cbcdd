"""Features of images in shards: each distinct image is encoded once, by workers that write vectors to files."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from beholder.distances.shards.shard import Joined, Shard, rows_of_file
from beholder.engines.engine import Engine
from beholder.errors import ImageError
from beholder.images.sources import ImageSource
from beholder.models.encoders.encode import Progress, encode_by
from beholder.models.encoders.encoder import BATCH
from beholder.models.encoders.identify import identify_all
from beholder.models.encoders.named import NamedEncoder, load_once
from beholder.tables.atomic import write_atomically

SHARD = 8 * BATCH
"""Images of a shard: whole batches, so that a network sees the same batches as without shards."""


@dataclass(frozen=True, slots=True)
class EncodedShards:
    """A set's vectors in shards, in order, the number of images in them, and the images that were skipped."""

    shards: tuple[Shard, ...]
    images: int
    broken: tuple[str, ...]


def encode_in_shards(
    engine: Engine,
    sources: Sequence[ImageSource],
    encoder: NamedEncoder,
    folder: Path,
    *,
    skip_broken: bool = False,
    progress: Progress | None = None,
) -> EncodedShards:
    """Encode all images into files in ``folder``, which all workers must reach; those there are stay.

    Workers first hash the images. Of equal ones the first is encoded, as one process does: so networks see the
    same batches, and vectors are equal to the byte. Memory grows with the number of images: by the hash of each,
    and by its file and row.
    """
    identities = identify_all(sources, 1, None, engine)
    distinct = _first_places(identities)
    starts = range(0, len(distinct), SHARD)
    places = list(distinct.values())
    parts = (tuple((sources[place], identities[place]) for place in places[a : a + SHARD]) for a in starts)
    folder.mkdir(parents=True, exist_ok=True)
    files, rows, faults = list[Path](), np.full(len(sources), -1, np.intp), dict[bytes | str, str]()
    dims = 0
    for start, answer in zip(starts, engine.map(partial(_encoded, encoder, folder), parts), strict=True):
        here = places[start : start + SHARD]
        files.append(answer.file)
        dims = answer.dims
        faults |= {identities[here[place]]: reason for place, reason in answer.faults.items()}
        sound = [place for number, place in enumerate(here) if number not in answer.faults]
        rows[sound] = np.arange(len(sound))
        if progress:
            progress(here[-1] + 1, len(sources))
    broken = [
        f"{source.name}: {faults.get(identity, identity)}"
        for source, identity in zip(sources, identities, strict=True)
        if isinstance(identity, str) or identity in faults
    ]
    if broken and not skip_broken:
        raise ImageError("images", broken)
    file_of = {identity: number // SHARD for number, identity in enumerate(distinct)}
    where = [
        (file_of[identity], int(rows[distinct[identity]]))
        for identity in identities
        if isinstance(identity, bytes) and identity not in faults
    ]
    shards = [_shard(where[start : start + SHARD], files, dims) for start in range(0, len(where), SHARD)]
    return EncodedShards(tuple(shards), len(where), tuple(broken))


def _first_places(identities: Sequence[bytes | str]) -> dict[bytes, int]:
    """Return the place of the first of equal images, by hash, in order; images that cannot be read have none."""
    first: dict[bytes, int] = {}
    for place, identity in enumerate(identities):
        if isinstance(identity, bytes):
            first.setdefault(identity, place)
    return first


def _shard(where: Sequence[tuple[int, int]], files: Sequence[Path], dims: int) -> Shard:
    """Return a shard of images that are at these files and rows: one file, but where copies came before."""
    parts: list[Shard] = []
    for file, run in groupby(where, key=lambda image: image[0]):
        rows: NDArray[np.intp] = np.array([row for _, row in run], np.intp)
        parts += rows_of_file(files[file], rows, dims, SHARD)
    return parts[0] if len(parts) == 1 else Joined(tuple(parts), (len(where), dims))


@dataclass(frozen=True, slots=True)
class _Answer:
    """The file of some images' vectors, the reasons for those without one, by place among them, and the numbers of
    a vector."""

    file: Path
    faults: Mapping[int, str]
    dims: int


def _encoded(named: NamedEncoder, folder: Path, images: tuple[tuple[ImageSource, bytes | str], ...]) -> _Answer:
    """Encode some images, unless their file is there, whose name follows from the encoder and the hashes."""
    encoder = load_once(named)
    key = hashlib.sha256(repr((encoder.identity, encoder.preprocessing.version, named.background)).encode())
    hashes = [identity for _, identity in images]
    key.update(repr(hashes).encode())
    file = folder / f"{key.hexdigest()[:32]}.npy"
    broken = file.with_suffix(".broken")
    if not (file.is_file() and broken.is_file()):
        sources = [source for source, _ in images]
        encoded = encode_by(
            sources, [encoder], identities=hashes, background=named.background, skip_broken=True, workers=1
        )
        reasons = {place: image.reason for place, image in encoded.broken.items()}
        with write_atomically(broken) as opened:
            opened.write(json.dumps(reasons).encode())
        with write_atomically(file) as opened:
            np.save(opened, encoded.features[0].vectors)
    stored: dict[str, str] = json.loads(broken.read_bytes())
    return _Answer(file, {int(place): reason for place, reason in stored.items()}, encoder.dims)
