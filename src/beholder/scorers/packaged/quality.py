"""The packaged model of image quality as two scorers: the quality, and how unlike its training images it is."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from beholder.models.encoders.encoder import Vectors
from beholder.models.quality.packaged import UNSEEN_WIDTH, load_quality_model
from beholder.scorers.remarks import opinion_remark
from beholder.scorers.scorer import Scorer, by_vectors

SHIFT = "agiqa-shift"


def load(name: str) -> Scorer:
    """Load the scorer of that name: ``agiqa-quality`` or ``agiqa-shift``."""
    model = load_quality_model()

    def score(vectors: Vectors, _: Sequence[str | None]) -> NDArray[np.float64]:
        return model.shifts(vectors) if name == SHIFT else model.head.scores(vectors)

    remark = (
        f"{name}: above 1: less like the training images of agiqa-quality than 95 % of held-out images; usual "
        "ones are at 0"
        if name == SHIFT
        else opinion_remark(name, model.head.conformal_width, UNSEEN_WIDTH)
    )
    identity = f"{name}@{(model.detector_sha256 if name == SHIFT else model.sha256)[:12]}"
    encoders = (*model.encoders, model.pixels) if name == SHIFT else model.encoders
    return by_vectors(name, identity, encoders, score, model.training_images, remark)
