"""Scores and features computed by an engine, shard by shard, into the files in which a study keeps them.

What then scores and encodes the study finds everything there, and computes nothing: so the tables are the same
whoever did the work. A run that was stopped goes on with the images that are not in the files.
"""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from beholder.engines.engine import Engine
from beholder.images.hash_index import HashIndex
from beholder.images.sources import ImageSource
from beholder.models.encoders.encoder import Vectors
from beholder.models.encoders.features import FeatureFile, open_features
from beholder.models.encoders.identify import identify_all
from beholder.models.encoders.named import NamedEncoder, load_once
from beholder.scorers.score import FILES, Progress, score
from beholder.scorers.score_cache import ScoreFile, open_scores, score_key
from beholder.scorers.shards.in_shards import SHARD, Judges, Shard, loaded_scorers


@dataclass(frozen=True, slots=True)
class Measures:
    """What is computed of every image."""

    judges: Judges
    prompted: tuple[str, ...] = ()
    """Scorers that leave out images without a prompt."""
    encoder: NamedEncoder | None = None


def store_in_shards(
    engine: Engine,
    sources: Sequence[ImageSource],
    prompts: Sequence[str | None],
    measures: Measures,
    *,
    features: Path,
    cache: Path | None = None,
    progress: Progress | None = None,
) -> list[bytes | str]:
    """Compute what is missing of the scores in the folder ``cache`` and of the vectors in ``features``.

    Images that cannot be read or decoded are passed over: whoever reads the files finds them, and names them.
    No more than the answers of a few shards are in memory, and the hash of every image.

    Returns:
        The hash of each image, or why it cannot be read; workers of the engine read them.
    """
    with ExitStack() as opened:
        files = _open_files(measures, features, cache, opened)
        index = HashIndex.load(cache / FILES) if cache is not None else None
        identities = identify_all(sources, 1, index, engine)
        todo = files.missing(identities, prompts)
        shards = [todo[start : start + SHARD] for start in range(0, len(todo), SHARD)]
        parts = (
            Shard(tuple(sources[place] for place in places), tuple(prompts[place] for place in places))
            for places in shards
        )
        done = len(sources) - len(todo)
        answers = engine.map(partial(_measured, measures), parts)
        for places, answer in zip(shards, answers, strict=True):
            files.add(answer, [identities[place] for place in places], [prompts[place] for place in places])
            done += len(places)
            if progress:
                progress(done, len(sources))
    return identities


@dataclass(frozen=True, eq=False)
class _Answer:
    """The scores and vectors of a shard, by place in it."""

    scored: NDArray[np.intp]
    scores: Mapping[str, NDArray[np.float64]]
    encoded: NDArray[np.intp]
    vectors: Vectors | None


@dataclass(frozen=True, slots=True)
class _Numbered:
    """An image under the number of its place in a shard."""

    name: str
    source: ImageSource

    def load(self) -> tuple[bytes, NDArray[np.uint8] | bytes]:
        """The content of the image and its hash."""
        return self.source.load()


def _measured(measures: Measures, shard: Shard) -> _Answer:
    """Score and encode one shard, on one core."""
    numbered = [_Numbered(str(place), source) for place, source in enumerate(shard.sources)]
    scores = score(
        numbered,
        shard.prompts,
        loaded_scorers(measures.judges),
        prompted=measures.prompted,
        encoders=[] if measures.encoder is None else [load_once(measures.encoder)],
        background=measures.judges.background,
        skip_broken=True,
        workers=1,
    )
    features = scores.features[0] if scores.features else None
    return _Answer(
        _places(scores.names),
        scores.values,
        _places(features.names if features else ()),
        np.asarray(features.vectors) if features else None,
    )


def _places(names: Sequence[str]) -> NDArray[np.intp]:
    return np.array([int(name) for name in names], np.intp)


@dataclass(frozen=True, slots=True)
class _Files:
    """The open files, and what they lack."""

    scores: Mapping[str, ScoreFile]
    prompted: frozenset[str]
    vectors: FeatureFile | None

    def missing(self, identities: Sequence[bytes | str], prompts: Sequence[str | None]) -> list[int]:
        """Return the places of images that lack a score or a vector; of equal images and prompts, the first."""
        first: dict[tuple[bytes, str | None], int] = {}
        for place, (identity, prompt) in enumerate(zip(identities, prompts, strict=True)):
            if isinstance(identity, bytes) and self._lacks(identity, prompt):
                first.setdefault((identity, prompt), place)
        return list(first.values())

    def add(self, answer: _Answer, identities: Sequence[bytes | str], prompts: Sequence[str | None]) -> None:
        """Write the answer of a shard whose images have these hashes and prompts."""
        hashes = [identity if isinstance(identity, bytes) else b"" for identity in identities]
        keys = [score_key(hashes[place], prompts[place]) for place in answer.scored]
        for name, file in self.scores.items():
            new = [row for row, key in enumerate(keys) if file.get(key) is None]
            file.append([keys[row] for row in new], answer.scores[name][new])
        if self.vectors is not None and answer.vectors is not None:
            fresh = {
                hashes[place]: row
                for row, place in reversed(list(enumerate(answer.encoded)))
                if hashes[place] not in self.vectors.rows
            }
            rows = sorted(fresh.items(), key=lambda item: item[1])
            if rows:
                self.vectors.append([identity for identity, _ in rows], answer.vectors[[row for _, row in rows]])

    def _lacks(self, identity: bytes, prompt: str | None) -> bool:
        if self.vectors is not None and identity not in self.vectors.rows:
            return True
        key = score_key(identity, prompt)
        usable = (file for name, file in self.scores.items() if prompt or name not in self.prompted)
        return any(file.get(key) is None for file in usable)


def _open_files(measures: Measures, features: Path, cache: Path | None, opened: ExitStack) -> _Files:
    scores: dict[str, ScoreFile] = {}
    if cache is not None:
        for scorer in sorted(loaded_scorers(measures.judges), key=lambda scorer: scorer.name):
            file = open_scores(cache, scorer.identity, measures.judges.background)
            scores[scorer.name] = opened.enter_context(file)
    vectors = None
    if measures.encoder is not None:
        encoder = load_once(measures.encoder)
        vectors = opened.enter_context(open_features(features, encoder, measures.encoder.background))
    return _Files(scores, frozenset(measures.prompted), vectors)
