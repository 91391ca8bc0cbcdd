"""The packaged model of alignment as two scorers: what raters would say, and what class names alone say."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from beholder.models.alignment.packaged import load_alignment_model
from beholder.models.encoders.encoder import Vectors
from beholder.scorers.remarks import opinion_remark
from beholder.scorers.scorer import Scorer, by_vectors

CLASS_WORDS = "class-words"


def load(name: str) -> Scorer:
    """Load the scorer of that name: ``agiqa-alignment`` or ``class-words``."""
    model = load_alignment_model()

    def score(vectors: Vectors, prompts: Sequence[str | None]) -> NDArray[np.float64]:
        texts = [prompt or "" for prompt in prompts]
        return model.class_similarities(vectors, texts) if name == CLASS_WORDS else model.scores(vectors, texts)

    identity = f"{name}@{model.sha256[:12]}"
    if name == CLASS_WORDS:
        return by_vectors(name, identity, model.quality.encoders[:1], score)
    remark = opinion_remark(name, model.head.conformal_width, model.head.unseen_width)
    return by_vectors(name, identity, model.quality.encoders, score, model.quality.training_images, remark)
