"""An auxiliary task for models of raters' scores: to tell the generators of the training images from each other.

Much of what raters see in an image is common to the images of its generator, and which generator made an image is
known without asking anybody. So a hidden layer may learn what serves the scores by telling generators from each
other as well. Scores do not use the answer: any generator's images have one.
"""

import torch
from torch.nn import functional

from beholder.models.trainable import UNKNOWN_GENERATOR, Batch


def generator_loss(logits: torch.Tensor, batch: Batch) -> torch.Tensor:
    """The mean cross entropy over the images whose generator is known, 0 where none is.

    Args:
        logits: (images, classes). With more generators than classes, several count as the same.
        batch: The images, with the numbers of their generators if these are known.

    Returns:
        A scalar with a gradient, so that every parameter takes part in every step.
    """
    if batch.generator_of is None:
        return logits.sum() * 0.0
    is_known = batch.generator_of != UNKNOWN_GENERATOR
    classes = torch.where(is_known, batch.generator_of % logits.shape[1], UNKNOWN_GENERATOR)
    summed = functional.cross_entropy(logits, classes, ignore_index=UNKNOWN_GENERATOR, reduction="sum")
    return summed / is_known.sum().clamp_min(1)
