"""Rich feedback on images in shards, by an engine: every worker loads the models once."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path

from beholder.engines.engine import Engine
from beholder.engines.kept import Arrays, map_kept
from beholder.images.background import DEFAULT_BACKGROUND
from beholder.images.lazy import Mapped
from beholder.images.sources import ImageFile, ImageSource
from beholder.scorers.rich.explain import (
    BATCH,
    ExplainedPart,
    Explanations,
    Progress,
    explain_part,
    explanations_of,
)
from beholder.scorers.rich.explained_arrays import from_arrays, to_arrays
from beholder.scorers.rich.members import Member, find_warning, load_members
from beholder.scorers.rich.rater_feedback import RaterFeedback, open_rater_feedback
from beholder.scorers.shards.in_shards import Shard, image_keys
from beholder.study.study import FILE_NAME
from beholder.tables.provenance import file_hash

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
    folder: Path | None = None,
    skip_broken: bool = False,
    progress: Progress | None = None,
) -> Explanations:
    """Return what :func:`beholder.scorers.rich.explain.explain` returns.

    Answers of shards are kept in ``folder``, where one is given: a run that was stopped goes on there.
    """
    if len(sources) != len(prompts):
        raise ValueError(f"{len(sources)} images need as many prompts, or None; found {len(prompts)}")

    def shard_from(start: int) -> Shard:
        return Shard(tuple(sources[start : start + SHARD]), tuple(prompts[start : start + SHARD]))

    shards = Mapped(shard_from, range(0, len(sources), SHARD))
    keys = partial(_keys, engine, sources, prompts, models)
    parts, done = list[ExplainedPart](), 0
    answers = map_kept(engine, partial(_explained, models), shards, keys, folder)
    for shard, answer in zip(shards, answers, strict=True):
        parts.append(from_arrays(answer, shard.sources))
        done += len(shard.sources)
        if progress:
            progress(done, len(sources))
    lacking = [reason for folder in models.folders if isinstance(reason := find_warning(folder), str)]
    return explanations_of(parts, skip_broken=skip_broken, lacking=lacking)


def _explained(models: NamedModels, shard: Shard) -> Arrays:
    """Explain one shard, on one core."""
    members, rater_feedback = _loaded(models)
    part = explain_part(
        shard.sources,
        shard.prompts,
        members,
        rater_feedback=rater_feedback,
        background=models.background,
        workers=1,
    )
    return to_arrays(part, shard.sources)


def _keys(
    engine: Engine, sources: Sequence[ImageSource], prompts: Sequence[str | None], models: NamedModels
) -> Iterator[str]:
    """Yield all that the answer of each shard depends on: models, the study's tables, and the images' bytes."""
    members, _ = _loaded(models)
    described = [
        (member.identity, member.warning_identity, sorted(member.half_widths.items())) for member in members
    ]
    study = None
    if models.study is not None:
        files = [models.study / FILE_NAME, *sorted((models.study / "tables").glob("*.parquet"))]
        study = [(file.name, file_hash(file)) for file in files]
    paths = [
        source.path.resolve() if models.study and isinstance(source, ImageFile) else None for source in sources
    ]
    for number, shard in enumerate(image_keys(engine, sources, prompts, SHARD)):
        own = [str(path) for path in paths[number * SHARD : (number + 1) * SHARD]]
        yield repr((described, models.background, study, own, shard))


@lru_cache(maxsize=1)
def _loaded(models: NamedModels) -> tuple[list[Member], RaterFeedback | None]:
    rater_feedback = None if models.study is None else open_rater_feedback(models.study)
    return load_members(models.folders, models.device), rater_feedback
