"""Models of a study that learnt rich feedback, and what each says of the images that it was not trained on."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

from beholder.errors import FaultsError, UserError
from beholder.learn.feed import Pictures
from beholder.learn.job import MODELS_ROOM, place_of
from beholder.learn.recipe import check_recipe
from beholder.learn.rich.evaluate import Predicted
from beholder.learn.rich.examples import RichJudged, rich_judged
from beholder.learn.rich.predict import by_image, found_predictions, kept_predictions
from beholder.learn.rich.stage import Lesson
from beholder.learn.splits import Split, split
from beholder.models.architectures import RICH_ARCHITECTURES
from beholder.models.weights.checkpoint import RECORD, WEIGHTS, Record, load_rich_checkpoint, read_record
from beholder.study.study import load_study
from beholder.tables.provenance import Plain
from beholder.tables.store import Store

SHOWN = 3
"""Images that are named where two models were tested on different ones."""


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Models of one question, and what they say of the images that were held out from all of them."""

    judged: RichJudged
    said: Mapping[str, Mapping[str, Predicted]]
    """Model -> image held out -> what the model says of it."""

    @property
    def images(self) -> tuple[str, ...]:
        """The images held out."""
        return tuple(next(iter(self.said.values())))


def held_out(folder: Path, names: Sequence[str]) -> HeldOut:
    """The models of these names (below ``models/``) or folders; an error lists all that cannot be compared.

    What they say of the images held out is taken from beside their weights, or asked for now and kept there.
    """
    faults: list[str] = []
    found: list[_Model] = []
    asked = cache(partial(rich_judged, Store(folder)))
    for name in dict.fromkeys(names):
        try:
            found.append(_model(folder, name, asked))
        except UserError as error:
            faults.append(str(error))
    faults += _different(found)
    if faults:
        raise FaultsError(f"models of {folder}", faults)
    return HeldOut(found[0].lesson.found, {one.name: one.said() for one in found})


@dataclass(frozen=True, eq=False)
class _Model:
    name: str
    room: Path
    lesson: Lesson
    splits: Sequence[Split]

    @property
    def images(self) -> dict[str, None]:
        """Those of its test, over all folds."""
        return {image: None for one in self.splits for image in one.of("test")}

    def said(self) -> dict[str, Predicted]:
        """What it says of them, each fold of its own."""
        together: dict[str, Predicted] = {}
        for one in self.splits:
            place, shown = place_of(self.room, one), self.lesson.held_out(one)
            kept = found_predictions(place, shown)
            if kept is None:
                pictures = Pictures(self.lesson.found.paths, self.lesson.background)
                kept = kept_predictions(place, load_rich_checkpoint(place)[0], pictures, shown)
            together |= by_image(kept)
        return together


def _model(folder: Path, name: str, asked: Callable[[str | None], RichJudged]) -> _Model:
    """The model, if it was trained by what people say of its question now (``asked``); else an error."""
    room = folder / MODELS_ROOM / name
    room = room if room.is_dir() else Path(name)
    first = next((place for place in (room, room / "fold-0") if (place / RECORD).is_file()), None)
    if first is None:
        there = sorted(path.name for path in (folder / MODELS_ROOM).glob("*") if path.is_dir())
        raise UserError(f"{name}: no trained model is there; below {MODELS_ROOM}/: {', '.join(there) or 'none'}")
    record = read_record(first)
    if record.architecture not in RICH_ARCHITECTURES:
        raise UserError(f"{name}: a {record.architecture} model, which did not learn rich feedback")
    recipe = check_recipe(_table(record, "recipe"), f"{name}: its recipe")
    lesson = Lesson(recipe, asked(recipe.data.question), load_study(folder).images.background)
    if lesson.fingerprint != record.about.get("fingerprint"):
        raise UserError(
            f"{name}: was trained by other feedback or images than {folder} has now, so that it may know what it "
            "would be tested on. Train it again with: beholder learn"
        )
    splits = split(lesson.source.items, recipe.split)
    lost = [str(place_of(room, one)) for one in splits if not (place_of(room, one) / WEIGHTS).is_file()]
    if lost:
        raise UserError(f"{name}: no weights in {', '.join(lost)}. Go on with: beholder learn … --resume")
    return _Model(name, room, lesson, splits)


def _table(record: Record, key: str) -> Mapping[str, Plain]:
    found = record.about.get(key)
    return found if isinstance(found, dict) else {}


def _different(models: Sequence[_Model]) -> list[str]:
    """A fault for each model that has another test, or another question, than the first."""
    faults = []
    for one in models[1:]:
        first = models[0]
        mine, others = one.images, first.images
        if one.lesson.found.question != first.lesson.found.question:
            faults.append(
                f"{one.name}: learnt the question '{one.lesson.found.question}', not that of {first.name}"
            )
        elif mine.keys() != others.keys():
            alone = sorted(mine.keys() ^ others.keys())
            faults.append(
                f"{one.name}: tested on other images than {first.name} ({len(mine):,} and {len(others):,}, "
                f"{len(alone):,} by one alone, such as {', '.join(alone[:SHOWN])}); both need the same [split]"
            )
    return faults
