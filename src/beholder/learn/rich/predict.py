"""Predictions of a rich-feedback model, and its performance on the validation images."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import torch

from beholder.feedback.predictions import FILE_NAME, RichPredictions, read_predictions, write_predictions
from beholder.images.in_order import batches
from beholder.learn.data_loader import THREADS, ImageCache
from beholder.learn.rich.evaluate import rich_statistics
from beholder.learn.rich.examples import RichExample, RichLabels
from beholder.learn.rich.statistics import RichPrediction
from beholder.models.rich_feedback.trainable import RichTrainable
from beholder.models.weights.checkpoint import WEIGHTS
from beholder.tables.provenance import file_hash

BATCH_SIZE = 64
"""Images that are predicted at a time."""

SELECTING = (
    ("plausibility", "pearson"),
    ("alignment", "pearson"),
    ("aesthetics", "pearson"),
    ("implausibility", "heatmap-cc"),
    ("implausibility", "heatmap-auc-judd"),
    ("misalignment", "heatmap-cc"),
    ("misalignment", "keyword-f1-pooled"),
)
"""Aspect and statistic of the figures whose mean selects the best weights."""


def predict_feedback(
    model: RichTrainable, image_cache: ImageCache, examples: Sequence[RichExample], weights: str = ""
) -> RichPredictions:
    """Return the predicted feedback on images with prompts; ``weights`` is the hash of the model's weights."""
    model.module.eval()
    device = next(model.module.parameters()).device
    parts = []
    with ThreadPoolExecutor(THREADS) as pool:
        for batch in batches(examples, BATCH_SIZE):
            inputs = list(pool.map(lambda example: image_cache.model_input(example.image, model, None), batch))
            pixels = torch.from_numpy(np.stack(inputs)).to(device)
            parts.append(model.feedback(pixels, [example.prompt for example in batch]))
    first = parts[0]
    return RichPredictions(
        tuple(example.image for example in examples),
        {aspect: np.concatenate([part.scores[aspect] for part in parts]) for aspect in first.scores},
        {
            aspect: np.concatenate([part.heatmaps[aspect].astype(np.float16) for part in parts])
            for aspect in first.heatmaps
        },
        [chances.astype(np.float32) for part in parts for chances in part.misaligned],
        weights,
    )


def predict_and_save(
    folder: Path, model: RichTrainable, image_cache: ImageCache, examples: Sequence[RichExample]
) -> RichPredictions:
    """Return the predictions of a checkpoint's model, and write them next to its weights."""
    predictions = predict_feedback(model, image_cache, examples, file_hash(folder / WEIGHTS))
    write_predictions(folder / FILE_NAME, predictions)
    return predictions


def read_saved_predictions(folder: Path, examples: Sequence[RichExample]) -> RichPredictions | None:
    """Return the saved predictions of exactly these images by exactly these weights, or None."""
    predictions = read_predictions(folder / FILE_NAME)
    if predictions is None or predictions.images != tuple(example.image for example in examples):
        return None
    return predictions if predictions.weights == file_hash(folder / WEIGHTS) else None


def predictions_by_image(predictions: RichPredictions) -> dict[str, RichPrediction]:
    """Return image -> predicted feedback."""
    return {
        image: RichPrediction(
            {aspect: float(values[index]) for aspect, values in predictions.scores.items()},
            {aspect: maps[index].astype(np.float32) for aspect, maps in predictions.heatmaps.items()},
            predictions.misaligned[index] if predictions.misaligned else None,
        )
        for index, image in enumerate(predictions.images)
    }


def validate(
    model: RichTrainable, image_cache: ImageCache, examples: Sequence[RichExample], rich_labels: RichLabels
) -> Mapping[str, float]:
    """Return the mean of the selecting statistics on the validation images, and each; 0 where undefined."""
    values = rich_statistics(rich_labels, predictions_by_image(predict_feedback(model, image_cache, examples)))
    selecting = {
        f"{aspect}-{statistic}": float(np.nan_to_num(values[aspect, statistic]))
        for aspect, statistic in SELECTING
        if (aspect, statistic) in values
    }
    return {"mean": float(np.mean(list(selecting.values()))) if selecting else float(np.nan), **selecting}
