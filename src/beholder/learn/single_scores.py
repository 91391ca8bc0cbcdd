"""How far a single score of a trained model may be off: a conformal half-width for each rated aspect.

It is calibrated on the validation images, which the model was not trained on.
"""

import math
from collections.abc import Mapping, Sequence

from beholder.learn.data_loader import ImageCache
from beholder.learn.evaluate import scores_for
from beholder.learn.examples import Example, Scale
from beholder.learn.predict import predict_images
from beholder.models.trainable import Batch, Trainable
from beholder.stats.prediction.conformal import conformal_width
from beholder.tables.provenance import Plain


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
