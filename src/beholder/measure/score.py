"""Scores and features of many images by several scorers and encoders: each image is read and decoded once."""

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from beholder.images.background import DEFAULT_BACKGROUND
from beholder.images.reading import MAX_WORKERS, BrokenImage, DecodedImage
from beholder.images.sources import ImageSource
from beholder.measure.scorers.scorer import Scorer, ScorerInput, planes_of
from beholder.models.encoders.encode import Features, encode_by
from beholder.models.encoders.encoder import Encoder

Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores by scorer, in the order of the names; what was skipped is in ``broken``."""

    names: tuple[str, ...]
    values: Mapping[str, NDArray[np.float64]]  # scorer -> (images,), nan where a prompt is needed and missing
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
    encoders: Sequence[Encoder] = (),
    features: Path | None = None,
    background: str = DEFAULT_BACKGROUND,
    skip_broken: bool = False,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Scores:
    """Score all images, and encode them with the ``encoders``; vectors are stored in the folder ``features``.

    The scorers named in ``prompted`` leave out images without a prompt. Missing and broken images stop the run
    with a list of all of them, or are left out with ``skip_broken``.
    """
    if len(sources) != len(prompts):
        raise ValueError(f"{len(sources)} images need as many prompts, or None; found {len(prompts)}")
    workers = max(min(workers or min(os.cpu_count() or 1, MAX_WORKERS), len(sources)), 1)
    values = {scorer.name: np.full(len(sources), np.nan) for scorer in scorers}
    scored = np.zeros(len(sources), bool)
    of_planes = {scorer.name: scorer.of_planes for scorer in scorers if scorer.of_planes is not None}
    others = [scorer for scorer in scorers if scorer.of_planes is None]

    def look(images: Sequence[DecodedImage]) -> None:
        """Fill in the scores of one batch; batches do not overlap, so threads do not collide."""
        scored[[decoded.place for decoded in images]] = True
        if of_planes:
            for decoded in images:
                planes = planes_of(ScorerInput(decoded.image))
                for name, statistic in of_planes.items():
                    values[name][decoded.place] = statistic(planes)
        for scorer in others:
            usable = [decoded for decoded in images if prompts[decoded.place] or scorer.name not in prompted]
            if usable:
                inputs = [ScorerInput(decoded.image, prompts[decoded.place]) for decoded in usable]
                values[scorer.name][[decoded.place for decoded in usable]] = scorer.score(inputs)

    with ExitStack() as shared:
        for scorer in scorers:
            shared.enter_context(scorer.threads(workers))
        encoded = encode_by(
            sources,
            encoders,
            observe=look if scorers else None,
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
