"""Rich feedback on images in shards, by an engine: every worker loads the models once."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path

from beholder.engines.engine import Engine
from beholder.images.background import DEFAULT_BACKGROUND
from beholder.images.sources import ImageSource
from beholder.scorers.rich.explain import (
    BATCH,
    ExplainedPart,
    Explanations,
    Progress,
    explain_part,
    explanations_of,
)
from beholder.scorers.rich.members import Member, load_members
from beholder.scorers.rich.rater_feedback import RaterFeedback, open_rater_feedback

SHARD = 8 * BATCH
"""Images of a shard: whole batches, so that a network sees the same batches as without shards."""


@dataclass(frozen=True, slots=True)
class NamedModels:
    """Models by their folders, and the study whose raters' feedback is looked up."""

    folders: tuple[Path, ...]
    device: str | None = None
    study: Path | None = None
    background: str = DEFAULT_BACKGROUND


def explain_in_shards(
    engine: Engine,
    sources: Sequence[ImageSource],
    prompts: Sequence[str | None],
    models: NamedModels,
    *,
    skip_broken: bool = False,
    progress: Progress | None = None,
) -> Explanations:
    """Return what :func:`beholder.scorers.rich.explain.explain` returns."""
    if len(sources) != len(prompts):
        raise ValueError(f"{len(sources)} images need as many prompts, or None; found {len(prompts)}")
    starts = range(0, len(sources), SHARD)
    shards = ((tuple(sources[start : start + SHARD]), prompts[start : start + SHARD]) for start in starts)
    parts: list[ExplainedPart] = []
    for start, part in zip(starts, engine.map(partial(_explained, models), shards), strict=True):
        parts.append(part)
        if progress:
            progress(min(start + SHARD, len(sources)), len(sources))
    return explanations_of(parts, skip_broken=skip_broken)


def _explained(models: NamedModels, shard: tuple[Sequence[ImageSource], Sequence[str | None]]) -> ExplainedPart:
    """Explain one shard, on one core."""
    members, rater_feedback = _loaded(models)
    return explain_part(*shard, members, rater_feedback=rater_feedback, background=models.background, workers=1)


@lru_cache(maxsize=1)
def _loaded(models: NamedModels) -> tuple[list[Member], RaterFeedback | None]:
    rater_feedback = None if models.study is None else open_rater_feedback(models.study)
    return load_members(models.folders, models.device), rater_feedback
