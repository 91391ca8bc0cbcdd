"""Which images are equal: the hash of the content of each, by threads of this process or by an engine."""

from collections.abc import Sequence
from pathlib import Path

from beholder.engines.engine import Engine
from beholder.images.hash_index import HashIndex, stamp_of
from beholder.images.in_order import in_order
from beholder.images.sources import ImageFile, ImageSource

HASHED_TOGETHER = 1024
"""Images that a worker of an engine hashes for one answer."""


def identify_all(
    sources: Sequence[ImageSource], workers: int, index: HashIndex | None = None, engine: Engine | None = None
) -> list[bytes | str]:
    """Return for each image the hash of its content, or why it cannot be read.

    With ``index``, files that have not changed since they were hashed are not read; the others are added to it.
    With ``engine``, its workers read the images, and not the ``workers`` (threads) of this process.
    """
    if index is None:
        return _hashes(sources, workers, engine)
    identities: list[bytes | str | None] = [
        index.find(source.path) if isinstance(source, ImageFile) else None for source in sources
    ]
    todo = [place for place, identity in enumerate(identities) if identity is None]
    unread = [sources[place] for place in todo]
    paths = [source.path if isinstance(source, ImageFile) else None for source in unread]
    stamps = [None if path is None else stamp_of(path) for path in paths]
    hashes = _hashes(unread, workers, engine)
    index.add([path or Path() for path in paths], stamps, hashes)
    index.save()
    for place, identity in zip(todo, hashes, strict=True):
        identities[place] = identity
    return [identity for identity in identities if identity is not None]


def _hashes(sources: Sequence[ImageSource], workers: int, engine: Engine | None) -> list[bytes | str]:
    if engine is None:
        return list(in_order(_identify, sources, workers, 64))
    starts = range(0, len(sources), HASHED_TOGETHER)
    shards = (tuple(sources[start : start + HASHED_TOGETHER]) for start in starts)
    return [identity for answer in engine.map(_identify_shard, shards) for identity in answer]


def _identify_shard(sources: Sequence[ImageSource]) -> list[bytes | str]:
    return [_identify(source) for source in sources]


def _identify(source: ImageSource) -> bytes | str:
    """The hash of the content, or why it cannot be read."""
    try:
        return source.load()[0]
    except FileNotFoundError:
        return "no such file"
    except OSError as error:
        return f"cannot be read ({error.strerror or error})"
