"""The learn stage: from labels to a trained model, tested on what it has not seen."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import torch

from beholder.learn.card import Source
from beholder.learn.evaluate import Figure, evaluate, tuned_threshold
from beholder.learn.examples import Example, Judged, Scale, examples_by_role, judged, scales
from beholder.learn.feed import Feed, Pictures
from beholder.learn.job import Job, Learnt, Side, fingerprint_of, learn
from beholder.learn.predict import calibrate, look_at, predicted
from beholder.learn.recipe import Recipe
from beholder.learn.rich.stage import learn_rich
from beholder.learn.second_look import look_again
from beholder.learn.splits import Role, Split
from beholder.learn.train import Progress, devices, leads
from beholder.learn.votes import used_votes
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
    progress: Progress | None = None,
) -> Learnt:
    """Train the model of a recipe on the labels of a study, and test it on the images held out.

    Writes ``models/NAME`` (one checkpoint, or one per fold) and the tables ``training``, ``predictions`` of the
    images held out, and ``label_errors``. Training that was interrupted goes on with ``resume``; ``force`` begins
    again. Without a recipe nothing is trained: only the labels are looked at again by the predictions there are.
    """
    if recipe is None:
        looked = look_again(folder, force=force)
        return Learnt(looked.stage, looked.skipped, looked.rows, looked.seconds)
    if recipe.data.labels == "rich":
        learnt = learn_rich(folder, recipe, name=name, force=force, resume=resume, progress=progress)
    else:
        lesson = _Judging(
            recipe, judged(Store(folder).within(TRAIN), recipe.data), load_study(folder).images.background
        )
        learnt = learn(lesson, folder, recipe, name=name, force=force, resume=resume, progress=progress)
    if not leads():
        return learnt
    looked = look_again(folder)
    return replace(learnt, skipped=learnt.skipped and looked.skipped, rows={**learnt.rows, **looked.rows})


@dataclass(frozen=True)
class _Judging:
    """A lesson from pairs or ratings; each side tells PickScore's threshold."""

    recipe: Recipe
    found: Judged
    background: str

    @cached_property
    def pictures(self) -> Pictures:
        """The images."""
        return Pictures(self.found.paths, self.background)

    @property
    def source(self) -> Source:
        """What it is learnt from."""
        labels = f"{self.found.labels.height:,} labels ({self.recipe.data.labels})"
        read = "" if self.recipe.architecture in IMAGE_ALONE else " --prompts prompts.csv"
        use = f"beholder score IMAGES --scorer FOLDER{read}"
        return Source(labels, self.found.items, self.found.people, use)

    @property
    def fingerprint(self) -> str:
        """Of the recipe, the labels and the images."""
        said = self.found.labels.select("image", "other", "aspect", "value", "answers").write_csv().encode()
        return fingerprint_of(self.recipe, self.background, self.found.items, [said])

    def side(self, job: Job, one: Split, progress: Progress | None) -> Side[float]:
        """Train on one split, unless that was done, and score the images held out."""
        sides = examples_by_role(self.found, self.recipe.data, one)
        if job.is_trained(one):
            model, record = load_checkpoint(job.place(one))
        else:
            model, record = self._trained(job, one, sides, progress)
        self.pictures.make_ready(model, job.store.folder / FEATURES_ROOM)
        size = max(self.recipe.training.batch, 16)
        scale = {aspect: Scale(*numbers) for aspect, numbers in record.scales.items()}
        held_out, watched = (
            predicted(model, self.pictures, _items(self.found, one, role), scale, size)
            for role in ("test", "validation")
        )
        tie = tuned_threshold(self.found, watched) if self.recipe.data.labels == "pairs" else 0.0
        return Side(one.fold, held_out, record, tie)

    def figures(self, job: Job, sides: Sequence[Side[float]]) -> list[Figure]:
        """Over the images of all folds, each scored by the model that had not seen it."""
        together: dict[str, dict[str, float]] = {}
        for one in sides:
            for aspect, scores in one.scores.items():
                together.setdefault(aspect, {}).update(scores)
        votes = used_votes(job.store, job.study, self.recipe.data.question)
        threshold = sum(one.told for one in sides) / len(sides)
        return evaluate(self.found, self.recipe.data, together, votes, job.evaluation, threshold=threshold)

    def _trained(
        self, job: Job, one: Split, sides: dict[Role, list[Example]], progress: Progress | None
    ) -> tuple[Trainable[Batch], Record]:
        training, aspects = self.recipe.training, self.found.aspects
        prompts = sorted({example.prompt for example in sides["train"]})
        maker = architecture(self.recipe.architecture)
        torch.manual_seed(training.seed)
        settings = self.recipe.model_settings_of(job.store.folder, one.fold)
        model = maker.build(maker.configure(settings, prompts, aspects), fresh=True)
        scale = scales(sides["train"], self.recipe.data)
        self.pictures.make_ready(model, job.store.folder / FEATURES_ROOM)
        parts = devices() * training.accumulate
        feed = Feed(model, self.pictures, sides["train"], aspects, training.batch, parts, training.seed, scale)
        watched = sides["validation"]
        about = job.train(
            one,
            model,
            feed,
            lambda: look_at(model, self.pictures, watched, self.found, self.recipe.data, scale, training.batch),
            {role: len(examples) for role, examples in sides.items()},
            progress,
        )
        calibrate(model, self.pictures, watched, aspects, training.batch)
        numbers = {aspect: (found.mean, found.deviation) for aspect, found in scale.items()}
        record = Record(self.recipe.architecture, model.config, aspects, numbers, about)
        if leads():
            save_checkpoint(job.place(one), model, record)
        return model, record


def _items(found: Judged, one: Split, role: Role) -> list[tuple[str, str]]:
    """Image and prompt of a side of the split."""
    mine = set(one.of(role))
    return [(item.image, item.prompt or "") for item in found.items if item.image in mine]
