"""A trained model on the labelled images of other studies: rows of its card on data sets it was not trained on.

The rows are written to ``other-data.json`` in the model's folder, with the hash of its weights: after another
training they no longer count.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from beholder.errors import LabelsError, UserError
from beholder.learn.data_loader import ImageCache
from beholder.learn.evaluate import evaluate
from beholder.learn.examples import LabelledImages, Scale, read_labelled_images, read_votes
from beholder.learn.figures.figure import EvaluationSettings, Figure
from beholder.learn.predict import Scores, predict_images
from beholder.learn.recipe import Data, Recipe
from beholder.learn.trained_models import hash_weights
from beholder.learn.transfer import OTHER_DATA, TransferRow, rows_of
from beholder.models.weights.checkpoint import RECORD, load_checkpoint
from beholder.study.study import Study, load_study
from beholder.tables.atomic import write_atomically
from beholder.tables.stages import TRAIN
from beholder.tables.store import FEATURES_ROOM, Store

BATCH = 16


@dataclass(frozen=True)
class OtherData:
    """Another study, its labels of the aspects that the model predicts, without images of the training study."""

    folder: Path
    study: Study
    data: Data
    labelled: LabelledImages


def refuse_for_rich_feedback(folders: Sequence[Path]) -> None:
    """Raise an error where a model of rich feedback is to be tested elsewhere."""
    if folders:
        raise UserError("a model of rich feedback is tested on its own study alone; leave --test-on out")


def read_other_data(folders: Sequence[Path], recipe: Recipe, trained_on: LabelledImages) -> list[OtherData]:
    """Read the labels of other studies; an error lists what cannot be compared, before anything is trained."""
    return [_read(folder, recipe, trained_on) for folder in folders]


def _read(folder: Path, recipe: Recipe, trained_on: LabelledImages) -> OtherData:
    store, study = Store(folder).within(TRAIN), load_study(folder)
    data = recipe.data.model_copy(update={"question": None, "method": None, "aspects": ()})
    labelled = read_labelled_images(store, data)
    shared = tuple(aspect for aspect in labelled.aspects if aspect in trained_on.aspects)
    if not shared and len(trained_on.aspects) > 1:
        raise LabelsError(
            str(folder),
            [f"rated: {', '.join(labelled.aspects)}; the model predicts {', '.join(trained_on.aspects)}"],
            advice="Test on a study with one of these aspects.",
        )
    hashes = {item.sha256 for item in trained_on.items}
    items = tuple(item for item in labelled.items if item.sha256 not in hashes)
    if not items:
        raise LabelsError(str(folder), ["all its labelled images are in the training study as well"])
    labelled = replace(labelled, items=items, aspects=shared or labelled.aspects)
    return OtherData(folder, study, data, labelled)


def measure_elsewhere(model_folder: Path, others: Sequence[OtherData]) -> list[TransferRow]:
    """Score the images of other studies by the trained model, and write the rows next to its weights.

    Where the model has folds, a score is the mean of their models.
    """
    rows = [row for other in others for row in _rows(model_folder, other)]
    content = {"weights": hash_weights(model_folder), "rows": [asdict(row) for row in rows]}
    with write_atomically(model_folder / OTHER_DATA) as file:
        file.write(json.dumps(content, indent=1).encode())
    return rows


def _rows(model_folder: Path, other: OtherData) -> Iterator[TransferRow]:
    settings = EvaluationSettings(
        other.study.analysis.level, min(other.study.analysis.draws, 500), other.study.seed
    )
    votes = read_votes(Store(other.folder).within(TRAIN), other.study, None)
    figures: list[Figure] = evaluate(other.labelled, other.data, _scores(model_folder, other), votes, settings)
    yield from rows_of(f"other data: {other.study.name}", figures)


def _scores(model_folder: Path, other: OtherData) -> Scores:
    """Mean scores of all checkpoints below the model's folder."""
    cache = ImageCache(
        {item.image: other.labelled.paths[item.image] for item in other.labelled.items},
        other.study.images.background,
    )
    images = [(item.image, item.prompt or "") for item in other.labelled.items]
    by_checkpoint: list[Scores] = []
    for record_file in sorted(model_folder.rglob(RECORD)):
        model, record = load_checkpoint(record_file.parent)
        cache.prepare_all(model, other.folder / FEATURES_ROOM)
        scales = {aspect: Scale(*numbers) for aspect, numbers in record.scales.items()}
        by_checkpoint.append(predict_images(model, cache, images, scales, BATCH))
    first = by_checkpoint[0]
    return {aspect: {image: _mean(by_checkpoint, aspect, image) for image in first[aspect]} for aspect in first}


def _mean(by_checkpoint: Sequence[Scores], aspect: str, image: str) -> float:
    return float(np.mean([scores[aspect][image] for scores in by_checkpoint]))
