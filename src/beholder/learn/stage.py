"""The learn stage: from labels to a trained model, tested on held-out images."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import torch

from beholder.learn.card import TrainingData, write_card
from beholder.learn.data_loader import DataLoader, ImageCache
from beholder.learn.devices import is_main_process, process_count
from beholder.learn.evaluate import Figure, evaluate, tune_tie_threshold
from beholder.learn.examples import (
    Example,
    LabelledImages,
    Scale,
    build_examples_by_role,
    label_scales,
    read_labelled_images,
    read_votes,
)
from beholder.learn.job import FoldOutcome, Job, LearnOutcome, fingerprint_of, learn
from beholder.learn.label_errors import find_label_errors
from beholder.learn.other_data import (
    OtherData,
    measure_elsewhere,
    read_other_data,
    refuse_for_rich_feedback,
    trained_seconds,
)
from beholder.learn.predict import calibrate, predict_images, validate
from beholder.learn.recipe import Recipe
from beholder.learn.rich.stage import learn_rich
from beholder.learn.splits import Role, Split
from beholder.learn.trackers import installed_trackers
from beholder.learn.train import Progress, parts_per_process
from beholder.models.architectures import IMAGE_ALONE, architecture
from beholder.models.trainable import Batch, Trainable
from beholder.models.weights.checkpoint import Record, load_checkpoint, save_checkpoint
from beholder.study.study import load_study
from beholder.tables.stages import STAGES, TRAIN
from beholder.tables.store import FEATURES_ROOM, Store

STAGE = STAGES["learn"]


def run(
    folder: Path,
    recipe: Recipe | None = None,
    *,
    name: str | None = None,
    force: bool = False,
    resume: bool = False,
    test_on: Sequence[Path] = (),
    progress: Progress | None = None,
) -> LearnOutcome:
    """Train the model of a recipe on the labels of a study, and test it on the held-out images.

    Writes ``models/NAME`` (one checkpoint, or one per fold) and the tables ``training``, ``predictions`` of the
    held-out images, and ``label_errors``. Training that was interrupted continues with ``resume``; ``force``
    starts again. The card of the model gets a row for each other study in ``test_on``. Without a recipe nothing is
    trained: only ``label_errors`` is brought up to date.
    """
    if recipe is None:
        errors_outcome = find_label_errors(folder, force=force)
        return LearnOutcome(
            errors_outcome.stage, errors_outcome.skipped, errors_outcome.rows, errors_outcome.seconds
        )
    installed_trackers(recipe.training.trackers)  # before any work
    if recipe.data.labels == "rich":
        refuse_for_rich_feedback(test_on)
        outcome = learn_rich(folder, recipe, name=name, force=force, resume=resume, progress=progress)
    else:
        task = _LabelTask(
            recipe,
            read_labelled_images(Store(folder).within(TRAIN), recipe.data),
            load_study(folder).images.background,
        )
        others = read_other_data(test_on, recipe, task.labelled)
        outcome = learn(task, folder, recipe, name=name, force=force, resume=resume, progress=progress)
        if others and is_main_process():
            _add_rows(folder, task, outcome, others)
    if not is_main_process():
        return outcome
    errors_outcome = find_label_errors(folder)
    return replace(
        outcome, skipped=outcome.skipped and errors_outcome.skipped, rows={**outcome.rows, **errors_outcome.rows}
    )


def _add_rows(folder: Path, task: "_LabelTask", outcome: LearnOutcome, others: Sequence[OtherData]) -> None:
    """Test a trained model on other studies, and write its card again."""
    measure_elsewhere(outcome.folder, others)
    sessions = Store(folder).within(TRAIN).read_or_empty("sessions")
    seconds = trained_seconds(outcome.folder)
    study = load_study(folder)
    write_card(outcome.folder, task.recipe, study, task.training_data, outcome.figures, seconds, sessions)


@dataclass(frozen=True)
class _LabelTask:
    """Training on pairs, ratings or soft labels; figures need PickScore's tie threshold of each fold."""

    recipe: Recipe
    labelled: LabelledImages
    background: str

    @cached_property
    def image_cache(self) -> ImageCache:
        """The decoded images, or their features."""
        return ImageCache(self.labelled.paths, self.background)

    @property
    def training_data(self) -> TrainingData:
        """The labels and images that the model is trained on."""
        labels = f"{self.labelled.labels.height:,} labels ({self.recipe.data.labels})"
        prompts_option = "" if self.recipe.architecture in IMAGE_ALONE else " --prompts prompts.csv"
        usage = f"beholder score IMAGES --scorer FOLDER{prompts_option}"
        return TrainingData(labels, self.labelled.items, self.labelled.max_raters, usage)

    @property
    def fingerprint(self) -> str:
        """Hash of the recipe, the labels and the images."""
        labels = self.labelled.labels.select("image", "other", "aspect", "value", "answers").write_csv().encode()
        return fingerprint_of(self.recipe, self.background, self.labelled.items, [labels])

    def run_fold(self, job: Job, split: Split, progress: Progress | None) -> FoldOutcome[float]:
        """Train on one split, unless that was done, and score the held-out images."""
        examples = build_examples_by_role(self.labelled, self.recipe.data, split)
        if job.is_trained(split):
            model, record = load_checkpoint(job.checkpoint_folder(split))
        else:
            model, record = self._train(job, split, examples, progress)
        self.image_cache.prepare_all(model, job.store.folder / FEATURES_ROOM)
        batch_size = max(self.recipe.training.batch, 16)
        scales = {aspect: Scale(*numbers) for aspect, numbers in record.scales.items()}
        test_scores, validation_scores = (
            predict_images(
                model, self.image_cache, _images_with_prompts(self.labelled, split, role), scales, batch_size
            )
            for role in ("test", "validation")
        )
        tie_threshold = (
            tune_tie_threshold(self.labelled, validation_scores) if self.recipe.data.labels == "pairs" else 0.0
        )
        return FoldOutcome(split.fold, test_scores, record, tie_threshold)

    def evaluate(self, job: Job, folds: Sequence[FoldOutcome[float]]) -> list[Figure]:
        """Return figures over the images of all folds, each scored by the model that was not trained on it."""
        predictions: dict[str, dict[str, float]] = {}
        for fold in folds:
            for aspect, scores in fold.scores.items():
                predictions.setdefault(aspect, {}).update(scores)
        votes = read_votes(job.store, job.study, self.recipe.data.question)
        threshold = sum(fold.figure_input for fold in folds) / len(folds)
        return evaluate(
            self.labelled, self.recipe.data, predictions, votes, job.evaluation_settings, threshold=threshold
        )

    def _train(
        self, job: Job, split: Split, examples: dict[Role, list[Example]], progress: Progress | None
    ) -> tuple[Trainable[Batch], Record]:
        training, aspects = self.recipe.training, self.labelled.aspects
        prompts = sorted({example.prompt for example in examples["train"]})
        maker = architecture(self.recipe.architecture)
        torch.manual_seed(training.seed)
        settings = self.recipe.model_settings_of(job.store.folder, split.fold)
        model = maker.build(maker.configure(settings, prompts, aspects), fresh=True)
        scales = label_scales(examples["train"], self.recipe.data)
        self.image_cache.prepare_all(model, job.store.folder / FEATURES_ROOM)
        parts = process_count() * parts_per_process(training)
        loader = DataLoader(
            model, self.image_cache, examples["train"], aspects, training.batch, parts, training.seed, scales
        )
        validation_examples = examples["validation"]
        about = job.train(
            split,
            model,
            loader,
            lambda: validate(
                model,
                self.image_cache,
                validation_examples,
                self.labelled,
                self.recipe.data,
                scales,
                training.batch,
            ),
            {role: len(of_role) for role, of_role in examples.items()},
            progress,
        )
        calibrate(model, self.image_cache, validation_examples, aspects, training.batch)
        mean_and_deviation = {aspect: (scale.mean, scale.standard_deviation) for aspect, scale in scales.items()}
        record = Record(self.recipe.architecture, model.config, aspects, mean_and_deviation, about)
        if is_main_process():
            save_checkpoint(job.checkpoint_folder(split), model, record)
        return model, record


def _images_with_prompts(labelled: LabelledImages, split: Split, role: Role) -> list[tuple[str, str]]:
    """Return image and prompt of one role of the split."""
    images_of_role = set(split.of(role))
    return [(item.image, item.prompt or "") for item in labelled.items if item.image in images_of_role]
