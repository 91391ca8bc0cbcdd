"""The learn stage for rich feedback: scores, heatmaps and misaligned words by one model."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import torch

from beholder.errors import LabelsError, RecipeError
from beholder.learn.card import Source
from beholder.learn.evaluate import Figure
from beholder.learn.feed import Pictures
from beholder.learn.job import Job, Learnt, Side, fingerprint_of, learn
from beholder.learn.order import steps_an_epoch
from beholder.learn.recipe import Recipe, Rich
from beholder.learn.rich.evaluate import Predicted, rich_figures
from beholder.learn.rich.examples import RichExample, RichJudged, rich_judged
from beholder.learn.rich.exchange import exchanges
from beholder.learn.rich.feed import RichFeed
from beholder.learn.rich.maps import SizedMaps
from beholder.learn.rich.predict import by_image, found_predictions, kept_predictions, look_at, predicted
from beholder.learn.splits import Role, Split
from beholder.learn.train import Progress, devices, leads
from beholder.models.architectures import rich_architecture
from beholder.models.rich_feedback.augment import CHANCES
from beholder.models.rich_feedback.model import RichFeedbackModel
from beholder.models.rich_feedback.trainable import Outputs, RichTrainable
from beholder.models.trainable import UsesEncoders
from beholder.models.weights.checkpoint import Record, load_rich_checkpoint, save_checkpoint
from beholder.stats.prediction.conformal import conformal_width
from beholder.study.study import load_study
from beholder.tables.provenance import Plain
from beholder.tables.stages import TRAIN
from beholder.tables.store import FEATURES_ROOM, Store

SIDES: tuple[Role, ...] = ("train", "validation", "test")
LEVEL = 0.95
"""Of the predictive intervals of scores."""

Sides = Mapping[Role, Sequence[RichExample]]
Said = Mapping[str, Predicted]
"""Image -> what the model says of it."""


def learn_rich(
    folder: Path,
    recipe: Recipe,
    *,
    name: str | None = None,
    force: bool = False,
    resume: bool = False,
    progress: Progress | None = None,
) -> Learnt:
    """Train a model on the rich feedback of a study, and test it on the images held out.

    As :func:`beholder.learn.stage.run`; what it predicts of the images held out is kept beside its weights.
    """
    judged = rich_judged(Store(folder).within(TRAIN), recipe.data.question)
    lesson = Lesson(recipe, judged, load_study(folder).images.background)
    return learn(lesson, folder, recipe, name=name, force=force, resume=resume, progress=progress)


@dataclass(frozen=True)
class Lesson:
    """A lesson from rich feedback; each side tells all that was predicted."""

    recipe: Recipe
    found: RichJudged
    background: str

    @cached_property
    def pictures(self) -> Pictures:
        """The images."""
        return Pictures(self.found.paths, self.background)

    @property
    def source(self) -> Source:
        """What it is learnt from."""
        examples = self.found.examples.values()
        scores, maps = sum(len(one.scores) for one in examples), sum(len(one.mapped) for one in examples)
        words = sum(len(one.misaligned or ()) for one in examples)
        labels = f"{scores:,} scores, {maps:,} heatmaps and {words:,} words, marked or not,"
        return Source(
            labels, self.found.items, self.found.people, "beholder explain IMAGE --model FOLDER --prompt TEXT"
        )

    @cached_property
    def fingerprint(self) -> str:
        """Of the recipe, the feedback and the images."""
        return fingerprint_of(self.recipe, self.background, self.found.items, self._said())

    def held_out(self, one: Split) -> list[RichExample]:
        """The test images of a split, with what people said of them."""
        return self.found.of(one.of("test"))

    def side(self, job: Job, one: Split, progress: Progress | None) -> Side[Said]:
        """Train on one split, unless that was done, and ask for feedback on the images held out."""
        held_out, place = self.held_out(one), job.place(one)
        if job.is_trained(one):
            model, record = load_rich_checkpoint(place)
        else:
            model, record = self._trained(job, one, progress)
        self.pictures.make_ready(model, job.store.folder / FEATURES_ROOM)
        said = found_predictions(place, held_out) if leads() else None
        if said is None and leads():
            said = kept_predictions(place, model, self.pictures, held_out)
        told = by_image(said or predicted(model, self.pictures, held_out))
        scores = {
            aspect: {image: each.scores[aspect] for image, each in told.items()}
            for aspect in model.settings.scores
        }
        return Side(one.fold, scores, record, told)

    def figures(self, job: Job, sides: Sequence[Side[Said]]) -> list[Figure]:
        """Over the images of all folds, each predicted by the model that had not seen it."""
        together = {image: said for one in sides for image, said in one.told.items()}
        return rich_figures(self.found, together, job.evaluation)

    def _trained(self, job: Job, one: Split, progress: Progress | None) -> tuple[RichTrainable, Record]:
        training, rich = self.recipe.training, self.recipe.rich or Rich()
        sides = {role: self.found.of(one.of(role)) for role in SIDES}
        prompts = [example.prompt for example in sides["train"]]
        maker = rich_architecture(self.recipe.architecture)
        torch.manual_seed(training.seed)
        settings = self.recipe.model_settings_of(job.store.folder, one.fold)
        model = maker.build(maker.configure(settings, sorted(set(prompts)), self.found.aspects), fresh=True)
        _refuse_unlabelled(model.settings, sides["train"])
        _refuse_unheeded(model, rich)
        self.pictures.make_ready(model, job.store.folder / FEATURES_ROOM)
        parts = devices() * training.accumulate
        passes = training.epochs or (training.steps or 0) / steps_an_epoch(len(sides["train"]), training.batch)
        feed = RichFeed(
            model,
            self.pictures,
            SizedMaps(self.found, model.settings.map_side),
            sides["train"],
            training.batch,
            parts,
            training.seed,
            rich,
            exchanges((example.prompt, example.misaligned) for example in sides["train"]),
            rich.exchanged,
            rich.again,
            rich.named,
            passes - rich.plain,
        )
        watched = sides["validation"]
        about = job.train(
            one,
            model,
            feed,
            lambda: look_at(model, self.pictures, watched, self.found),
            {role: len(examples) for role, examples in sides.items()},
            progress,
        )
        said = by_image(predicted(model, self.pictures, watched))
        about["within"] = dict(_within(model.settings.scores, watched, said))
        record = Record(self.recipe.architecture, model.config, tuple(model.settings.scores), {}, about)
        if leads():
            save_checkpoint(job.place(one), model, record)
        return model, record

    def _said(self) -> Iterator[bytes]:
        """Everything that people said."""
        for image, one in self.found.examples.items():
            yield repr((image, sorted(one.scores.items()), one.misaligned, one.mapped)).encode()
            yield from (self.found.maps[image, aspect] for aspect in one.mapped)


def _within(aspects: Sequence[str], watched: Sequence[RichExample], said: Said) -> Iterator[tuple[str, Plain]]:
    """How far people's mean may be from a predicted score, by aspect; nothing where too few images can tell."""
    for aspect in aspects:
        errors = [said[one.image].scores[aspect] - one.scores[aspect] for one in watched if aspect in one.scores]
        width = conformal_width(np.array(errors), level=LEVEL) if errors else math.inf
        if math.isfinite(width):
            yield aspect, width


def _refuse_unheeded(model: RichTrainable, rich: Rich) -> None:
    """Stop where the recipe asks for what means nothing to the model."""
    faults = []
    if isinstance(model, UsesEncoders) and model.encoders:
        faults += [
            f"{name} is {getattr(rich, name):g}; expected 0, as a frozen encoder sees each image once and for all"
            for name in CHANCES
            if getattr(rich, name)
        ]
    names = isinstance(model, RichFeedbackModel) and model.settings.losses.naming > 0
    if rich.named and not names:
        faults.append(f"named is {rich.named:g}; expected 0, as the model names no words (model.losses.naming)")
    if faults:
        raise RecipeError("[rich]", faults)


def _refuse_unlabelled(outputs: Outputs, train: Sequence[RichExample]) -> None:
    """Stop where a model is to predict what people were not asked, or all said alike."""
    faults = [
        f"train: no heatmap of '{aspect}'"
        for aspect in outputs.heatmaps
        if not any(aspect in one.mapped for one in train)
    ]
    for aspect in outputs.scores:
        values = {one.scores[aspect] for one in train if aspect in one.scores}
        if not values:
            faults.append(f"train: no scores of '{aspect}'")
        elif len(values) == 1:
            faults.append(f"train: all scores of '{aspect}' are {next(iter(values)):g}: there is nothing to learn")
    if faults:
        raise LabelsError(
            "rich feedback",
            faults,
            advice="Name what is there: --set model.scores=[…] and --set model.heatmaps=[…]",
        )
