"""The trivial encoder: the pixels themselves, at 32 × 32. A baseline that every network should beat."""

import numpy as np
from numpy.typing import NDArray

from beholder.errors import WeightsError
from beholder.models.encoders.encoder import Encoder, Vectors
from beholder.models.encoders.preprocessing import Preprocessing

SIDE = 32


def load(name: str, variant: str, weights: str) -> Encoder:  # noqa: ARG001 - as all loaders
    """The encoder; it has no weights to choose."""
    if weights:
        raise WeightsError(f"encoder '{name}' has no weights; leave '{weights}' out")
    return Encoder(name, "none", 3 * SIDE * SIDE, Preprocessing("exact", SIDE, "bicubic"), _flatten)


def _flatten(images: NDArray[np.float32]) -> Vectors:
    return images.reshape(len(images), -1)
