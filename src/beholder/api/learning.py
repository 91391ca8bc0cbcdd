"""Training in Python: ``beholder.learn(study, recipe=…)``."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, cast

from beholder.api.rounds.training_rounds import read_attack_rounds
from beholder.api.stages import load_stage
from beholder.api.study_folder import StudyFolder, folder_of
from beholder.errors import UserError
from beholder.learn.examples import read_labelled_images
from beholder.learn.recipe import Recipe, load_recipe
from beholder.learn.trackers import installed_trackers
from beholder.stats.frames.result_table import ResultTable, frame_of
from beholder.study.study import load_study
from beholder.tables.stages import TRAIN
from beholder.tables.store import Store

if TYPE_CHECKING:
    from beholder.learn.job import LearnOutcome

NEEDED = ("accelerate", "safetensors", "torch", "transformers")
"""Packages without which nothing is trained."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Learned(ResultTable):
    """How well a trained model agrees with raters on images that it was not trained on: one row per statistic."""

    model: Path
    """Its folder, which ``beholder.score`` takes as a scorer."""
    skipped: bool
    """Whether it had been trained before, and nothing has changed since."""


def learn(
    study: str | Path | StudyFolder,
    *,
    recipe: str | Path,
    name: str | None = None,
    split: str | None = None,
    folds: int | None = None,
    settings: Mapping[str, object] | None = None,
    trackers: Sequence[str] = (),
    test_on: Sequence[str | Path | StudyFolder] = (),
    transfer: bool = False,
    rounds: str | None = None,
    resume: bool = False,
    force: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Learned:
    """Train a model to predict raters' judgements, and test it on held-out images, as ``beholder learn`` does.

    Args:
        study: The study, or its folder; it must have labels.
        recipe: The name of a recipe, such as ``tiny-two-tower``, or a TOML file of your own.
        name: Of the model: its folder below ``models/``. The recipe's name by default.
        split: What is never shared between training, validation and test: ``prompt``, ``generator`` or ``both``.
        folds: Parts that are held out in turn; 1: one split.
        settings: Changes to the recipe, such as ``{"training.steps": 500}``.
        trackers: Where the training is logged as well: ``tensorboard``, ``wandb``, ``mlflow``.
        test_on: Other studies with labels: the card of the model says how well it agrees with raters on these.
        transfer: Train models without each generator in turn as well, for rows of unseen generators on the card.
        rounds: Adversarial rounds to train on as well: ``all``, a number, or a span such as ``1-3``.
        resume: Continue training that was interrupted.
        force: Start again, even if it was done or started.
        progress: Called with the steps done, and all steps.

    Returns:
        The figures with confidence intervals over prompts, generator-mean baseline and human ceiling; its
        ``model`` is the folder of the trained model.

    Example:
        >>> import beholder as bh
        >>> learned = bh.learn("my-study", recipe="tiny-two-tower", settings={"training.steps": 2})
        >>> learned.model.as_posix(), learned["statistic"][0]
        ('my-study/models/tiny-two-tower', 'pair-accuracy-micro')
    """
    folder = folder_of(study)
    outcome = train_model(
        folder,
        load_changed_recipe(str(recipe), settings or {}, split_changes(split, folds, trackers)),
        name=name,
        resume=resume,
        force=force,
        test_on=[folder_of(other) for other in test_on],
        transfer=transfer,
        rounds=rounds,
        progress=progress,
    )
    columns: dict[str, list[object]] = {
        column: [getattr(figure, field) for figure in outcome.figures]
        for column, field in {
            **{field: field for field in ("aspect", "statistic", "value", "low", "high")},
            **{"raters_low": "people_low", "raters_high": "people_high"},
            **{"baseline": "floor", "human_ceiling": "ceiling"},
            **{field: field for field in ("items", "prompts", "ties")},
        }.items()
    }
    return Learned(
        title=f"{outcome.folder.name} on held-out images",
        rows=frame_of(columns),
        method="over prompts",
        estimate="value",
        keys=2,
        level=load_study(folder).analysis.level,
        model=outcome.folder,
        skipped=outcome.skipped,
        notes=(f"model: {outcome.folder}",),
    )


def load_changed_recipe(recipe: str, settings: Mapping[str, object], changes: Sequence[str] = ()) -> Recipe:
    """Load a recipe by its name or file, with settings changed: by their keys, or as ``KEY=VALUE``."""
    changed = [f"{key}={json.dumps(setting)}" for key, setting in settings.items()]
    return load_recipe(recipe, [*changed, *changes])


def split_changes(split: str | None, folds: int | None, trackers: Sequence[str]) -> list[str]:
    """Return changes to a recipe for settings that have an argument of their own."""
    changes = [f"split.by={split}"] if split else []
    changes += [f"split.folds={folds}"] if folds else []
    return changes + ([f"training.trackers={json.dumps(list(trackers))}"] if trackers else [])


def train_model(
    folder: Path,
    recipe: Recipe,
    *,
    name: str | None = None,
    resume: bool = False,
    force: bool = False,
    test_on: Sequence[Path] = (),
    transfer: bool = False,
    rounds: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> "LearnOutcome":
    """Train by a recipe; what is missing is reported before torch is imported.

    With ``rounds`` the model is named after the last of them, unless it has a name.
    """
    check_training(folder, recipe)
    attacks = None if rounds is None else read_attack_rounds(folder, rounds)
    if attacks is not None and name is None:
        name = f"{recipe.name}-round-{max(attacks.trained_on)}"
    run = cast("Callable[..., LearnOutcome]", load_stage("learn").run)
    return run(
        folder,
        recipe,
        name=name,
        force=force,
        resume=resume,
        test_on=test_on,
        transfer=transfer,
        rounds=attacks,
        progress=progress,
    )


def check_training(folder: Path, recipe: Recipe) -> None:
    """Raise an error if a package that training needs, or a label, is missing; torch is not imported."""
    missing = [package for package in NEEDED if find_spec(package) is None]
    if missing:
        raise UserError(f'learning needs {", ".join(missing)}: pip install "beholder[models]"')
    installed_trackers(recipe.training.trackers)
    if recipe.data.labels != "rich":
        read_labelled_images(Store(folder).within(TRAIN), recipe.data)
