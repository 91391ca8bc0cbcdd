"""How unlike the training images of a trained model an image is, as a scorer; the model itself is not loaded."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from beholder.models.encoders.encoder import Vectors
from beholder.models.shift.light import load_warning
from beholder.models.training_images import SHIFT_ASPECT, SHIFT_FILE
from beholder.models.weights.files import hash_files
from beholder.scorers.scorer import Scorer, by_vectors


def load(folder: Path, _aspect: str | None, _device: str | None) -> Scorer:
    """Load the warning of a model of any kind; above 1: unlike its training images."""
    loaded = load_warning(folder)

    def of_vectors(vectors: Vectors, _: Sequence[str | None]) -> NDArray[np.float64]:
        return loaded.warning.shifts(vectors)

    name = f"{folder}:{SHIFT_ASPECT}"
    identity = f"{folder.resolve().name}:{SHIFT_ASPECT}@{hash_files([folder / SHIFT_FILE])[:12]}"
    remark = f"{name}: above 1: unlike its training images, as no more than 5 % of these are; usual ones are at 0"
    return by_vectors(name, identity, loaded.encoders, of_vectors, remark=remark)
