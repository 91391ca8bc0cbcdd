"""Models trained on rich feedback, compared with the raters on held-out images."""

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
from beholder.report.sections.explained import Card, build_card, collect_ramps
from beholder.report.tables.inputs import Inputs
from beholder.study.kinds.catalogue import marked_questions
from beholder.study.study import Study
from beholder.study.words import split_words
from beholder.tables.store import Store

MODELS, RECORD = "models", "model.json"
MOST, MOST_IMAGES = 3, 4
"""Numbers of models, and of images of each, that are shown, to keep the file small."""


@dataclass(frozen=True, slots=True)
class RichModel:
    """One model and some held-out images."""

    name: str
    held_out: int
    """Number of images that it predicted without training on them, and that raters judged."""
    aspect: str
    """The aspect by whose ratings the images were selected."""
    cards: tuple[Card, ...]

    @property
    def ramps(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """The colours of the heatmaps."""
        return collect_ramps(self.cards)


def prediction_files(folder: Path) -> list[Path]:
    """Predictions of models for held-out images, of all folds."""
    room = folder / MODELS
    return sorted([*room.glob(f"*/{FILE_NAME}"), *room.glob(f"*/fold-*/{FILE_NAME}")])


def build_rich_models(study: Study, tables: Inputs, folder: Path) -> tuple[RichModel, ...]:
    """The first few models by name; for each some images, spread evenly from the worst to the best rated."""
    questions = marked_questions(study.questions)
    files = prediction_files(folder)
    if not questions or not files:
        return ()
    question, store = questions[0], Store(folder)
    human_labels = RichLabels(
        question.name,
        tuple(aspect.name for aspect in question.aspects),
        question.scale(),
        tables.labels.filter(pl.col("question") == question.name).collect(),
        open_regions(store) if store.has("regions") else None,
    )
    by_model: dict[str, list[Path]] = {}
    for path in files:
        by_model.setdefault(path.relative_to(folder / MODELS).parts[0], []).append(path)
    background = study.images.background
    models = (_model(name, paths, human_labels, tables, folder, background) for name, paths in by_model.items())
    return tuple(model for model in models if model)[:MOST]


def _model(
    name: str, paths: Sequence[Path], human_labels: RichLabels, tables: Inputs, folder: Path, background: str
) -> RichModel | None:
    by_path = {path: predictions for path in paths if (predictions := read_predictions(path))}
    where = {
        image: (path, place)
        for path, predictions in by_path.items()
        for place, image in enumerate(predictions.images)
    }
    aspect = human_labels.aspects[0]
    rated = (
        human_labels.labels.filter((pl.col("aspect") == aspect) & pl.col("method").is_in(list(SCORED_BY)))
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
        model = _feedback(by_path[path], place, _within(path.parent / RECORD))
        prompt = prompts.get(row["prompt"] or "", "")
        human = human_labels.feedback(row["image"], len(split_words(prompt)))
        picture = open_or_none(folder / row["path"], background)
        cards.append(build_card(row["image"], prompt, picture, model, human, side=SIDE))
    return RichModel(name, rated.height, aspect, tuple(cards))


def _feedback(predictions: RichPredictions, place: int, within: Mapping[str, float]) -> ImageFeedback:
    scores = {}
    for aspect, values in predictions.scores.items():
        value, half = float(values[place]), within.get(aspect)
        ends = (None, None, None) if half is None else (max(value - half, 0.0), min(value + half, 1.0), "held-out")
        scores[aspect] = AspectScore(value, *ends)
    return ImageFeedback(
        scores,
        {aspect: maps[place].astype(np.float32) for aspect, maps in predictions.heatmaps.items()},
        predictions.misaligned[place].astype(np.float64) if predictions.misaligned else None,
    )


def _within(record: Path) -> Mapping[str, float]:
    """The half widths of the confidence intervals of the model's scores; empty where it recorded none."""
    try:
        half_widths = json.loads(record.read_text(encoding="utf-8"))["about"]["within"]
        return {str(aspect): float(half) for aspect, half in half_widths.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}
