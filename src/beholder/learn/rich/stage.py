"""The learn stage for rich feedback: scores, heatmaps and misaligned keywords by one model."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import torch

from beholder.errors import LabelsError, RecipeError
from beholder.learn.card import TrainingData
from beholder.learn.data_loader import ImageCache, steps_per_epoch
from beholder.learn.figures.figure import Figure
from beholder.learn.job import FoldOutcome, Job, LearnOutcome, fingerprint_of, learn
from beholder.learn.processes.devices import is_main_process, process_count
from beholder.learn.recipe import Recipe, Rich
from beholder.learn.rich.data_loader import RichDataLoader, labelled_batches
from beholder.learn.rich.evaluate import rich_figures
from beholder.learn.rich.examples import RichExample, RichLabels, read_rich_labels
from beholder.learn.rich.heatmaps import HeatmapCache
from beholder.learn.rich.predict import (
    predict_and_save,
    predict_feedback,
    predictions_by_image,
    read_saved_predictions,
    validate,
)
from beholder.learn.rich.statistics import RichPrediction
from beholder.learn.rich.word_exchange import find_word_exchanges
from beholder.learn.shift import write_shift
from beholder.learn.splits import Role, Split
from beholder.learn.train import Progress, parts_per_process
from beholder.models.architectures import rich_architecture
from beholder.models.rich_feedback.augment import CHANCES
from beholder.models.rich_feedback.grounded.model import GroundedModel
from beholder.models.rich_feedback.model import RichFeedbackModel
from beholder.models.rich_feedback.trainable import Outputs, RichCalibratable, RichTrainable
from beholder.models.trainable import UsesEncoders
from beholder.models.weights.checkpoint import Record, load_rich_checkpoint, save_checkpoint
from beholder.stats.prediction.conformal import conformal_width
from beholder.study.study import load_study
from beholder.tables.provenance import Plain
from beholder.tables.stages import TRAIN
from beholder.tables.store import FEATURES_ROOM, Store

ROLES: tuple[Role, ...] = ("train", "validation", "test")
LEVEL = 0.95
"""Level of the prediction intervals of scores."""

Predictions = Mapping[str, RichPrediction]
"""Image -> predicted feedback."""


def learn_rich(
    folder: Path,
    recipe: Recipe,
    *,
    name: str | None = None,
    force: bool = False,
    resume: bool = False,
    progress: Progress | None = None,
    renew_card: bool = False,
) -> LearnOutcome:
    """Train a model on the rich feedback of a study, and test it on the held-out images.

    As :func:`beholder.learn.stage.run`; its predictions of the held-out images are saved next to its weights.
    """
    rich_labels = read_rich_labels(Store(folder).within(TRAIN), recipe.data.question)
    task = RichFeedbackTask(recipe, rich_labels, load_study(folder).images.background)
    return learn(
        task, folder, recipe, name=name, force=force, resume=resume, progress=progress, renew_card=renew_card
    )


@dataclass(frozen=True)
class RichFeedbackTask:
    """Training on rich feedback; figures need all predictions of each fold."""

    recipe: Recipe
    rich_labels: RichLabels
    background: str

    @cached_property
    def image_cache(self) -> ImageCache:
        """The decoded images, or their features."""
        return ImageCache(self.rich_labels.paths, self.background)

    @property
    def training_data(self) -> TrainingData:
        """The labels and images that the model is trained on."""
        examples = self.rich_labels.examples.values()
        scores = sum(len(example.scores) for example in examples)
        heatmaps = sum(len(example.mapped) for example in examples)
        words = sum(len(example.misaligned or ()) for example in examples)
        labels = f"{scores:,} scores, {heatmaps:,} heatmaps and {words:,} words, marked or not,"
        return TrainingData(
            labels,
            self.rich_labels.items,
            self.rich_labels.max_raters,
            "beholder explain IMAGE --model FOLDER --prompt TEXT",
        )

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the recipe, the feedback and the images."""
        return fingerprint_of(self.recipe, self.background, self.rich_labels.items, self._hashed_labels())

    def held_out(self, split: Split) -> list[RichExample]:
        """Return the test images of a split with their labels."""
        return self.rich_labels.of(split.of("test"))

    def run_fold(self, job: Job, split: Split, progress: Progress | None) -> FoldOutcome[Predictions]:
        """Train on one split, unless that was done, and predict feedback on the held-out images."""
        held_out, folder = self.held_out(split), job.checkpoint_folder(split)
        if job.is_trained(split):
            model, record = load_rich_checkpoint(folder)
        else:
            model, record = self._train(job, split, progress)
        self.image_cache.prepare_all(model, job.store.folder / FEATURES_ROOM)
        saved = read_saved_predictions(folder, held_out) if is_main_process() else None
        if saved is None and is_main_process():
            saved = predict_and_save(folder, model, self.image_cache, held_out)
        predictions = predictions_by_image(saved or predict_feedback(model, self.image_cache, held_out))
        scores = {
            aspect: {image: prediction.scores[aspect] for image, prediction in predictions.items()}
            for aspect in model.settings.scores
        }
        return FoldOutcome(split.fold, scores, record, predictions)

    def evaluate(self, job: Job, folds: Sequence[FoldOutcome[Predictions]]) -> list[Figure]:
        """Return figures over the images of all folds, each predicted by the model that was not trained on it."""
        predictions = {image: prediction for fold in folds for image, prediction in fold.figure_input.items()}
        return rich_figures(self.rich_labels, predictions, job.evaluation_settings)

    def _train(self, job: Job, split: Split, progress: Progress | None) -> tuple[RichTrainable, Record]:
        training, rich = self.recipe.training, self.recipe.rich or Rich()
        examples = {role: self.rich_labels.of(split.of(role)) for role in ROLES}
        prompts = [example.prompt for example in examples["train"]]
        maker = rich_architecture(self.recipe.architecture)
        torch.manual_seed(training.seed)
        settings = self.recipe.model_settings_of(job.store.folder, split.fold)
        model = maker.build(maker.configure(settings, sorted(set(prompts)), self.rich_labels.aspects), fresh=True)
        _refuse_unlabelled(model.settings, examples["train"])
        _refuse_ineffective_settings(model, rich)
        self.image_cache.prepare_all(model, job.store.folder / FEATURES_ROOM)
        parts = process_count() * parts_per_process(training)
        epochs = training.epochs or (training.steps or 0) / steps_per_epoch(len(examples["train"]), training.batch)
        loader = RichDataLoader(
            model,
            self.image_cache,
            HeatmapCache(self.rich_labels, model.settings.map_side),
            examples["train"],
            training.batch,
            parts,
            training.seed,
            rich,
            find_word_exchanges((example.prompt, example.misaligned) for example in examples["train"]),
            rich.exchanged,
            rich.again,
            rich.named,
            epochs - rich.plain,
        )
        validation_examples = examples["validation"]
        about = job.train(
            split,
            model,
            loader,
            lambda: validate(model, self.image_cache, validation_examples, self.rich_labels),
            {role: len(of_role) for role, of_role in examples.items()},
            progress,
        )
        if isinstance(model, RichCalibratable):
            heatmap_cache = HeatmapCache(self.rich_labels, model.settings.map_side, cache_bytes=0)
            model.calibrate(labelled_batches(validation_examples, model, self.image_cache, heatmap_cache))
        predictions = predictions_by_image(predict_feedback(model, self.image_cache, validation_examples))
        about["within"] = dict(_interval_widths(model.settings.scores, validation_examples, predictions))
        record = Record(self.recipe.architecture, model.config, tuple(model.settings.scores), {}, about)
        if is_main_process():
            checkpoint = job.checkpoint_folder(split)
            looked_at = (*examples["train"], *validation_examples)
            prompts_by_image = {example.image: example.prompt for example in looked_at}
            write_shift(checkpoint, self.image_cache, prompts_by_image, self.recipe.split.seed)
            save_checkpoint(checkpoint, model, record)
        return model, record

    def _hashed_labels(self) -> Iterator[bytes]:
        """Yield all labels as bytes, for the fingerprint."""
        for image, example in self.rich_labels.examples.items():
            yield repr((image, sorted(example.scores.items()), example.misaligned, example.mapped)).encode()
            yield from (self.rich_labels.maps[image, aspect] for aspect in example.mapped)


def _interval_widths(
    aspects: Sequence[str], validation_examples: Sequence[RichExample], predictions: Predictions
) -> Iterator[tuple[str, Plain]]:
    """Yield the conformal half-width of the prediction interval of each aspect with enough images."""
    for aspect in aspects:
        errors = [
            predictions[example.image].scores[aspect] - example.scores[aspect]
            for example in validation_examples
            if aspect in example.scores
        ]
        half_width = conformal_width(np.array(errors), level=LEVEL) if errors else math.inf
        if math.isfinite(half_width):
            yield aspect, half_width


def _refuse_ineffective_settings(model: RichTrainable, rich: Rich) -> None:
    """Raise an error if the recipe has settings that have no effect on the model."""
    faults = []
    if isinstance(model, UsesEncoders) and model.encoders:
        faults += [
            f"{name} is {getattr(rich, name):g}; expected 0, as a frozen encoder sees each image only once"
            for name in CHANCES
            if getattr(rich, name)
        ]
    predicts_words = isinstance(model, RichFeedbackModel | GroundedModel) and model.settings.losses.naming > 0
    if rich.named and not predicts_words:
        faults.append(f"named is {rich.named:g}; expected 0, as the model names no words (model.losses.naming)")
    if faults:
        raise RecipeError("[rich]", faults)


def _refuse_unlabelled(outputs: Outputs, train: Sequence[RichExample]) -> None:
    """Raise an error if the model is to predict what raters were not asked, or an aspect with one value."""
    faults = [
        f"train: no heatmap of '{aspect}'"
        for aspect in outputs.heatmaps
        if not any(aspect in example.mapped for example in train)
    ]
    for aspect in outputs.scores:
        values = {example.scores[aspect] for example in train if aspect in example.scores}
        if not values:
            faults.append(f"train: no scores of '{aspect}'")
        elif len(values) == 1:
            faults.append(f"train: all scores of '{aspect}' are {next(iter(values)):g}: there is nothing to learn")
    if faults:
        raise LabelsError(
            "rich feedback",
            faults,
            advice="Name what the study has: --set model.scores=[…] and --set model.heatmaps=[…]",
        )
