"""Rich feedback in Python: ``beholder.explain(images=…, prompts=…, model=…)``."""

from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

from beholder.api.scoring import Images, Prompts, pictures_of, prompts_of
from beholder.measure.rich.explain import Explanations, Progress
from beholder.measure.rich.explain import explain as explain_all
from beholder.measure.rich.members import Member, load_members
from beholder.measure.rich.people import open_people
from beholder.models.pictures import Picture

Models: TypeAlias = str | Path | Member | Sequence[str | Path | Member]
"""Folders of trained models, models that were loaded, or several of these, which speak together."""


def explain(
    *,
    images: Images,
    prompts: Prompts = None,
    model: Models,
    study: str | Path | None = None,
    device: str | None = None,
    skip_broken: bool = False,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Explanations:
    """What models of rich feedback say of images: scores with intervals, heatmaps, and the words that were missed.

    With a ``study``, what its people said stands beside it, and prompts may be left out: those of the study are
    taken. Images that are missing or broken stop the run, all listed, unless ``skip_broken``.
    """
    several = [model] if isinstance(model, str | Path | Member) else list(model)
    loaded = load_members([Path(one) for one in several if not isinstance(one, Member)], device)
    members = [one for one in several if isinstance(one, Member)] + loaded
    pictures = pictures_of(images)
    return explain_by(
        members,
        pictures,
        prompts_of(prompts, pictures),
        study=None if study is None else Path(study),
        skip_broken=skip_broken,
        workers=workers,
        progress=progress,
    )


def explain_by(
    members: Sequence[Member],
    pictures: Sequence[Picture],
    prompts: Sequence[str | None],
    *,
    study: Path | None = None,
    skip_broken: bool = False,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Explanations:
    """The same by models that were loaded, of pictures that were looked up."""
    return explain_all(
        pictures,
        prompts,
        members,
        people=None if study is None else open_people(study),
        skip_broken=skip_broken,
        workers=workers,
        progress=progress,
    )
