"""A training job for any training task: start, resume or skip; fold by fold; tables, figures and model card."""

import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Generic, Protocol, TypeVar

import polars as pl
from pydantic import TypeAdapter

from beholder.errors import StageError
from beholder.images.background import DEFAULT_BACKGROUND
from beholder.images.decode import quiet_pillow
from beholder.learn.card import TrainingData, write_card
from beholder.learn.figures.figure import EvaluationSettings, Figure
from beholder.learn.prefetch import BatchT, Loader
from beholder.learn.processes.devices import is_main_process, wait_for_all_processes
from beholder.learn.recipe import Recipe
from beholder.learn.splits import Item, Split, split
from beholder.learn.state import FILE_NAME as STATE
from beholder.learn.state import Curve, Point, drop_state
from beholder.learn.trackers import installed_trackers
from beholder.learn.tracking import Tracking, logged_settings
from beholder.learn.train import Progress, Validate, train
from beholder.learn.trained_models import FIGURES, MODELS_FOLDER, training_record
from beholder.models.allocator import keep_freed_memory
from beholder.models.trainable import Trainable
from beholder.models.weights.checkpoint import RECORD, Record, read_record
from beholder.study.study import Study, load_study
from beholder.tables.atomic import write_atomically
from beholder.tables.catalogue import TABLES
from beholder.tables.provenance import Plain, Provenance
from beholder.tables.stages import TRAIN
from beholder.tables.store import Store
from beholder.tables.work import Outcome, Work, provenance_of, records

MAX_REPLICATES = 500
"""Upper limit of the bootstrap replicates."""

FigureInput = TypeVar("FigureInput")
"""What a training task computes its figures from, in addition to the scores."""


@dataclass(frozen=True, slots=True)
class LearnOutcome(Outcome):
    """What was done, the folder of the model, and its figures."""

    folder: Path = Path()
    figures: tuple[Figure, ...] = ()


@dataclass(frozen=True, slots=True)
class FoldOutcome(Generic[FigureInput]):
    """Predictions and record of the model of one fold."""

    fold: int
    scores: Mapping[str, Mapping[str, float]]
    """Aspect -> held-out image -> score."""
    record: Record
    figure_input: FigureInput
    """What figures are computed from, in addition to the scores."""

    @property
    def curve(self) -> Curve:
        """The training curve."""
        return tuple(Point(**point) for point in json.loads(str(self.record.about["curve"])))

    @property
    def seconds(self) -> float:
        """How long training took."""
        return float(str(self.record.about["seconds"]))


class TrainingTask(Protocol[FigureInput]):
    """What a model is trained on, how, and how it is evaluated."""

    @property
    def training_data(self) -> TrainingData:
        """The labels and images that the model is trained on."""
        ...

    @property
    def fingerprint(self) -> str:
        """Hash of everything that the model depends on: see :func:`fingerprint_of`."""
        ...

    def run_fold(self, job: "Job", split: Split, progress: Progress | None) -> FoldOutcome[FigureInput]:
        """Train on one split, unless that was done, and predict the held-out images."""
        ...

    def evaluate(self, job: "Job", folds: Sequence[FoldOutcome[FigureInput]]) -> list[Figure]:
        """Return figures over the images of all folds, each predicted by the model that was not trained on it."""
        ...


@dataclass(frozen=True, slots=True)
class Job:
    """One model of a study: its recipe, its folder, and how far its training is."""

    study: Study
    store: Store
    recipe: Recipe
    name: str
    fingerprint: str
    further_settings: Mapping[str, Plain] = field(default_factory=dict)
    """What its records say besides the recipe: the rounds that it is trained on."""

    @property
    def folder(self) -> Path:
        """The folder of the model."""
        return self.store.folder / MODELS_FOLDER / self.name

    @property
    def evaluation_settings(self) -> EvaluationSettings:
        """Level, replicates and seed of the figures."""
        analysis = self.study.analysis
        return EvaluationSettings(analysis.level, min(analysis.draws, MAX_REPLICATES), self.study.seed)

    def checkpoint_folder(self, split: Split) -> Path:
        """Return the folder of the checkpoint of a split."""
        return checkpoint_folder(self.folder, split)

    def is_trained(self, split: Split) -> bool:
        """Return whether training on this split has ended."""
        folder = self.checkpoint_folder(split)
        return (folder / RECORD).is_file() and read_record(folder).about.get("fingerprint") == self.fingerprint

    def train(
        self,
        split: Split,
        model: Trainable[BatchT],
        loader: Loader[BatchT],
        validate: Validate,
        examples: Mapping[str, int],
        progress: Progress | None,
    ) -> dict[str, Plain]:
        """Train the model in place, or resume; return what its checkpoint records about the training.

        ``examples`` is the number of examples by role.
        """
        trained = train(
            model,
            loader,
            validate,
            self.recipe.training,
            self.checkpoint_folder(split),
            fingerprint=f"{self.fingerprint} {split.fold}",
            resume=True,
            progress=progress,
            tracking=Tracking(
                installed_trackers(self.recipe.training.trackers),
                project=self.study.name,
                run=self.name if split.folds == 1 else f"{self.name}-fold-{split.fold}",
                settings=logged_settings(self.recipe.name, self.recipe.training),
            ),
        )
        return {
            "fingerprint": self.fingerprint,
            "recipe": json.loads(self.recipe.model_dump_json()),
            "study": self.study.name,
            "fold": split.fold,
            "examples": dict(examples),
            "step": trained.step,
            "steps": trained.steps,
            "seconds": round(trained.seconds, 1),
            "curve": json.dumps([asdict(point) for point in trained.curve]),
        }

    @property
    def settings(self) -> dict[str, Plain]:
        """The settings that its tables and figures record."""
        recipe = json.loads(self.recipe.model_dump_json())
        return {"model": self.name, "recipe": recipe} | dict(self.further_settings)

    @property
    def provenance(self) -> Provenance:
        """The provenance of this job, by the content of its labels rather than by the file they are in."""
        return Provenance(TRAIN.stage, self.settings, self.recipe.training.seed, {"labels": self.fingerprint})

    def is_done(self) -> bool:
        """Return whether this job was finished before, and its predictions exist."""
        before = training_record(self.folder)
        return (
            before is not None
            and records(before, self.provenance, TRAIN)
            and self.name in self.store.read_or_empty("predictions")["model"]
        )

    def is_unfinished(self) -> bool:
        """Return whether the folder has files of an unfinished run."""
        ended = (self.folder / FIGURES).is_file()
        return any(self.folder.rglob(STATE)) or (any(self.folder.rglob(RECORD)) and not ended)

    def remove_earlier_run(self) -> None:
        """Delete state, records and figures of an earlier run, and no other file."""
        for file_name in (STATE, RECORD, FIGURES):
            for path in self.folder.rglob(file_name):
                path.unlink()

    def read_figures(self) -> tuple[Figure, ...]:
        """Return the figures of the finished run."""
        content = json.loads((self.folder / FIGURES).read_text(encoding="utf-8"))
        return TypeAdapter(tuple[Figure, ...]).validate_python([_with_nan(row) for row in content["figures"]])


def checkpoint_folder(model_folder: Path, split: Split) -> Path:
    """Return the folder of the checkpoint of a split, within a model's folder."""
    return model_folder if split.folds == 1 else model_folder / f"fold-{split.fold}"


def fingerprint_of(recipe: Recipe, background: str, items: Iterable[Item], labels: Iterable[bytes]) -> str:
    """Return a hash of everything that a model depends on: recipe, labels, images and their background.

    The default background is not hashed, so that models trained before it could be chosen stay valid.
    """
    digest = hashlib.sha256(recipe.model_dump_json().encode())
    if background != DEFAULT_BACKGROUND:
        digest.update(background.encode())
    for part in labels:
        digest.update(part)
    for item in items:
        digest.update(repr((item.image, item.prompt, item.generator, item.sha256)).encode())
    return digest.hexdigest()


def learn(
    task: TrainingTask[FigureInput],
    folder: Path,
    recipe: Recipe,
    *,
    name: str | None,
    force: bool,
    resume: bool,
    progress: Progress | None,
    further_settings: Mapping[str, Plain] | None = None,
    renew_card: bool = False,
) -> LearnOutcome:
    """Do what remains of a training task.

    Training that was interrupted continues with ``resume``; ``force`` starts again. ``further_settings`` are
    recorded besides the recipe. With ``renew_card`` the card is written again where nothing remains.
    """
    store = Store(folder).within(TRAIN)
    job = Job(load_study(folder), store, recipe, name or recipe.name, task.fingerprint, further_settings or {})
    if not force and job.is_done():
        if renew_card and is_main_process():
            sessions, seconds = store.read_or_empty("sessions"), trained_seconds(job.folder)
            write_card(job.folder, recipe, job.study, task.training_data, job.read_figures(), seconds, sessions)
        return LearnOutcome("learn", skipped=True, folder=job.folder, figures=job.read_figures())
    if force:
        if is_main_process():
            job.remove_earlier_run()
        wait_for_all_processes()
    elif job.is_unfinished() and not resume:
        raise StageError(
            f"{job.folder}: training was started and did not finish. Continue with --resume, or start again with "
            "--force"
        )
    splits = split(task.training_data.items, recipe.split)
    keep_freed_memory()
    with quiet_pillow():
        folds = [task.run_fold(job, each, progress) for each in splits]
    figures = tuple(task.evaluate(job, folds))
    seconds = sum(fold.seconds for fold in folds)
    rows: dict[str, int] = {}
    if is_main_process():
        rows = _write_tables(job, folds)
        sessions = store.read_or_empty("sessions")
        write_card(job.folder, recipe, job.study, task.training_data, figures, seconds, sessions)
        _write_figures(job, figures)
        for each in splits:
            drop_state(job.checkpoint_folder(each))
    return LearnOutcome("learn", skipped=False, rows=rows, seconds=seconds, folder=job.folder, figures=figures)


def trained_seconds(model_folder: Path) -> float:
    """How long training took, over all folds, from the records of the checkpoints."""
    records = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(model_folder.rglob(RECORD))]
    return sum(TypeAdapter(float).validate_python(record["about"]["seconds"]) for record in records)


def _write_tables(job: Job, folds: Sequence[FoldOutcome[FigureInput]]) -> dict[str, int]:
    """Replace the rows of this model in ``training`` and ``predictions``; those of other models stay."""
    better = job.recipe.data.better
    predictions = [
        {"model": job.name, "fold": fold.fold, "aspect": aspect, "image": image, "score": score}
        | {"better": better, "held_out": True}
        for fold in folds
        for aspect, score_by_image in fold.scores.items()
        for image, score in score_by_image.items()
    ]
    curves = [
        {"model": job.name, "fold": fold.fold, **asdict(point)}
        | {"value": point.value if math.isfinite(point.value) else None}
        for fold in folds
        for point in fold.curve
    ]
    rows = {"training": curves, "predictions": predictions}
    others = {name: job.store.read_or_empty(name).filter(pl.col("model") != job.name) for name in rows}
    frames = {name: pl.concat([others[name], TABLES[name].frame(rows[name])]) for name in rows}
    record = provenance_of(job.store, Work(TRAIN, job.settings, job.recipe.training.seed))
    job.store.write(frames, record)
    return {name: len(rows[name]) for name in rows}


def _write_figures(job: Job, figures: Sequence[Figure]) -> None:
    """Write the figures; must come last, as this file marks the job as done."""
    content = {"provenance": asdict(job.provenance), "figures": [as_json(figure) for figure in figures]}
    with write_atomically(job.folder / FIGURES) as file:
        file.write(json.dumps(content, indent=1).encode())


def as_json(figure: Figure) -> dict[str, Plain]:
    """Return a figure as JSON, with null for nan."""
    return {
        key: None if isinstance(value, float) and math.isnan(value) else value
        for key, value in asdict(figure).items()
    }


def _with_nan(row: dict[str, object]) -> dict[str, object]:
    return {key: math.nan if value is None else value for key, value in row.items()}
