"""What is known about a single score of a trained model: its prediction interval, and whether it extrapolates.

Both are calibrated on the validation images, which the model was not trained on: a conformal half-width for each
rated aspect, which is part of the record of the checkpoint, and the distance to the training images, which is
written next to the weights.
"""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from beholder.learn.data_loader import ImageCache
from beholder.learn.evaluate import scores_for
from beholder.learn.examples import Example, Scale
from beholder.learn.predict import predict_images
from beholder.models.encoders.catalogue import load_encoder
from beholder.models.encoders.encoder import Vectors
from beholder.models.quality.packaged import PIXELS
from beholder.models.trainable import Batch, Trainable, UsesEncoders
from beholder.models.training_distance import FEWEST_HELD_OUT, fit_training_distance, write_training_distance
from beholder.models.training_images import SHIFT_FILE
from beholder.stats.prediction.conformal import conformal_width
from beholder.tables.provenance import Plain

MOST_TRAINED, MOST_HELD_OUT = 1000, 500
"""Images that distances are taken to, and that they are calibrated on, at the most; drawn by the seed."""


def interval_widths(
    model: Trainable[Batch],
    image_cache: ImageCache,
    validation: Sequence[Example],
    scales: Mapping[str, Scale],
    size: int,
) -> dict[str, Plain]:
    """Return the 95 % conformal half-width of each aspect that has enough rated validation images."""
    prompts = {image: example.prompt for example in validation for image in example.images}
    scores = predict_images(model, image_cache, list(prompts.items()), scales, size)
    widths: dict[str, Plain] = {}
    for aspect in sorted({aspect for example in validation for aspect in example.ratings}):
        by_image = scores_for(scores, aspect)
        errors = [
            by_image[image] - rating
            for example in validation
            for image, rating in zip(example.images, example.ratings.get(aspect, ()), strict=False)
            if rating is not None
        ]
        width = conformal_width(errors) if errors else math.inf
        if math.isfinite(width):
            widths[aspect] = width
    return widths


def write_shift(
    folder: Path,
    model: Trainable[Batch],
    image_cache: ImageCache,
    trained: Sequence[Example],
    validation: Sequence[Example],
    seed: int,
) -> None:
    """Write how far images are from the training images; with too few validation images there is no file."""
    rng = np.random.default_rng([seed, 22])
    names = [
        _drawn({image for example in examples for image in example.images}, most, rng)
        for examples, most in ((trained, MOST_TRAINED), (validation, MOST_HELD_OUT))
    ]
    if min(map(len, names)) < FEWEST_HELD_OUT:
        (folder / SHIFT_FILE).unlink(missing_ok=True)
        return
    encoders = model.encoders if isinstance(model, UsesEncoders) else ()
    vectors = [_vectors(part, model, image_cache, with_features=bool(encoders)) for part in names]
    distance = fit_training_distance(vectors[0], vectors[1], tuple(encoder.dims for encoder in encoders))
    write_training_distance(folder / SHIFT_FILE, distance)


def _drawn(names: set[str], most: int, rng: np.random.Generator) -> list[str]:
    return [str(name) for name in rng.permutation(sorted(names))[:most]]


def _vectors(
    names: Sequence[str], model: Trainable[Batch], image_cache: ImageCache, *, with_features: bool
) -> Vectors:
    """The vectors of the model's encoders, where it has any, and the statistics of pixels after them."""
    statistics = load_encoder(PIXELS).encode(np.asarray(image_cache.read(name)) for name in names)
    if not with_features:
        return statistics
    features = np.stack([image_cache.model_input(name, model, None) for name in names])
    return np.concatenate([features, statistics], axis=1)
