"""Predictions of a study's rich-feedback models on the images that were held out from their training."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

from beholder.errors import FaultsError, UserError
from beholder.learn.data_loader import ImageCache
from beholder.learn.job import checkpoint_folder
from beholder.learn.recipe import check_recipe
from beholder.learn.rich.examples import RichLabels, read_rich_labels
from beholder.learn.rich.predict import predict_and_save, predictions_by_image, read_saved_predictions
from beholder.learn.rich.stage import RichFeedbackTask
from beholder.learn.rich.statistics import RichPrediction
from beholder.learn.splits import Split, split
from beholder.learn.trained_models import MODELS_FOLDER
from beholder.models.architectures import RICH_ARCHITECTURES
from beholder.models.weights.checkpoint import RECORD, WEIGHTS, Record, load_rich_checkpoint, read_record
from beholder.study.study import load_study
from beholder.tables.provenance import Plain
from beholder.tables.store import Store

IMAGES_NAMED = 3
"""Number of images that are named where two models were tested on different ones."""


@dataclass(frozen=True, eq=False)
class HeldOutPredictions:
    """Labels of one question, and the predictions of several models on the images held out from all of them."""

    rich_labels: RichLabels
    by_model: Mapping[str, Mapping[str, RichPrediction]]
    """Model -> held-out image -> prediction."""

    @property
    def images(self) -> tuple[str, ...]:
        """The held-out images."""
        return tuple(next(iter(self.by_model.values())))


def predict_held_out(folder: Path, names: Sequence[str]) -> HeldOutPredictions:
    """Return held-out predictions of the models of these names (below ``models/``) or folders.

    They are read from the files next to the models' weights, or computed and saved there. An error lists all
    models that cannot be compared.
    """
    faults: list[str] = []
    models: list[_Model] = []
    read_labels = cache(partial(read_rich_labels, Store(folder)))
    for name in dict.fromkeys(names):
        try:
            models.append(_model(folder, name, read_labels))
        except UserError as error:
            faults.append(str(error))
    faults += _differences(models)
    if faults:
        raise FaultsError(f"models of {folder}", faults)
    return HeldOutPredictions(models[0].task.rich_labels, {model.name: model.predictions() for model in models})


@dataclass(frozen=True, eq=False)
class _Model:
    name: str
    folder: Path
    task: RichFeedbackTask
    splits: Sequence[Split]

    @property
    def images(self) -> dict[str, None]:
        """The test images of all folds."""
        return {image: None for fold_split in self.splits for image in fold_split.of("test")}

    def predictions(self) -> dict[str, RichPrediction]:
        """Return the predictions of the test images, each by the model of its fold."""
        by_image: dict[str, RichPrediction] = {}
        for fold_split in self.splits:
            checkpoint, examples = checkpoint_folder(self.folder, fold_split), self.task.held_out(fold_split)
            fold_predictions = read_saved_predictions(checkpoint, examples)
            if fold_predictions is None:
                image_cache = ImageCache(self.task.rich_labels.paths, self.task.background)
                fold_predictions = predict_and_save(
                    checkpoint, load_rich_checkpoint(checkpoint)[0], image_cache, examples
                )
            by_image |= predictions_by_image(fold_predictions)
        return by_image


def _model(folder: Path, name: str, read_labels: Callable[[str | None], RichLabels]) -> _Model:
    """Return the model, if it was trained on the labels its question has now (``read_labels``); else an error."""
    model_folder = folder / MODELS_FOLDER / name
    model_folder = model_folder if model_folder.is_dir() else Path(name)
    first = next(
        (candidate for candidate in (model_folder, model_folder / "fold-0") if (candidate / RECORD).is_file()),
        None,
    )
    if first is None:
        names = sorted(path.name for path in (folder / MODELS_FOLDER).glob("*") if path.is_dir())
        raise UserError(
            f"{name}: no trained model has this name; below {MODELS_FOLDER}/: {', '.join(names) or 'none'}"
        )
    record = read_record(first)
    if record.architecture not in RICH_ARCHITECTURES:
        raise UserError(f"{name}: a {record.architecture} model, which was not trained on rich feedback")
    recipe = check_recipe(_table(record, "recipe"), f"{name}: its recipe")
    task = RichFeedbackTask(recipe, read_labels(recipe.data.question), load_study(folder).images.background)
    if task.fingerprint != record.about.get("fingerprint"):
        raise UserError(
            f"{name}: was trained on other feedback or images than {folder} has now, so the test images may "
            "have been in its training. Train it again with: beholder learn"
        )
    splits = split(task.training_data.items, recipe.split)
    missing = [
        str(checkpoint_folder(model_folder, each))
        for each in splits
        if not (checkpoint_folder(model_folder, each) / WEIGHTS).is_file()
    ]
    if missing:
        raise UserError(f"{name}: no weights in {', '.join(missing)}. Continue with: beholder learn … --resume")
    return _Model(name, model_folder, task, splits)


def _table(record: Record, key: str) -> Mapping[str, Plain]:
    table = record.about.get(key)
    return table if isinstance(table, dict) else {}


def _differences(models: Sequence[_Model]) -> list[str]:
    """Return a fault for each model that has other test images, or another question, than the first."""
    faults = []
    for model in models[1:]:
        first = models[0]
        images, images_of_first = model.images, first.images
        if model.task.rich_labels.question != first.task.rich_labels.question:
            faults.append(
                f"{model.name}: trained on the question '{model.task.rich_labels.question}', not that of "
                f"{first.name}"
            )
        elif images.keys() != images_of_first.keys():
            unshared = sorted(images.keys() ^ images_of_first.keys())
            faults.append(
                f"{model.name}: tested on other images than {first.name} ({len(images):,} and "
                f"{len(images_of_first):,}, {len(unshared):,} by only one of them, such as "
                f"{', '.join(unshared[:IMAGES_NAMED])}); both need the same [split]"
            )
    return faults
