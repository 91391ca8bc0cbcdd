"""Scores of images in shards, by an engine: equal to the last bit to those of all images at once."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from beholder.engines.engine import Engine
from beholder.engines.kept import Arrays, map_kept
from beholder.errors import ImageError
from beholder.images.background import DEFAULT_BACKGROUND
from beholder.images.reading import BrokenImage
from beholder.images.sources import ImageSource
from beholder.models.encoders.encoder import BATCH
from beholder.scorers.catalogue import load_scorer
from beholder.scorers.score import Progress, Scores, score
from beholder.scorers.scorer import Scorer

SHARD = 8 * BATCH
"""Images of a shard: whole batches, so that a network sees the same batches as without shards."""


@dataclass(frozen=True, slots=True)
class Judges:
    """Scorers by name: every worker loads them once."""

    scorers: tuple[str, ...]
    weights: tuple[tuple[str, str], ...] = ()
    device: str | None = None
    background: str = DEFAULT_BACKGROUND


@dataclass(frozen=True, slots=True)
class Shard:
    """Some images and their prompts."""

    sources: tuple[ImageSource, ...]
    prompts: tuple[str | None, ...]


def score_in_shards(
    engine: Engine,
    sources: Sequence[ImageSource],
    prompts: Sequence[str | None],
    judges: Judges,
    *,
    folder: Path | None = None,
    skip_broken: bool = False,
    progress: Progress | None = None,
) -> Scores:
    """Return the scores of all images; answers of shards are kept in ``folder``, where one is given.

    Besides the sources, no more stays in memory than numbers: names are those of the sources.
    """
    parts: list[Arrays] = []
    names: list[str] = []
    for shard, answer in answers_of(engine, sources, prompts, judges, folder=folder, progress=progress):
        own = {source.name: source.name for source in shard.sources}
        names += [own[name] for name in answer[NAMES].tolist()]
        parts.append({name: array for name, array in answer.items() if name != NAMES})
    broken = broken_in(parts)
    if broken and not skip_broken:
        raise ImageError("images", [f"{image.name}: {image.reason}" for image in broken])
    together = {name: np.concatenate([part[name] for part in parts]) for name in (PROMPTED, *judges.scorers)}
    return Scores(
        tuple(names),
        {name: np.asarray(together[name], np.float64) for name in judges.scorers},
        broken,
        np.asarray(together[PROMPTED], np.bool_),
    )


NAMES, PROMPTED, BROKEN, REASONS = "names of images", "has a prompt", "broken", "reasons"
OTHERS = (NAMES, PROMPTED, BROKEN, REASONS)
"""The arrays of an answer besides those of the scorers."""


def answers_of(
    engine: Engine,
    sources: Sequence[ImageSource],
    prompts: Sequence[str | None],
    judges: Judges,
    *,
    folder: Path | None = None,
    progress: Progress | None = None,
) -> Iterator[tuple[Shard, Arrays]]:
    """Yield every shard in order with its answer: scores by scorer, and what was broken."""
    shards = [
        Shard(tuple(sources[start : start + SHARD]), tuple(prompts[start : start + SHARD]))
        for start in range(0, len(sources), SHARD)
    ]
    keys = [_key(judges, shard) for shard in shards] if folder is not None else [""] * len(shards)
    done = 0
    for shard, answer in zip(shards, map_kept(engine, partial(judge, judges), shards, keys, folder), strict=True):
        done += len(shard.sources)
        if progress:
            progress(done, len(sources))
        yield shard, answer


def judge(judges: Judges, shard: Shard) -> Arrays:
    """Score one shard, on one core."""
    scores = score(
        shard.sources,
        shard.prompts,
        loaded_scorers(judges),
        background=judges.background,
        skip_broken=True,
        workers=1,
    )
    arrays: dict[str, NDArray[np.generic]] = dict(scores.values)
    return arrays | {
        NAMES: np.array(scores.names, np.str_),
        PROMPTED: scores.prompted,
        BROKEN: np.array([image.name for image in scores.broken], np.str_),
        REASONS: np.array([image.reason for image in scores.broken], np.str_),
    }


def broken_in(answers: Sequence[Arrays]) -> tuple[BrokenImage, ...]:
    """Return the broken images of all shards."""
    return tuple(
        BrokenImage(str(name), str(reason))
        for answer in answers
        for name, reason in zip(answer[BROKEN].tolist(), answer[REASONS].tolist(), strict=True)
    )


@lru_cache(maxsize=1)
def loaded_scorers(judges: Judges) -> list[Scorer]:
    """Return the scorers; those that were loaded last stay in memory."""
    weights: Mapping[str, str] = dict(judges.weights)
    return [load_scorer(name, weights, judges.device) for name in judges.scorers]


def _key(judges: Judges, shard: Shard) -> str:
    """Return all that an answer depends on: scorers with their weights, and the images' bytes."""
    identities = [scorer.identity for scorer in loaded_scorers(judges)]
    hashes = [source.load()[0].hex() for source in shard.sources]
    names = [source.name for source in shard.sources]
    return repr((identities, judges.background, names, hashes, shard.prompts))
