"""Scores of many pictures by several scorers: each picture is read and decoded once, on all cores."""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from beholder.errors import ImageError
from beholder.measure.scorers.scorer import Scorer, Shown
from beholder.models.allocator import keep_freed_memory
from beholder.models.decode import UndecodableError, quiet_pillow
from beholder.models.encoders.encode import MAX_WORKERS, Broken
from beholder.models.in_order import batches, in_order
from beholder.models.pictures import Picture, image_of

BATCH = 16

Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores by scorer, in the order of the names; what was skipped is in ``broken``."""

    names: tuple[str, ...]
    values: Mapping[str, NDArray[np.float64]]  # scorer -> (images,)
    broken: tuple[Broken, ...]


def score(
    pictures: Sequence[Picture],
    prompts: Sequence[str | None],
    scorers: Sequence[Scorer],
    *,
    skip_broken: bool = False,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Scores:
    """Score all pictures. Missing and broken ones stop the run, all listed, or are left out if asked for."""
    if len(pictures) != len(prompts):
        raise ValueError(f"{len(pictures)} pictures need as many prompts, or None; found {len(prompts)}")
    workers = max(min(workers or min(os.cpu_count() or 1, MAX_WORKERS), len(pictures)), 1)
    parts: list[dict[str, NDArray[np.float64]]] = []
    names: list[str] = []
    broken: list[Broken] = []

    def judged(portion: list[tuple[Picture, str | None]]) -> tuple[_Part, int]:
        return _judged(portion, scorers), len(portion)

    done, size = 0, min(BATCH, max(-(-len(pictures) // workers), 1))  # a batch for each core, also of few pictures
    keep_freed_memory()
    with quiet_pillow(), ExitStack() as shared:
        for one in scorers:
            shared.enter_context(one.threads(workers))
        for part, count in in_order(judged, batches(zip(pictures, prompts, strict=True), size), workers):
            parts.append(part.values)
            names += part.names
            broken += part.broken
            done += count
            if progress:
                progress(done, len(pictures))
    if broken and not skip_broken:
        raise ImageError(
            "images",
            [f"{one.name}: {one.reason}" for one in broken],
            advice="Mend or remove them, or skip them with --skip-broken.",
        )
    values = {one.name: np.concatenate([np.empty(0), *(part[one.name] for part in parts)]) for one in scorers}
    return Scores(tuple(names), values, tuple(broken))


@dataclass(frozen=True, eq=False)
class _Part:
    names: list[str]
    values: dict[str, NDArray[np.float64]]
    broken: list[Broken]


def _judged(portion: Sequence[tuple[Picture, str | None]], scorers: Sequence[Scorer]) -> _Part:
    names: list[str] = []
    shown: list[Shown] = []
    broken: list[Broken] = []
    for picture, prompt in portion:
        try:
            shown.append(Shown(_decoded(picture), prompt))
            names.append(picture.name)
        except FileNotFoundError:
            broken.append(Broken(picture.name, "no such file"))
        except (UndecodableError, OSError) as error:
            broken.append(Broken(picture.name, str(error)))
    values = {one.name: one.judge(shown) if shown else np.empty(0) for one in scorers}
    return _Part(names, values, broken)


def _decoded(picture: Picture) -> Image.Image:
    return image_of(picture.load()[1])
