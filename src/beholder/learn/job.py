"""A learning job, whatever is learnt: begun, resumed or skipped; fold by fold; its tables, figures and card."""

import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Generic, Protocol, TypeVar

import polars as pl
from pydantic import TypeAdapter

from beholder.errors import StageError
from beholder.images.background import DEFAULT_BACKGROUND
from beholder.images.decode import quiet_pillow
from beholder.learn.card import Source, write_card
from beholder.learn.evaluate import Figure, Settings
from beholder.learn.recipe import Recipe
from beholder.learn.splits import Item, Split, split
from beholder.learn.state import FILE_NAME as STATE
from beholder.learn.state import Curve, Point, drop_state
from beholder.learn.train import Fed, Feeding, Look, Progress, leads, train
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

MODELS_ROOM = "models"
FIGURES = "figures.json"
DRAWS = 500
"""Draws of the bootstrap, at most."""

Told = TypeVar("Told")


@dataclass(frozen=True, slots=True)
class Learnt(Outcome):
    """What was done, where the model lies, and what it is worth."""

    folder: Path = Path()
    figures: tuple[Figure, ...] = ()


@dataclass(frozen=True, slots=True)
class Side(Generic[Told]):
    """What came of one split: scores of the images held out, by aspect, and the curve."""

    fold: int
    scores: Mapping[str, Mapping[str, float]]
    record: Record
    told: Told
    """What figures are made of, beside the scores."""

    @property
    def curve(self) -> Curve:
        """How training went."""
        return tuple(Point(**point) for point in json.loads(str(self.record.about["curve"])))

    @property
    def seconds(self) -> float:
        """How long it took."""
        return float(str(self.record.about["seconds"]))


class Lesson(Protocol[Told]):
    """What is learnt, from what, and how it is tested."""

    @property
    def source(self) -> Source:
        """What it is learnt from."""
        ...

    @property
    def fingerprint(self) -> str:
        """What the result depends on: see :func:`fingerprint_of`."""
        ...

    def side(self, job: "Job", one: Split, progress: Progress | None) -> Side[Told]:
        """Train on one split, unless that was done, and predict the images held out."""
        ...

    def figures(self, job: "Job", sides: Sequence[Side[Told]]) -> list[Figure]:
        """Over the images of all folds, each predicted by the model that had not seen it."""
        ...


@dataclass(frozen=True, slots=True)
class Job:
    """One model of a study: its recipe, its place, and whether it is done."""

    study: Study
    store: Store
    recipe: Recipe
    name: str
    fingerprint: str

    @property
    def room(self) -> Path:
        """Where the model lies."""
        return self.store.folder / MODELS_ROOM / self.name

    @property
    def evaluation(self) -> Settings:
        """How figures are computed."""
        analysis = self.study.analysis
        return Settings(analysis.level, min(analysis.draws, DRAWS), self.study.seed)

    def place(self, one: Split) -> Path:
        """Where the checkpoint of a split lies."""
        return place_of(self.room, one)

    def is_trained(self, one: Split) -> bool:
        """Whether training on this split has ended."""
        place = self.place(one)
        return (place / RECORD).is_file() and read_record(place).about.get("fingerprint") == self.fingerprint

    def train(
        self,
        one: Split,
        model: Trainable[Fed],
        feed: Feeding[Fed],
        look: Look,
        examples: Mapping[str, int],
        progress: Progress | None,
    ) -> dict[str, Plain]:
        """Train the model in place, or go on; what its checkpoint is to say of it.

        ``examples`` is their number by role.
        """
        trained = train(
            model,
            feed,
            look,
            self.recipe.training,
            self.place(one),
            fingerprint=f"{self.fingerprint} {one.fold}",
            resume=True,
            progress=progress,
        )
        return {
            "fingerprint": self.fingerprint,
            "recipe": json.loads(self.recipe.model_dump_json()),
            "study": self.study.name,
            "fold": one.fold,
            "examples": dict(examples),
            "step": trained.step,
            "steps": trained.steps,
            "seconds": round(trained.seconds, 1),
            "curve": json.dumps([asdict(point) for point in trained.curve]),
        }

    @property
    def settings(self) -> dict[str, Plain]:
        """What its tables and figures record."""
        return {"model": self.name, "recipe": json.loads(self.recipe.model_dump_json())}

    @property
    def record(self) -> Provenance:
        """Of this very work, by what was learnt from: a table that was made again alike changes nothing."""
        return Provenance(TRAIN.stage, self.settings, self.recipe.training.seed, {"labels": self.fingerprint})

    def is_done(self) -> bool:
        """Whether this very work was finished before, and its predictions are there."""
        try:
            content = json.loads((self.room / FIGURES).read_text(encoding="utf-8"))
            before = Provenance.from_json(json.dumps(content["provenance"]))
        except (OSError, ValueError, KeyError, TypeError):
            return False
        return (
            records(before, self.record, TRAIN) and self.name in self.store.read_or_empty("predictions")["model"]
        )

    def is_begun(self) -> bool:
        """Whether something of an unfinished run lies there."""
        ended = (self.room / FIGURES).is_file()
        return any(self.room.rglob(STATE)) or (any(self.room.rglob(RECORD)) and not ended)

    def forget(self) -> None:
        """Remove what a run before left, but not a foreign file."""
        for known in (STATE, RECORD, FIGURES):
            for path in self.room.rglob(known):
                path.unlink()

    def read_figures(self) -> tuple[Figure, ...]:
        """The figures of the finished run."""
        content = json.loads((self.room / FIGURES).read_text(encoding="utf-8"))
        return TypeAdapter(tuple[Figure, ...]).validate_python([_with_nan(row) for row in content["figures"]])


def place_of(room: Path, one: Split) -> Path:
    """Where in a model's folder the checkpoint of a split lies."""
    return room if one.folds == 1 else room / f"fold-{one.fold}"


def fingerprint_of(recipe: Recipe, background: str, items: Iterable[Item], said: Iterable[bytes]) -> str:
    """What the result depends on: the recipe, what people said, the images and their background.

    The default background adds nothing, so that models stay valid that were trained before there was a choice.
    """
    whole = hashlib.sha256(recipe.model_dump_json().encode())
    if background != DEFAULT_BACKGROUND:
        whole.update(background.encode())
    for part in said:
        whole.update(part)
    for item in items:
        whole.update(repr((item.image, item.prompt, item.generator, item.sha256)).encode())
    return whole.hexdigest()


def learn(
    lesson: Lesson[Told],
    folder: Path,
    recipe: Recipe,
    *,
    name: str | None,
    force: bool,
    resume: bool,
    progress: Progress | None,
) -> Learnt:
    """Do what is still to do of a lesson.

    Training that was interrupted goes on with ``resume``; ``force`` begins anew.
    """
    store = Store(folder).within(TRAIN)
    job = Job(load_study(folder), store, recipe, name or recipe.name, lesson.fingerprint)
    if not force and job.is_done():
        return Learnt("learn", skipped=True, folder=job.room, figures=job.read_figures())
    if force:
        job.forget()
    elif job.is_begun() and not resume:
        raise StageError(
            f"{job.room}: training was begun and not ended. Go on with --resume, or begin anew with --force"
        )
    splits = split(lesson.source.items, recipe.split)
    keep_freed_memory()
    with quiet_pillow():
        sides = [lesson.side(job, one, progress) for one in splits]
    figures = tuple(lesson.figures(job, sides))
    seconds = sum(one.seconds for one in sides)
    rows: dict[str, int] = {}
    if leads():
        rows = _write_tables(job, sides)
        write_card(job.room, recipe, job.study, lesson.source, figures, seconds)
        _write_figures(job, figures)
        for one in splits:
            drop_state(job.place(one))
    return Learnt("learn", skipped=False, rows=rows, seconds=seconds, folder=job.room, figures=figures)


def _write_tables(job: Job, sides: Sequence[Side[Told]]) -> dict[str, int]:
    """Rows of this model take the place of those it had; those of others stay."""
    better = job.recipe.data.better
    predictions = [
        {"model": job.name, "fold": one.fold, "aspect": aspect, "image": image, "score": score}
        | {"better": better, "held_out": True}
        for one in sides
        for aspect, by_image in one.scores.items()
        for image, score in by_image.items()
    ]
    curves = [
        {"model": job.name, "fold": one.fold, **asdict(point)}
        | {"value": point.value if math.isfinite(point.value) else None}
        for one in sides
        for point in one.curve
    ]
    rows = {"training": curves, "predictions": predictions}
    others = {name: job.store.read_or_empty(name).filter(pl.col("model") != job.name) for name in rows}
    frames = {name: pl.concat([others[name], TABLES[name].frame(rows[name])]) for name in rows}
    record = provenance_of(job.store, Work(TRAIN, job.settings, job.recipe.training.seed))
    job.store.write(frames, record)
    return {name: len(rows[name]) for name in rows}


def _write_figures(job: Job, figures: Sequence[Figure]) -> None:
    """Last of all: this file says that all is done."""
    content = {"provenance": asdict(job.record), "figures": [as_json(one) for one in figures]}
    with write_atomically(job.room / FIGURES) as file:
        file.write(json.dumps(content, indent=1).encode())


def as_json(figure: Figure) -> dict[str, Plain]:
    """A figure as JSON, without nan."""
    return {
        key: None if isinstance(value, float) and math.isnan(value) else value
        for key, value in asdict(figure).items()
    }


def _with_nan(row: dict[str, object]) -> dict[str, object]:
    return {key: math.nan if value is None else value for key, value in row.items()}
