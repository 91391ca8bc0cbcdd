"""The published preference models as scorers: HPS v2 and v2.1, PickScore, ImageReward.

A model is loaded once per process and cached; it is loaded again when its files have changed.
"""

from functools import lru_cache

from beholder.models.preference.published import load_published
from beholder.scorers.prompt_network import CACHED_MODELS, as_scorer, file_stamps
from beholder.scorers.scorer import Scorer


def load(name: str, weights: str | None, device: str | None) -> Scorer:
    """Load the scorer with the weights of a folder, file or hub name, or the default ones."""
    return _loaded(name, weights, file_stamps(weights), device)


@lru_cache(maxsize=CACHED_MODELS)
def _loaded(name: str, weights: str | None, _: tuple[tuple[str, int, int], ...], device: str | None) -> Scorer:
    judge, weights_hash = load_published(name, weights)
    return as_scorer(name, f"{name}@{weights_hash[:12]}", judge, device)
