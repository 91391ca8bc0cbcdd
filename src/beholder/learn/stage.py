"""The learn stage: from labels to a trained model, tested on held-out images."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import torch

from beholder.errors import UserError
from beholder.learn.card import TrainingData, write_card
from beholder.learn.data_loader import DataLoader, ImageCache
from beholder.learn.evaluate import evaluate, tune_tie_threshold
from beholder.learn.examples import (
    Example,
    LabelledImages,
    Scale,
    build_examples_by_role,
    label_scales,
    number_generators,
    read_labelled_images,
    read_votes,
)
from beholder.learn.figures.figure import EvaluationSettings, Figure
from beholder.learn.job import FoldOutcome, Job, LearnOutcome, fingerprint_of, learn, trained_seconds
from beholder.learn.label_errors import find_label_errors
from beholder.learn.other_data import measure_elsewhere, read_other_data, refuse_for_rich_feedback
from beholder.learn.predict import calibrate, complete, device_batches, measure_first, predict_images, validate
from beholder.learn.processes.devices import is_main_process, process_count
from beholder.learn.recipe import Recipe
from beholder.learn.rich.examples import read_rich_labels
from beholder.learn.rich.stage import learn_rich
from beholder.learn.rounds.attacks import AttackData, read_attack_data, require_held_out
from beholder.learn.rounds.models import spans, write_round_table
from beholder.learn.shift import write_shift
from beholder.learn.single_scores import interval_widths
from beholder.learn.splits import Role, Split, split
from beholder.learn.trackers import installed_trackers
from beholder.learn.train import Progress, parts_per_process
from beholder.learn.transfer import sibling_recipes
from beholder.models.architectures import IMAGE_ALONE, architecture
from beholder.models.trainable import Batch, Trainable
from beholder.models.weights.checkpoint import Record, load_checkpoint, save_checkpoint
from beholder.rounds.attacks import AttackRounds
from beholder.study.study import load_study
from beholder.tables.stages import ATTACKED, STAGES, TRAIN
from beholder.tables.store import FEATURES_ROOM, Store

STAGE = STAGES["learn"]

MEASURED = 512
"""Training images, about, that a model measures before the first step, evenly spaced."""


def run(
    folder: Path,
    recipe: Recipe | None = None,
    *,
    name: str | None = None,
    force: bool = False,
    resume: bool = False,
    test_on: Sequence[Path] = (),
    transfer: bool = False,
    rounds: AttackRounds | None = None,
    progress: Progress | None = None,
) -> LearnOutcome:
    """Train the model of a recipe on the labels of a study, and test it on the held-out images.

    Writes ``models/NAME`` (one checkpoint, or one per fold) and the tables ``training``, ``predictions`` of the
    held-out images, and ``label_errors``. Training that was interrupted continues with ``resume``; ``force``
    starts again. The card of the model gets a row for each other study in ``test_on``, and with ``transfer`` rows
    of unseen generators, for which models of the same recipe are trained first, each without one generator.
    Without a recipe nothing is trained: only ``label_errors`` is brought up to date.

    With ``rounds`` the verified claims of an adversarial study are trained on beside its labels, and the table
    ``rounds`` has both errors of this model and of its parents.
    """
    if recipe is None:
        errors_outcome = find_label_errors(folder, force=force)
        return LearnOutcome(
            errors_outcome.stage, errors_outcome.skipped, errors_outcome.rows, errors_outcome.seconds
        )
    installed_trackers(recipe.training.trackers)  # before any work
    if transfer:
        _train_siblings(folder, recipe, rounds, name=name, force=force, resume=resume, progress=progress)
    if recipe.data.labels == "rich":
        refuse_for_rich_feedback(test_on)
        outcome = learn_rich(
            folder, recipe, name=name, force=force, resume=resume, progress=progress, renew_card=transfer
        )
    else:
        outcome = _learn_labels(
            folder,
            recipe,
            rounds,
            name=name,
            force=force,
            resume=resume,
            test_on=test_on,
            progress=progress,
            renew_card=transfer,
        )
    if not is_main_process():
        return outcome
    errors_outcome = find_label_errors(folder)
    return replace(
        outcome, skipped=outcome.skipped and errors_outcome.skipped, rows={**outcome.rows, **errors_outcome.rows}
    )


def _train_siblings(
    folder: Path,
    recipe: Recipe,
    rounds: AttackRounds | None,
    *,
    name: str | None,
    force: bool,
    resume: bool,
    progress: Progress | None,
) -> None:
    """Train the models by which the card says how well the model does on unseen generators."""
    if rounds is not None:
        raise UserError(
            "models that leave generators out are not trained on rounds: leave --rounds or --transfer out"
        )
    store = Store(folder).within(TRAIN)
    items = (
        read_rich_labels(store, recipe.data.question).items
        if recipe.data.labels == "rich"
        else read_labelled_images(store, recipe.data).items
    )
    for sibling_name, sibling in sibling_recipes(recipe, name or recipe.name, items).items():
        run(folder, sibling, name=sibling_name, force=force, resume=resume, progress=progress)


def _learn_labels(
    folder: Path,
    recipe: Recipe,
    rounds: AttackRounds | None,
    *,
    name: str | None,
    force: bool,
    resume: bool,
    test_on: Sequence[Path],
    progress: Progress | None,
    renew_card: bool,
) -> LearnOutcome:
    """Train on labels, and on rounds where there are any; then test elsewhere and on attacks."""
    store, study = Store(folder).within(TRAIN), load_study(folder)
    labelled = read_labelled_images(store, recipe.data)
    attacks = None if rounds is None else read_attack_data(store, rounds, recipe)
    if attacks is not None:
        require_held_out(attacks, labelled, split(labelled.items, recipe.split))
    task = _LabelTask(recipe, labelled, study.images.background, attacks)
    others = read_other_data(test_on, recipe, labelled)
    outcome = learn(
        task,
        folder,
        recipe,
        name=name,
        force=force,
        resume=resume,
        progress=progress,
        renew_card=renew_card,
        further_settings=None if attacks is None else attacks.settings,
    )
    if others and is_main_process():
        measure_elsewhere(outcome.folder, others)
    if attacks is not None and is_main_process() and not outcome.skipped:
        settings = EvaluationSettings(study.analysis.level, study.analysis.draws, study.seed)
        write_round_table(folder, labelled, attacks, settings)
    if (others or attacks) and is_main_process():
        _write_card_again(folder, task, outcome)
    return outcome


def _write_card_again(folder: Path, task: "_LabelTask", outcome: LearnOutcome) -> None:
    """Write the card once more, with what was measured on other studies and on attacks."""
    sessions = Store(folder).within(TRAIN).read_or_empty("sessions")
    seconds = trained_seconds(outcome.folder)
    study = load_study(folder)
    rounds = Store(folder).within(ATTACKED).read_or_empty("rounds")
    write_card(outcome.folder, task.recipe, study, task.training_data, outcome.figures, seconds, sessions, rounds)


@dataclass(frozen=True)
class _LabelTask:
    """Training on pairs, ratings or soft labels; figures need PickScore's tie threshold of each fold."""

    recipe: Recipe
    labelled: LabelledImages
    background: str
    attacks: AttackData | None = None

    @cached_property
    def image_cache(self) -> ImageCache:
        """The decoded images, or their features."""
        attacked = {} if self.attacks is None else self.attacks.paths
        return ImageCache({**self.labelled.paths, **attacked}, self.background)

    @property
    def training_data(self) -> TrainingData:
        """The labels and images that the model is trained on."""
        labels = f"{self.labelled.labels.height:,} labels ({self.recipe.data.labels})"
        if self.attacks is not None:
            rounds = self.attacks.rounds
            labels += f" and verified claims of rounds {spans(rounds.trained_on)} against `{rounds.parent}`"
        prompts_option = "" if self.recipe.architecture in IMAGE_ALONE else " --prompts prompts.csv"
        usage = f"beholder score IMAGES --scorer FOLDER{prompts_option}"
        return TrainingData(labels, self.labelled.items, self.labelled.max_raters, usage)

    @property
    def fingerprint(self) -> str:
        """Hash of the recipe, the labels and the images."""
        labels = self.labelled.labels.select("image", "other", "aspect", "value", "answers").write_csv().encode()
        attacks = [] if self.attacks is None else [self.attacks.hashed]
        return fingerprint_of(self.recipe, self.background, self.labelled.items, [labels, *attacks])

    def run_fold(self, job: Job, split: Split, progress: Progress | None) -> FoldOutcome[float]:
        """Train on one split, unless that was done, and score the held-out images."""
        examples = build_examples_by_role(self.labelled, self.recipe.data, split)
        if self.attacks is not None:
            examples["train"] += self.attacks.training(self.labelled, split)
        if job.is_trained(split):
            model, record = load_checkpoint(job.checkpoint_folder(split))
        else:
            model, record = self._train(job, split, examples, progress)
        self.image_cache.prepare_all(model, job.store.folder / FEATURES_ROOM)
        batch_size = max(self.recipe.training.batch, 16)
        scales = {aspect: Scale(*numbers) for aspect, numbers in record.scales.items()}
        test_scores, validation_scores = (
            predict_images(model, self.image_cache, self._scored_images(split, role), scales, batch_size)
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

    def _scored_images(self, split: Split, role: Role) -> list[tuple[str, str]]:
        """Image and prompt of one role of the split; with those of held-out attacks where they are tested."""
        images_of_role = set(split.of(role))
        own = {item.image: item.prompt or "" for item in self.labelled.items if item.image in images_of_role}
        if role == "test" and self.attacks is not None:
            own |= dict(self.attacks.tested_images(self.labelled, split))
        return list(own.items())

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
            model,
            self.image_cache,
            examples["train"],
            aspects,
            training.batch,
            parts,
            training.seed,
            scales,
            number_generators(self.labelled.items, split),
        )

        def batches(some: Sequence[Example], rescaled: Mapping[str, Scale]) -> Iterator[Batch]:
            return device_batches(model, self.image_cache, some, aspects, rescaled, training.batch)

        measure_first(model, batches(examples["train"][:: max(len(examples["train"]) // MEASURED, 1)], scales))
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
        complete(model, batches(examples["train"], scales))
        calibrate(model, batches(validation_examples, {}))
        about["within"] = (
            interval_widths(model, self.image_cache, validation_examples, scales, training.batch)
            if self.recipe.data.labels == "ratings"
            else {}
        )
        mean_and_deviation = {aspect: (scale.mean, scale.standard_deviation) for aspect, scale in scales.items()}
        record = Record(self.recipe.architecture, model.config, aspects, mean_and_deviation, about)
        if is_main_process():
            folder = job.checkpoint_folder(split)
            looked_at = (*examples["train"], *validation_examples)
            prompts_by_image = {image: example.prompt for example in looked_at for image in example.images}
            write_shift(folder, self.image_cache, prompts_by_image, self.recipe.split.seed)
            save_checkpoint(folder, model, record)
        return model, record
