"""A network of images and prompts as a scorer, and when a cached one is out of date."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from beholder.models.encoders.torch_network import share_cores
from beholder.models.prompt_scoring import PromptScorer, ScoringNetwork
from beholder.scorers.scorer import Scorer, ScorerInput

CACHED_MODELS = 2
"""Size of the cache of models; some take four gigabytes."""


def as_scorer(name: str, identity: str, judge: ScoringNetwork, device: str | None) -> Scorer:
    """Wrap a model of images and prompts as a scorer."""
    judging = PromptScorer(judge, device=device)

    def score(inputs: Sequence[ScorerInput]) -> NDArray[np.float64]:
        images = [scorer_input.image for scorer_input in inputs if scorer_input.image is not None]
        prepared = np.stack([judging.preprocessing.prepare(image) for image in images])
        return judging.scores(prepared, [scorer_input.prompt or "" for scorer_input in inputs])

    return Scorer(name, identity, score, judge.scale, share_cores, judging.differentiable)


def file_stamps(weights: str | None) -> tuple[tuple[str, int, int], ...]:
    """Name, size and modification time of the weights' files, to detect changes; empty for a name on the hub."""
    path = Path(weights) if weights else None
    files = sorted(path.iterdir()) if path and path.is_dir() else [path] if path and path.is_file() else []
    stats = ((file.name, file.stat()) for file in files if file.is_file())
    return tuple((name, stat.st_size, stat.st_mtime_ns) for name, stat in stats)
