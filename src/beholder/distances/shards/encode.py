"""Features of images in shards: every shard is encoded by a worker, which writes its vectors to a file."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from beholder.distances.shards.shard import FeatureFile
from beholder.engines.engine import Engine
from beholder.errors import ImageError
from beholder.images.sources import ImageSource
from beholder.models.encoders.encode import Progress, encode
from beholder.models.encoders.encoder import BATCH
from beholder.models.encoders.named import NamedEncoder, load_once
from beholder.tables.atomic import write_atomically

SHARD = 8 * BATCH
"""Images of a shard: whole batches, so that a network sees the same batches as without shards."""


@dataclass(frozen=True, slots=True)
class EncodedShards:
    """The files of a set's vectors in order, the number of images in them, and the images that were skipped."""

    files: tuple[FeatureFile, ...]
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

    Memory does not grow with the number of images, but for the names of the files.
    """
    shards = (tuple(sources[start : start + SHARD]) for start in range(0, len(sources), SHARD))
    folder.mkdir(parents=True, exist_ok=True)
    files, images, broken = list[FeatureFile](), 0, list[str]()
    for file, number, faults in engine.map(partial(_encoded, encoder, folder), shards):
        files.append(FeatureFile(file))
        images += number
        broken += faults
        if progress:
            progress(min(len(files) * SHARD, len(sources)), len(sources))
    if broken and not skip_broken:
        raise ImageError("images", broken)
    return EncodedShards(tuple(files), images, tuple(broken))


def _encoded(named: NamedEncoder, folder: Path, shard: tuple[ImageSource, ...]) -> tuple[Path, int, list[str]]:
    """Encode a shard, unless its file is there, whose name follows from the encoder and the images' bytes."""
    encoder = load_once(named)
    key = hashlib.sha256(repr((encoder.identity, encoder.preprocessing.version, named.background)).encode())
    for source in shard:
        key.update(source.name.encode() + b"\0")
        try:
            key.update(source.load()[0])
        except OSError:
            key.update(b"missing")
    file = folder / f"{key.hexdigest()[:32]}.npy"
    faults = file.with_suffix(".broken")
    if not (file.is_file() and faults.is_file()):
        features = encode(shard, encoder, background=named.background, skip_broken=True, workers=1)
        with write_atomically(faults) as opened:
            opened.write("\n".join(f"{image.name}: {image.reason}" for image in features.broken).encode())
        with write_atomically(file) as opened:
            np.save(opened, features.vectors)
    number = int(np.load(file, mmap_mode="r").shape[0])
    return file, number, [line for line in faults.read_text(encoding="utf-8").split("\n") if line]
