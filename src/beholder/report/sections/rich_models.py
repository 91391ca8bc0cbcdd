"""Models that learnt rich feedback, beside the people they learnt from, on images that they had not seen."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from beholder.feedback.image_feedback import AspectScore, ImageFeedback
from beholder.feedback.labels import SCORED_BY, RichLabels
from beholder.feedback.predictions import FILE_NAME, RichPredictions, read_predictions
from beholder.feedback.regions import open_regions
from beholder.formats.imported import UNKNOWN
from beholder.images.thumbnail import SIDE, open_or_none
from beholder.report.sections.explained import Card, card, legend
from beholder.report.tables.inputs import Inputs
from beholder.study.kinds.catalogue import marked_questions
from beholder.study.study import Study
from beholder.study.words import split_words
from beholder.tables.store import Store

MODELS, RECORD = "models", "model.json"
MOST, MOST_IMAGES = 3, 4
"""Models, and images of each, that are shown, to keep the file small."""


@dataclass(frozen=True, slots=True)
class RichModel:
    """One model and some images held out."""

    name: str
    held_out: int
    """Images that it predicted without having seen them, and that people judged."""
    aspect: str
    """By which people's ratings the images were spread."""
    cards: tuple[Card, ...]

    @property
    def ramps(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """The colours of the maps."""
        return legend(self.cards)


def prediction_files(folder: Path) -> list[Path]:
    """What models said of the images held out, those of all folds."""
    room = folder / MODELS
    return sorted([*room.glob(f"*/{FILE_NAME}"), *room.glob(f"*/fold-*/{FILE_NAME}")])


def rich_models(study: Study, tables: Inputs, folder: Path) -> tuple[RichModel, ...]:
    """The first few models by name; for each some images, spread evenly from the worst to the best rated."""
    questions = marked_questions(study.questions)
    files = prediction_files(folder)
    if not questions or not files:
        return ()
    question, store = questions[0], Store(folder)
    people = RichLabels(
        question.name,
        tuple(aspect.name for aspect in question.aspects),
        question.scale(),
        tables.labels.filter(pl.col("question") == question.name),
        open_regions(store) if store.has("regions") else None,
    )
    by_model: dict[str, list[Path]] = {}
    for path in files:
        by_model.setdefault(path.relative_to(folder / MODELS).parts[0], []).append(path)
    background = study.images.background
    found = (_model(name, paths, people, tables, folder, background) for name, paths in by_model.items())
    return tuple(one for one in found if one)[:MOST]


def _model(
    name: str, paths: Sequence[Path], people: RichLabels, tables: Inputs, folder: Path, background: str
) -> RichModel | None:
    said = {path: found for path in paths if (found := read_predictions(path))}
    where = {image: (path, place) for path, one in said.items() for place, image in enumerate(one.images)}
    aspect = people.aspects[0]
    rated = (
        people.labels.filter((pl.col("aspect") == aspect) & pl.col("method").is_in(list(SCORED_BY)))
        .join(tables.images.filter(pl.col("sha256") != UNKNOWN), on="image")
        .filter(pl.col("image").is_in(list(where)))
        .sort("value", "image")
    )
    if rated.is_empty():
        return None
    spread = np.unique(np.linspace(0, rated.height - 1, MOST_IMAGES).round().astype(int))
    prompts = dict(tables.prompts.select("prompt", "text").iter_rows())
    cards = []
    for row in rated[spread.tolist()].to_dicts():
        path, place = where[row["image"]]
        model = _feedback(said[path], place, _within(path.parent / RECORD))
        prompt = prompts.get(row["prompt"] or "", "")
        theirs = people.feedback(row["image"], len(split_words(prompt)))
        picture = open_or_none(folder / row["path"], background)
        cards.append(card(row["image"], prompt, picture, model, theirs, side=SIDE))
    return RichModel(name, rated.height, aspect, tuple(cards))


def _feedback(said: RichPredictions, place: int, within: Mapping[str, float]) -> ImageFeedback:
    scores = {}
    for aspect, values in said.scores.items():
        value, half = float(values[place]), within.get(aspect)
        ends = (None, None, None) if half is None else (max(value - half, 0.0), min(value + half, 1.0), "held-out")
        scores[aspect] = AspectScore(value, *ends)
    return ImageFeedback(
        scores,
        {aspect: maps[place].astype(np.float32) for aspect, maps in said.heatmaps.items()},
        said.misaligned[place].astype(np.float64) if said.misaligned else None,
    )


def _within(record: Path) -> Mapping[str, float]:
    """The half widths of the model's scores; none where it wrote none."""
    try:
        found = json.loads(record.read_text(encoding="utf-8"))["about"]["within"]
        return {str(aspect): float(half) for aspect, half in found.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}
