"""The head of alignment that beholder carries, on the encoders and the head of the packaged model of quality."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from beholder.errors import WeightsError
from beholder.models.alignment.classifier import Classifier, load_classifier
from beholder.models.alignment.comparison import Floats, rowwise
from beholder.models.alignment.head import AlignmentHead, read_alignment_head
from beholder.models.encoders.encoder import Vectors
from beholder.models.quality.packaged import ENCODERS, QualityModel, load_quality_model
from beholder.models.text.sentence_encoder import SentenceEncoder, load_sentence_encoder
from beholder.models.weights.files import hash_files

FOLDER = Path(__file__).parent
HEAD, CARD = "agiqa-alignment.safetensors", "agiqa-alignment.md"


@dataclass(frozen=True, eq=False)
class AlignmentModel:
    """The heads of quality and alignment, the network's classifier, and the sentence encoder."""

    quality: QualityModel
    head: AlignmentHead
    classifier: Classifier
    sentences: SentenceEncoder
    sha256: str
    """Of the head's file."""

    def scores(self, vectors: Vectors, prompts: Sequence[str]) -> Floats:
        """Alignment of images, by the vectors of the encoders of quality side by side, with their prompts."""
        return self.head.scores(self.features(vectors, prompts))

    def features(self, vectors: Vectors, prompts: Sequence[str]) -> Floats:
        """What the head sees, (images, features)."""
        alone = self.quality.head.refitted(self.head.coefficients, self.head.intercept)
        image_scores = np.column_stack([self.quality.head.scores(vectors), alone.scores(vectors)])
        sentences = self.sentences.encode(prompts).astype(np.float64)
        return self.head.features(image_scores, self.classifier.classify(vectors), prompts, sentences)

    def class_similarities(self, vectors: Vectors, prompts: Sequence[str]) -> Floats:
        """Cosine of each prompt with what the network sees, by class names alone: not trained on raters."""
        combined = self.head.comparison.combinations(self.classifier.classify(vectors).logits)
        return rowwise(combined, self.sentences.encode(prompts).astype(np.float64))


@lru_cache(maxsize=1)
def load_alignment_model() -> AlignmentModel:
    """Load the packaged model; other weights than those that it was trained on are refused."""
    quality, sentences = load_quality_model(), load_sentence_encoder()
    head, metadata = read_alignment_head(FOLDER / HEAD)
    _refuse_other_weights(metadata, {"quality": quality.sha256, "sentences": sentences.identity})
    return AlignmentModel(quality, head, load_classifier(ENCODERS[0]), sentences, hash_files([FOLDER / HEAD]))


def load_class_names() -> Floats:
    """Unit vectors of the names and definitions of ImageNet's classes, (classes, text dims).

    They are in the packaged file, and of the packaged sentence encoder; another one is refused.
    """
    head, metadata = read_alignment_head(FOLDER / HEAD)
    _refuse_other_weights(metadata, {"sentences": load_sentence_encoder().identity})
    return head.comparison.names


def _refuse_other_weights(metadata: Mapping[str, str], expected: Mapping[str, str]) -> None:
    wrong = [name for name, installed in expected.items() if metadata.get(name) != installed]
    if wrong:
        pairs = (f"{name}: {metadata.get(name)}, installed: {expected[name]}" for name in wrong)
        raise WeightsError(f"{HEAD}: trained on other weights ({'; '.join(pairs)})")
