"""Sets of images encoded for distances: here, with vectors in memory, or by an engine, with vectors in a file."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from beholder.distances.shards.shard import Shard, rows_in_memory, rows_of_file
from beholder.engines.engine import Engine
from beholder.images.lazy import Mapped
from beholder.images.sources import ImageSource
from beholder.models.encoders.catalogue import load_encoder
from beholder.models.encoders.encode import Progress, encode_by
from beholder.models.encoders.encoder import Encoder, Vectors
from beholder.models.encoders.features import open_features, take_rows
from beholder.models.encoders.named import NamedEncoder
from beholder.scorers.shards.in_shards import Judges
from beholder.scorers.shards.stored import Measures, store_in_shards

Report: TypeAlias = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and how much there is."""

ROWS_OF_A_SHARD = 4096
"""Images of a shard of a set's features: two blocks of those in which all pairs of images are compared."""


@dataclass(frozen=True, eq=False)
class EncodedSet:
    """A set by one encoder."""

    encoder: str
    preprocessing: str
    skipped: int
    held: Vectors | None
    """The vectors, where they are in memory; else they are at the ``rows`` of ``file``."""
    file: Path | None
    rows: NDArray[np.intp]
    dims: int

    @property
    def vectors(self) -> Vectors:
        """All vectors of the set (images, dims): of a file a view, where its rows lie one after the other."""
        if self.held is not None:
            return self.held
        assert self.file is not None  # vectors are in memory or in a file
        return take_rows(self.file, self.rows, self.dims)

    @property
    def shards(self) -> Sequence[Shard]:
        """The set in shards of :data:`ROWS_OF_A_SHARD` images, wherever its vectors are."""
        if self.held is not None:
            return rows_in_memory(self.held, ROWS_OF_A_SHARD)
        assert self.file is not None
        return rows_of_file(self.file, self.rows, self.dims, ROWS_OF_A_SHARD)


@dataclass(frozen=True, eq=False)
class LoadedEncoder:
    """An encoder, and its name for workers, which load it themselves."""

    name: NamedEncoder
    encoder: Encoder


def load_by_name(name: str, weights: str | Path | None, background: str) -> LoadedEncoder:
    """Return the encoder of that name."""
    named = NamedEncoder(name, None if weights is None else str(weights), background)
    return LoadedEncoder(named, load_encoder(name, weights))


@dataclass(frozen=True, eq=False)
class SetEncoder:
    """How sets are encoded: in this process, or by an engine into the folder ``features``."""

    background: str
    features: Path | None
    engine: Engine | None
    workers: int | None
    progress: Report | None
    skip_broken: bool

    def __call__(
        self, name: str, sources: Sequence[ImageSource], encoders: Sequence[LoadedEncoder]
    ) -> list[EncodedSet]:
        """Return the set by each encoder; ``name`` is that of the set in reports of progress."""
        progress = partial(self.progress, name) if self.progress else None
        if self.engine is not None and self.features is not None:
            folder = self.features.resolve()  # workers may be started in another folder
            return [self._by_engine(self.engine, sources, encoder, folder, progress) for encoder in encoders]
        by_encoder = encode_by(
            sources,
            [each.encoder for each in encoders],
            background=self.background,
            folder=self.features,
            skip_broken=self.skip_broken,
            workers=self.workers,
            progress=progress,
        ).features
        return [
            EncodedSet(
                own.encoder, own.preprocessing, len(own.broken), own.vectors, own.file, own.rows, each.encoder.dims
            )
            for own, each in zip(by_encoder, encoders, strict=True)
        ]

    def _by_engine(
        self,
        engine: Engine,
        sources: Sequence[ImageSource],
        loaded: LoadedEncoder,
        folder: Path,
        progress: Progress | None,
    ) -> EncodedSet:
        """Have an engine hash the images and encode what is not in the folder yet; no vectors are loaded."""
        measures = Measures(Judges(scorers=(), background=self.background), encoder=loaded.name)
        prompts = Mapped(lambda _: None, range(len(sources)))
        identities = store_in_shards(engine, sources, prompts, measures, features=folder, progress=progress)
        with open_features(folder, loaded.encoder, self.background) as file:
            lacking = [place for place, identity in enumerate(identities) if identity not in file.rows]
        if lacking:  # tried once more here, which says what is wrong with each
            encode_by(
                [sources[place] for place in lacking],
                [loaded.encoder],
                identities=[identities[place] for place in lacking],
                background=self.background,
                folder=folder,
                skip_broken=self.skip_broken,
            )
        with open_features(folder, loaded.encoder, self.background) as file:
            looked_up = (file.rows.get(identity) for identity in identities if isinstance(identity, bytes))
            rows = np.fromiter((row for row in looked_up if row is not None), np.intp)
        skipped = len(sources) - len(rows)
        version = loaded.encoder.preprocessing.version
        return EncodedSet(loaded.encoder.identity, version, skipped, None, file.path, rows, file.dims)
