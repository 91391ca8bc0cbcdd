"""The learn stage: from labels to a trained model, tested on what it has not seen."""

import hashlib
import json
import logging
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import polars as pl
import torch
from pydantic import TypeAdapter

from beholder.errors import StageError
from beholder.learn.card import write_card
from beholder.learn.evaluate import Figure, Settings, evaluate, tuned_threshold
from beholder.learn.examples import Example, Judged, Scale, examples_by_role, judged, scales
from beholder.learn.feed import Feed, Pictures
from beholder.learn.predict import look_at, predicted
from beholder.learn.recipe import Recipe
from beholder.learn.splits import Role, Split, split
from beholder.learn.state import FILE_NAME as STATE
from beholder.learn.state import Point, drop_state
from beholder.learn.train import devices, leads, train
from beholder.learn.votes import votes_of
from beholder.models.architectures import architecture
from beholder.models.checkpoint import RECORD, Record, load_checkpoint, read_record, save_checkpoint
from beholder.models.decode import quiet_pillow
from beholder.models.trainable import Batch, Trainable
from beholder.study.study import Study, load_study
from beholder.tables.atomic import write_atomically
from beholder.tables.catalogue import TABLES
from beholder.tables.provenance import Plain, Provenance
from beholder.tables.schemas.measure import OUT_OF_FOLD
from beholder.tables.store import Store
from beholder.tables.work import Outcome

logger = logging.getLogger(__name__)

MODELS_ROOM = "models"
FEATURES_ROOM = "features"
FIGURES = "figures.json"

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Learnt:
    """What was done, where the model lies, and what it is worth."""

    outcome: Outcome
    folder: Path
    figures: tuple[Figure, ...]


def run(
    folder: Path,
    recipe: Recipe,
    *,
    name: str | None = None,
    force: bool = False,
    resume: bool = False,
    progress: Progress | None = None,
) -> Learnt:
    """Train the model of a recipe on the labels of a study, and test it on the images held out.

    Writes ``models/NAME`` (one checkpoint, or one a fold), the table ``training``, and the scores of the images
    held out. Training that was interrupted goes on with ``resume``; ``force`` begins anew.
    """
    study, store, name = load_study(folder), Store(folder), name or recipe.name
    found = judged(store, recipe.data)
    room = folder / MODELS_ROOM / name
    job = _Job(study, store, found, recipe, name, room, _fingerprint(found, recipe))
    if not force and job.is_done():
        return Learnt(Outcome("learn", skipped=True), room, job.read_figures())
    if force:
        job.forget()
    elif job.is_begun() and not resume:
        raise StageError(
            f"{room}: training was begun and not ended. Go on with --resume, or begin anew with --force"
        )
    return job.run(progress)


@dataclass(frozen=True, slots=True)
class _Side:
    """What came of one split: scores of the images held out, PickScore's threshold, and the curve."""

    fold: int
    scores: dict[str, dict[str, float]]
    threshold: float
    curve: tuple[Point, ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class _Job:
    study: Study
    store: Store
    found: Judged
    recipe: Recipe
    name: str
    room: Path
    fingerprint: str

    def is_done(self) -> bool:
        """Whether this very work was finished before."""
        path = self.room / FIGURES
        if not path.is_file():
            return False
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            return bool(content["fingerprint"] == self.fingerprint)
        except (ValueError, KeyError, TypeError):
            return False

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

    def run(self, progress: Progress | None) -> Learnt:
        """All folds, the figures over all of them, the tables and the card."""
        splits = split(self.found.items, self.recipe.split)
        pictures = Pictures(self.found.paths)
        with quiet_pillow():
            sides = [self._side(one, pictures, progress) for one in splits]
        figures = tuple(self._figures(sides))
        seconds = sum(one.seconds for one in sides)
        rows = self._write(splits, sides, figures, seconds) if leads() else {}
        return Learnt(Outcome("learn", skipped=False, rows=rows, seconds=seconds), self.room, figures)

    def _write(
        self, splits: list[Split], sides: list[_Side], figures: tuple[Figure, ...], seconds: float
    ) -> dict[str, int]:
        """The tables, the card and, last, the figures: their file says that all is done."""
        rows = self._write_tables(sides)
        write_card(self.room, self.recipe, self.study, self.found, figures, seconds)
        content = {"fingerprint": self.fingerprint, "figures": [as_json(one) for one in figures]}
        with write_atomically(self.room / FIGURES) as file:
            file.write(json.dumps(content, indent=1).encode())
        for one in splits:
            drop_state(self._place(one))
        return rows

    def _place(self, one: Split) -> Path:
        return self.room if one.folds == 1 else self.room / f"fold-{one.fold}"

    def _side(self, one: Split, pictures: Pictures, progress: Progress | None) -> _Side:
        """Train on one split, unless that was done, and score the images held out."""
        place = self._place(one)
        sides = examples_by_role(self.found, self.recipe.data, one)
        model, record = self._trained(one, sides, pictures, place, progress)
        pictures.make_ready(model, self.store.folder / FEATURES_ROOM)
        size = max(self.recipe.training.batch, 16)
        scale = {aspect: Scale(*numbers) for aspect, numbers in record.scales.items()}
        held_out, watched = (
            predicted(model, pictures, _items(self.found, one, role), scale, size)
            for role in ("test", "validation")
        )
        curve = tuple(Point(**point) for point in json.loads(str(record.about["curve"])))
        tie = tuned_threshold(self.found, watched) if self.recipe.data.labels == "pairs" else 0.0
        return _Side(one.fold, held_out, tie, curve, float(str(record.about["seconds"])))

    def _trained(
        self,
        one: Split,
        sides: dict[Role, list[Example]],
        pictures: Pictures,
        place: Path,
        progress: Progress | None,
    ) -> tuple[Trainable[Batch], Record]:
        """The model of a finished fold, or one trained now."""
        if (place / RECORD).is_file() and read_record(place).about.get("fingerprint") == self.fingerprint:
            return load_checkpoint(place)
        training, aspects = self.recipe.training, self.found.aspects
        prompts = sorted({example.prompt for example in sides["train"]})
        maker = architecture(self.recipe.architecture)
        torch.manual_seed(training.seed)
        settings = self.recipe.model_settings_of(self.store.folder, one.fold)
        model = maker.build(maker.configure(settings, prompts, aspects), fresh=True)
        scale = scales(sides["train"], self.recipe.data)
        pictures.make_ready(model, self.store.folder / FEATURES_ROOM)
        parts = devices() * training.accumulate
        feed = Feed(model, pictures, sides["train"], aspects, training.batch, parts, training.seed, scale)
        watched = sides["validation"]
        trained = train(
            model,
            feed,
            lambda: look_at(model, pictures, watched, self.found, self.recipe.data, scale, training.batch),
            training,
            place,
            fingerprint=f"{self.fingerprint} {one.fold}",
            resume=True,
            progress=progress,
        )
        about: dict[str, Plain] = {
            "fingerprint": self.fingerprint,
            "recipe": json.loads(self.recipe.model_dump_json()),
            "study": self.study.name,
            "fold": one.fold,
            "examples": {role: len(examples) for role, examples in sides.items()},
            "step": trained.step,
            "steps": trained.steps,
            "seconds": round(trained.seconds, 1),
            "curve": json.dumps([asdict(point) for point in trained.curve]),
        }
        numbers = {aspect: (found.mean, found.deviation) for aspect, found in scale.items()}
        record = Record(self.recipe.architecture, model.config, aspects, numbers, about)
        if leads():
            save_checkpoint(place, model, record)
        return model, record

    def _figures(self, sides: list[_Side]) -> list[Figure]:
        """Over the images of all folds, each scored by the model that had not seen it."""
        together: dict[str, dict[str, float]] = {}
        for one in sides:
            for aspect, scores in one.scores.items():
                together.setdefault(aspect, {}).update(scores)
        votes = votes_of(self.store, self.study, self.recipe.data.question)
        analysis = self.study.analysis
        settings = Settings(analysis.level, min(analysis.draws, 500), self.study.seed)
        threshold = sum(one.threshold for one in sides) / len(sides)
        return evaluate(self.found, self.recipe.data, together, votes, settings, threshold=threshold)

    def _write_tables(self, sides: list[_Side]) -> dict[str, int]:
        """Rows of this model take the place of those it had; those of others stay."""
        scorer = f"{self.name}{OUT_OF_FOLD}"
        scores = [
            {"scorer": scorer, "aspect": aspect, "image": image, "score": score}
            for one in sides
            for aspect, by_image in one.scores.items()
            for image, score in by_image.items()
        ]
        curves = [
            {"model": self.name, "fold": one.fold, **asdict(point)}
            | {"value": point.value if math.isfinite(point.value) else None}
            for one in sides
            for point in one.curve
        ]
        settings: dict[str, Plain] = {"model": self.name, "recipe": json.loads(self.recipe.model_dump_json())}
        inputs = {name: self.store.hash(name) for name in ("prompts", "images", "labels")}
        record = Provenance("learn", settings, self.recipe.training.seed, inputs)
        others = self.store.read_or_empty("training").filter(pl.col("model") != self.name)
        self.store.write({"training": pl.concat([others, TABLES["training"].frame(curves)])}, record)
        measured = self.store.provenance("scores") or record  # what was measured stays as fresh as it was
        others = self.store.read_or_empty("scores").filter(pl.col("scorer") != scorer)
        self.store.write({"scores": pl.concat([others, TABLES["scores"].frame(scores)])}, measured)
        return {"training": len(curves), "scores": len(scores)}


def _items(found: Judged, one: Split, role: Role) -> list[tuple[str, str]]:
    """Image and prompt of a side of the split."""
    mine = set(one.of(role))
    return [(item.image, item.prompt or "") for item in found.items if item.image in mine]


def _fingerprint(found: Judged, recipe: Recipe) -> str:
    """What the result depends on: the recipe, what people said, and the images; not what was learnt before."""
    whole = hashlib.sha256(recipe.model_dump_json().encode())
    whole.update(found.labels.select("image", "other", "aspect", "value").write_csv().encode())
    for item in found.items:
        whole.update(repr((item.image, item.prompt, item.generator, item.sha256)).encode())
    return whole.hexdigest()


def as_json(figure: Figure) -> dict[str, Plain]:
    """A figure as JSON, without nan."""
    return {
        key: None if isinstance(value, float) and math.isnan(value) else value
        for key, value in asdict(figure).items()
    }


def _with_nan(row: dict[str, object]) -> dict[str, object]:
    return {key: math.nan if value is None else value for key, value in row.items()}
