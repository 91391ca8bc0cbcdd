"""The published preference models as scorers: HPS v2 and v2.1, PickScore, ImageReward.

A model is loaded once for a process: asked for again, with files that have not changed, it is at hand.
"""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from beholder.measure.scorers.scorer import Scorer, Shown
from beholder.models.encoders.torch_network import share_cores
from beholder.models.preference.published import load_published
from beholder.models.prompt_scoring import PromptScorer, ScoringNetwork

AT_HAND = 2
"""Models that are kept; some fill four gigabytes."""


def load(name: str, place: str | None, device: str | None) -> Scorer:
    """The scorer with the weights of a folder, file or hub name, or the usual ones."""
    return _loaded(name, place, stamp(place), device)


@lru_cache(maxsize=AT_HAND)
def _loaded(name: str, place: str | None, _: tuple[tuple[str, int, int], ...], device: str | None) -> Scorer:
    judge, weights = load_published(name, place)
    return scorer_of(name, f"{name}@{weights[:12]}", judge, device)


def scorer_of(name: str, identity: str, judge: ScoringNetwork, device: str | None) -> Scorer:
    """A judge as a scorer."""
    judging = PromptScorer(judge, device=device)

    def judged(shown: Sequence[Shown]) -> NDArray[np.float64]:
        prepared = [judging.preprocessing.prepare(one.image) for one in shown if one.image is not None]
        return judging.scores(np.stack(prepared), [one.prompt or "" for one in shown])

    return Scorer(name, identity, judged, judge.scale, share_cores, judging.differentiable)


def stamp(place: str | None) -> tuple[tuple[str, int, int], ...]:
    """Name, size and time of the files at a place, by which a change is seen; nothing of a name on the hub."""
    path = Path(place) if place else None
    files = sorted(path.iterdir()) if path and path.is_dir() else [path] if path and path.is_file() else []
    found = ((file.name, file.stat()) for file in files if file.is_file())
    return tuple((name, one.st_size, one.st_mtime_ns) for name, one in found)
