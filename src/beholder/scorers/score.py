"""Scores and features of many images by several scorers and encoders: each image is read and decoded once."""

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import cast

import numpy as np
from numpy.typing import NDArray

from beholder.images.background import DEFAULT_BACKGROUND
from beholder.images.decode import quiet_pillow
from beholder.images.formats import UndecodableError
from beholder.images.hash_index import HashIndex
from beholder.images.reading import MAX_WORKERS, BrokenImage, DecodedImage
from beholder.images.sources import ImageSource
from beholder.models.encoders.encode import EncoderKey, Features, encode_by
from beholder.models.encoders.encoder import Encoder, Vectors
from beholder.models.encoders.identify import identify_all
from beholder.scorers.planes import Planes
from beholder.scorers.score_cache import ScoreFile, open_scores, score_key
from beholder.scorers.scorer import Scorer, ScorerInput, planes_of

Progress = Callable[[int, int], None]

FILES = "files.json"
"""Beside the scores: the hashes of the files that were scored."""


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores by scorer, in the order of the names; what was skipped is in ``broken``."""

    names: Sequence[str]
    values: Mapping[str, NDArray[np.float64]]  # scorer -> (images,), nan where it left an image out
    broken: tuple[BrokenImage, ...]
    prompted: NDArray[np.bool_]  # (images,), whether the image has a prompt
    features: tuple[Features, ...] = ()
    """One per encoder."""


def score(
    sources: Sequence[ImageSource],
    prompts: Sequence[str | None],
    scorers: Sequence[Scorer],
    *,
    prompted: Collection[str] = (),
    left_out: Mapping[str, Collection[int]] = MappingProxyType({}),
    encoders: Sequence[Encoder] = (),
    features: Path | None = None,
    cache: Path | None = None,
    background: str = DEFAULT_BACKGROUND,
    skip_broken: bool = False,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Scores:
    """Score all images, and encode them with the ``encoders``; vectors are stored in the folder ``features``.

    Scores are stored in the folder ``cache``, where one is given: an image that a scorer has scored before, with
    the same bytes and prompt, is not scored again, and its score is the same to the last bit. The scorers named in
    ``prompted`` leave out images without a prompt, and ``left_out`` has for a scorer the indices of other images
    that it does not score. Missing and broken images stop the run with a list of all of them, or are left out with
    ``skip_broken``.
    """
    if len(sources) != len(prompts):
        raise ValueError(f"{len(sources)} images need as many prompts, or None; found {len(prompts)}")
    workers = max(min(workers or min(os.cpu_count() or 1, MAX_WORKERS), len(sources)), 1)
    values = {scorer.name: np.full(len(sources), np.nan) for scorer in scorers}
    scored = np.zeros(len(sources), bool)
    of_planes = {scorer.name: scorer.of_planes for scorer in scorers if scorer.of_planes is not None}
    by_vectors = [scorer for scorer in scorers if scorer.of_vectors is not None]
    others = [scorer for scorer in scorers if scorer.of_planes is None and scorer.of_vectors is None]
    usable = {
        scorer.name: np.array([bool(prompt) for prompt in prompts], bool)
        if scorer.name in prompted
        else np.ones(len(sources), bool)
        for scorer in scorers
    }
    for name, places in left_out.items():
        usable[name][list(places)] = False
    stored = _StoredScores(values, prompts, usable)

    def look(images: Sequence[DecodedImage]) -> Mapping[EncoderKey, Mapping[int, Vectors]]:
        """Fill in the scores of one batch; batches do not overlap, so threads do not collide."""
        scored[[decoded.place for decoded in images]] = True
        for decoded in images:
            lacking = [name for name in of_planes if stored.lacks(name, decoded.place)]
            planes = planes_of(ScorerInput(decoded.image)) if lacking else None
            for name in lacking:
                values[name][decoded.place] = of_planes[name](cast("Planes", planes))
        for scorer in others:
            lacking_images = [decoded for decoded in images if stored.lacks(scorer.name, decoded.place)]
            if lacking_images:
                inputs = [ScorerInput(decoded.image, prompts[decoded.place]) for decoded in lacking_images]
                values[scorer.name][[decoded.place for decoded in lacking_images]] = scorer.score(inputs)
        vectors = _shared_vectors(by_vectors, images, stored)
        for scorer in by_vectors:
            of_encoders = [vectors[encoder.identity] for encoder in scorer.encoders]
            complete = set.intersection(*(set(by_place) for by_place in of_encoders))
            places = [place for place in sorted(complete) if stored.lacks(scorer.name, place)]
            if places and scorer.of_vectors:
                rows = np.stack([np.concatenate([part[place] for part in of_encoders]) for place in places])
                values[scorer.name][places] = scorer.of_vectors(rows, [prompts[place] for place in places])
        stored.keep([decoded.place for decoded in images])
        return _vectors_of_parts(by_vectors, vectors)

    with ExitStack() as shared, quiet_pillow():
        identities = None
        if cache is not None and scorers:
            identities = identify_all(sources, workers, HashIndex.load(cache / FILES))
            files = {
                scorer.name: shared.enter_context(open_scores(cache, scorer.identity, background))
                for scorer in sorted(scorers, key=lambda scorer: scorer.name)
            }
            stored.load(files, identities)
            scored[list(stored.complete)] = True
        for scorer in scorers:
            shared.enter_context(scorer.threads(workers))
        encoded = encode_by(
            sources,
            encoders,
            observe=look if scorers else None,
            observed=set(range(len(sources))) - stored.complete,
            identities=identities,
            background=background,
            folder=features,
            skip_broken=skip_broken,
            workers=workers,
            progress=progress,
        )
    names = tuple(source.name for index, source in enumerate(sources) if scored[index])
    by_scorer = {name: column[scored] for name, column in values.items()}
    has_prompt = np.array([bool(prompt) for prompt in prompts], bool)[scored]
    return Scores(names, by_scorer, tuple(encoded.broken.values()), has_prompt, encoded.features)


def _shared_vectors(
    scorers: Sequence[Scorer], images: Sequence[DecodedImage], stored: "_StoredScores"
) -> dict[str, dict[int, Vectors]]:
    """The vectors of a batch by the identity of their encoder, then by index: one forward pass for all scorers.

    An image that cannot be brought to the size of the network has none, and so no score.
    """
    vectors: dict[str, dict[int, Vectors]] = {}
    for encoder in {encoder.identity: encoder for scorer in scorers for encoder in scorer.encoders}.values():
        names = [scorer.name for scorer in scorers if encoder in scorer.encoders]
        places: list[int] = []
        prepared: list[NDArray[np.float32]] = []
        for decoded in images:
            if any(stored.lacks(name, decoded.place) for name in names):
                with suppress(UndecodableError):
                    prepared.append(encoder.preprocessing.prepare(decoded.image))
                    places.append(decoded.place)
        batch = encoder.network(np.stack(prepared)) if prepared else ()
        vectors[encoder.identity] = dict(zip(places, batch, strict=True))
    return vectors


def _vectors_of_parts(
    scorers: Sequence[Scorer], vectors: Mapping[str, Mapping[int, Vectors]]
) -> dict[EncoderKey, dict[int, Vectors]]:
    """Vectors of other encoders that those of a scorer's encoder contain."""
    return {
        (replace(encoder, name=part).identity, encoder.preprocessing.version): {
            place: vector[columns] for place, vector in vectors[encoder.identity].items()
        }
        for scorer in scorers
        for encoder in scorer.encoders
        for part, columns in encoder.parts.items()
    }


class _StoredScores:
    """Which scores are on the disk already, and what is still to be computed."""

    def __init__(
        self,
        values: Mapping[str, NDArray[np.float64]],
        prompts: Sequence[str | None],
        usable: Mapping[str, NDArray[np.bool_]],
    ) -> None:
        self._values, self._prompts, self._usable = values, prompts, usable
        self._files: Mapping[str, ScoreFile] = {}
        self._keys: list[bytes | None] = [None] * len(prompts)
        self._known: dict[str, NDArray[np.bool_]] = {name: np.zeros(len(prompts), bool) for name in values}
        self.complete: set[int] = set()
        """Images that no scorer has to look at."""

    def load(self, files: Mapping[str, ScoreFile], identities: Sequence[bytes | str]) -> None:
        """Fill in all scores that are on the disk."""
        self._files = files
        for place, identity in enumerate(identities):
            if isinstance(identity, bytes):  # a text says why the image cannot be read
                self._keys[place] = score_key(identity, self._prompts[place])
        complete = np.array([key is not None for key in self._keys], bool)
        for name, file in files.items():
            scores = [None if key is None else file.get(key) for key in self._keys]
            known = np.array([score is not None for score in scores], bool)
            self._values[name][known] = [score for score in scores if score is not None]
            self._values[name][~self._usable[name]] = np.nan
            self._known[name] = known
            complete &= known | ~self._usable[name]
        self.complete = set(np.flatnonzero(complete).tolist())

    def lacks(self, name: str, place: int) -> bool:
        """Say whether a scorer has yet to give this image a score: it can, and has not before."""
        return bool(self._usable[name][place] and not self._known[name][place])

    def keep(self, places: Sequence[int]) -> None:
        """Write the new scores of these images."""
        for name, file in self._files.items():
            new = [(place, key) for place in places if self.lacks(name, place) and (key := self._keys[place])]
            if new:
                file.append([key for _, key in new], self._values[name][[place for place, _ in new]])
