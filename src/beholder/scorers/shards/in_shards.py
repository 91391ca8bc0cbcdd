"""Scores of images in shards, by an engine: equal to the last bit to those of all images at once."""

from array import array
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
from beholder.images.lazy import Mapped
from beholder.images.reading import BrokenImage
from beholder.images.sources import ImageSource
from beholder.models.encoders.encoder import BATCH
from beholder.models.encoders.identify import identify_all
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

    Besides the sources, no more stays in memory than the numbers, and what is broken: names are looked up in the
    sources when they are needed.
    """
    columns = {PROMPTED: np.empty(len(sources), np.bool_)}
    values = {name: np.empty(len(sources), np.float64) for name in judges.scorers}
    lacking, done, broken = array("Q"), 0, list[BrokenImage]()
    answers = answers_of(engine, sources, prompts, judges, folder=folder, progress=progress)
    for number, (shard, answer) in enumerate(answers):
        here = slice(done, done + len(answer[PROMPTED]))
        for name, column in (columns | values).items():
            column[here] = answer[name]  # a copy: the arrays of an answer hold on to all of it
        lacking.extend(number * SHARD + place for place in _lacking(shard, answer[NAMES].tolist()))
        broken += broken_in(answer)
        done = here.stop
    if broken and not skip_broken:
        raise ImageError("images", [f"{image.name}: {image.reason}" for image in broken])
    places: Sequence[int] = range(len(sources))
    if lacking:
        absent = set(lacking)
        places = array("Q", (place for place in places if place not in absent))
    return Scores(
        Mapped(lambda place: sources[place].name, places),
        {name: column[:done] for name, column in values.items()},
        tuple(broken),
        columns[PROMPTED][:done],
    )


def _lacking(shard: Shard, names: Sequence[str]) -> Iterator[int]:
    """Yield the places in the shard of its images that are not among these names, which are in its order."""
    rest = iter(names)
    expected = next(rest, None)
    for place, source in enumerate(shard.sources):
        if source.name == expected:
            expected = next(rest, None)
        else:
            yield place


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

    def shard_from(start: int) -> Shard:
        return Shard(tuple(sources[start : start + SHARD]), tuple(prompts[start : start + SHARD]))

    shards = Mapped(shard_from, range(0, len(sources), SHARD))
    keys = partial(_keys, engine, sources, prompts, judges)
    answers = map_kept(engine, partial(judge, judges), shards, keys, folder)
    done = 0
    for shard, answer in zip(shards, answers, strict=True):
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


def broken_in(answer: Arrays) -> list[BrokenImage]:
    """Return the broken images of a shard."""
    pairs = zip(answer[BROKEN].tolist(), answer[REASONS].tolist(), strict=True)
    return [BrokenImage(str(name), str(reason)) for name, reason in pairs]


@lru_cache(maxsize=1)
def loaded_scorers(judges: Judges) -> list[Scorer]:
    """Return the scorers; those that were loaded last stay in memory."""
    weights: Mapping[str, str] = dict(judges.weights)
    return [load_scorer(name, weights, judges.device) for name in judges.scorers]


def _keys(
    engine: Engine, sources: Sequence[ImageSource], prompts: Sequence[str | None], judges: Judges
) -> Iterator[str]:
    """Yield all that the answer of each shard depends on: scorers with their weights, and the images' bytes."""
    scorers = [scorer.identity for scorer in loaded_scorers(judges)]
    for shard in image_keys(engine, sources, prompts, SHARD):
        yield repr((scorers, judges.background, shard))


def image_keys(
    engine: Engine, sources: Sequence[ImageSource], prompts: Sequence[str | None], size: int
) -> Iterator[str]:
    """Yield the names, hashes and prompts of the images of each shard of that size; workers hash them."""
    identities = identify_all(sources, 1, None, engine)
    for start in range(0, len(sources), size):
        here = slice(start, start + size)
        names = [source.name for source in sources[here]]
        hashes = [
            identity.hex() if isinstance(identity, bytes) else f"! {identity}" for identity in identities[here]
        ]
        yield repr((names, hashes, list(prompts[here])))
