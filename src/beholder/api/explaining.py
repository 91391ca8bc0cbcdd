"""Rich feedback in Python: ``beholder.explain(images=…, prompts=…, model=…)``."""

from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

from beholder.api.inputs import Images, Prompts, prompts_of, sources_of
from beholder.api.study_folder import StudyFolder, folder_of
from beholder.engines.engine import Engine
from beholder.images.background import DEFAULT_BACKGROUND, checked_background
from beholder.images.sources import ImageSource
from beholder.scorers.rich.explain import Explanations, Progress
from beholder.scorers.rich.explain import explain as explain_all
from beholder.scorers.rich.in_shards import NamedModels, explain_in_shards
from beholder.scorers.rich.members import Member, load_members
from beholder.scorers.rich.rater_feedback import open_rater_feedback
from beholder.study.study import load_study

Models: TypeAlias = str | Path | Member | Sequence[str | Path | Member]
"""Folders of trained models, models that were loaded, or several of these, whose outputs are averaged."""


def explain(
    *,
    images: Images,
    prompts: Prompts = None,
    model: Models,
    study: str | Path | StudyFolder | None = None,
    device: str | None = None,
    background: str | None = None,
    skip_broken: bool = False,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Explanations:
    """Predict rich feedback on images: scores with confidence intervals, heatmaps, and misaligned keywords.

    Args:
        images: Files, folders, globs, manifests, tar or Parquet files, arrays, images in memory, or several of
            these.
        prompts: One for all images; one for each, in order; or by the name of the image. Left out with a study,
            which has them.
        model: Folders of trained models of rich feedback, or loaded ones; the outputs of several are averaged.
        study: Whose raters judged some of the images: their feedback is added.
        device: Where networks run: cpu, cuda, mps; the fastest by default.
        background: What transparent images are flattened on, as #rrggbb; that of the study by default.
        skip_broken: Leave broken images out, instead of an error that lists them.
        workers: Threads that decode images; all cores by default.
        progress: Called with the number of images done, and of all images.

    Returns:
        The feedback on each image, of the model and of raters; its table has one row per image and aspect.

    Example:
        >>> import beholder as bh
        >>> explanations = bh.explain(images="pictures/ember/000.png", prompts="a red circle", model="rich-model")
        >>> explanations.to_frame().columns
        ['image', 'by', 'aspect', 'score', 'low', 'high', 'misaligned']
    """
    study_folder = None if study is None else folder_of(study)
    background = background_of(study_folder, background)
    several = [model] if isinstance(model, str | Path | Member) else list(model)
    loaded = load_members([Path(entry) for entry in several if not isinstance(entry, Member)], device)
    members = [entry for entry in several if isinstance(entry, Member)] + loaded
    pictures = sources_of(images, background)
    return explain_by(
        members,
        pictures,
        prompts_of(prompts, pictures),
        study=study_folder,
        background=background,
        skip_broken=skip_broken,
        workers=workers,
        progress=progress,
    )


def explain_by(
    members: Sequence[Member],
    pictures: Sequence[ImageSource],
    prompts: Sequence[str | None],
    *,
    study: Path | None = None,
    background: str | None = None,
    skip_broken: bool = False,
    workers: int | None = None,
    progress: Progress | None = None,
    engine: Engine | None = None,
    device: str | None = None,
    keep: Path | None = None,
) -> Explanations:
    """Predict the same by loaded models, for images that were looked up.

    An ``engine`` loads the models itself, in its workers, on their ``device``; feedback on shards that are done is
    kept in the folder ``keep``, if one is given.
    """
    if engine is not None:
        folders = tuple(Path(member.name).resolve() for member in members)
        models = NamedModels(folders, device, study and study.resolve(), background_of(study, background))
        return explain_in_shards(
            engine, pictures, prompts, models, folder=keep, skip_broken=skip_broken, progress=progress
        )
    return explain_all(
        pictures,
        prompts,
        members,
        rater_feedback=None if study is None else open_rater_feedback(study),
        background=background_of(study, background),
        skip_broken=skip_broken,
        workers=workers,
        progress=progress,
    )


def background_of(study: Path | None, background: str | None) -> str:
    """Return what transparent images are flattened on: the given colour, that of the study, or middle grey."""
    if background is not None:
        return checked_background(background)
    return DEFAULT_BACKGROUND if study is None else load_study(study).images.background
