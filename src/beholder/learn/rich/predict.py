"""What a judge says of images, and how well it does on the validation images."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import torch

from beholder.feedback.predictions import FILE_NAME, RichPredictions, read_predictions, write_predictions
from beholder.images.in_order import batches
from beholder.learn.feed import THREADS, Pictures
from beholder.learn.rich.evaluate import Predicted, rich_values
from beholder.learn.rich.examples import RichExample, RichJudged
from beholder.models.rich_feedback.trainable import RichTrainable
from beholder.models.weights.checkpoint import WEIGHTS
from beholder.tables.provenance import file_hash

SIZE = 64
"""Images that are judged at a time."""

WATCHED = (
    ("plausibility", "pearson"),
    ("alignment", "pearson"),
    ("aesthetics", "pearson"),
    ("implausibility", "heatmap-cc"),
    ("implausibility", "heatmap-auc-judd"),
    ("misalignment", "heatmap-cc"),
    ("misalignment", "keyword-f1-pooled"),
)
"""Aspect and statistic of the figures whose mean says which weights are best."""


def predicted(
    model: RichTrainable, pictures: Pictures, examples: Sequence[RichExample], weights: str = ""
) -> RichPredictions:
    """All that a judge says of images with their prompts."""
    model.module.eval()
    device = next(model.module.parameters()).device
    parts = []
    with ThreadPoolExecutor(THREADS) as pool:
        for portion in batches(examples, SIZE):
            prepared = list(pool.map(lambda one: pictures.prepared(one.image, model, None), portion))
            pixels = torch.from_numpy(np.stack(prepared)).to(device)
            parts.append(model.feedback(pixels, [one.prompt for one in portion]))
    first = parts[0]
    return RichPredictions(
        tuple(one.image for one in examples),
        {aspect: np.concatenate([part.scores[aspect] for part in parts]) for aspect in first.scores},
        {
            aspect: np.concatenate([part.heatmaps[aspect].astype(np.float16) for part in parts])
            for aspect in first.heatmaps
        },
        [chances.astype(np.float32) for part in parts for chances in part.misaligned],
        weights,
    )


def kept_predictions(
    place: Path, model: RichTrainable, pictures: Pictures, examples: Sequence[RichExample]
) -> RichPredictions:
    """The same of a checkpoint's model, written beside its weights."""
    said = predicted(model, pictures, examples, file_hash(place / WEIGHTS))
    write_predictions(place / FILE_NAME, said)
    return said


def found_predictions(place: Path, examples: Sequence[RichExample]) -> RichPredictions | None:
    """What was written of just these images by just these weights, if it was."""
    said = read_predictions(place / FILE_NAME)
    if said is None or said.images != tuple(one.image for one in examples):
        return None
    return said if said.weights == file_hash(place / WEIGHTS) else None


def by_image(said: RichPredictions) -> dict[str, Predicted]:
    """Image -> what is said of it."""
    return {
        image: Predicted(
            {aspect: float(values[place]) for aspect, values in said.scores.items()},
            {aspect: maps[place].astype(np.float32) for aspect, maps in said.heatmaps.items()},
            said.misaligned[place] if said.misaligned else None,
        )
        for place, image in enumerate(said.images)
    }


def look_at(
    model: RichTrainable, pictures: Pictures, examples: Sequence[RichExample], judged: RichJudged
) -> Mapping[str, float]:
    """How the judge does on validation images: the mean of what is watched, and each; 0 where undefined."""
    values = rich_values(judged, by_image(predicted(model, pictures, examples)))
    watched = {
        f"{aspect}-{statistic}": float(np.nan_to_num(values[aspect, statistic]))
        for aspect, statistic in WATCHED
        if (aspect, statistic) in values
    }
    return {"mean": float(np.mean(list(watched.values()))) if watched else float(np.nan), **watched}
