"""The head that beholder carries, with its model card and the hashes of its training images."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from beholder.errors import WeightsError
from beholder.models.encoders.catalogue import load_encoder
from beholder.models.encoders.encoder import Encoder, Vectors
from beholder.models.quality.head import KernelHead, read_head
from beholder.models.quality.training_set import FOLDER, training_images
from beholder.models.shift.detector import ShiftDetector, read_shift_detector
from beholder.models.shift.light import PIXELS
from beholder.models.training_images import TrainingImages
from beholder.models.weights.files import hash_files

HEAD, CARD, SHIFT = "agiqa-quality.safetensors", "agiqa-quality.md", "agiqa-shift.safetensors"
UNSEEN_WIDTH = 1.39
"""The conformal width of quality by leave-one-generator-out: for generators that it was not trained on."""
ENCODERS = ("efficientnet-lite0-moments", "efficientnet-lite0-details")
"""What the head sees; the detector of shifts sees the statistics of pixels as well."""


@dataclass(frozen=True, eq=False)
class QualityModel:
    """Encoders, and a head on their vectors side by side."""

    encoders: tuple[Encoder, ...]
    pixels: Encoder
    """Of the statistics of pixels, which the detector alone uses."""
    head: KernelHead
    detector: ShiftDetector
    sha256: str
    """Of the head's file."""
    detector_sha256: str
    """Of the detector's file."""
    training_images: TrainingImages

    def shifts(self, vectors: Vectors) -> NDArray[np.float64]:
        """Return how unlike the training images each image is; above 1: farther than 95 % of held-out images.

        ``vectors`` are those of the encoders and, after them, the statistics of pixels.
        """
        return self.detector.shifts(self.head, vectors)


@lru_cache(maxsize=1)
def load_quality_model() -> QualityModel:
    """Load the packaged model; other weights of the encoder than those it was trained on are refused."""
    encoders = tuple(load_encoder(name) for name in ENCODERS)
    head, metadata = read_head(FOLDER / HEAD)
    if identities(encoders) != metadata.get("encoders"):
        raise WeightsError(
            f"{HEAD}: trained on {metadata.get('encoders')}; the installed weights are {identities(encoders)}"
        )
    sha256 = hash_files([FOLDER / HEAD])
    detector, of_head = read_shift_detector(FOLDER / SHIFT)
    if of_head != sha256:
        raise WeightsError(f"{SHIFT}: belongs to another {HEAD} than the one beside it")
    pixels = load_encoder(PIXELS)
    return QualityModel(encoders, pixels, head, detector, sha256, hash_files([FOLDER / SHIFT]), training_images())


def identities(encoders: Iterable[Encoder]) -> str:
    """Names and weights of the encoders, as the head's file records them."""
    return ", ".join(encoder.identity for encoder in encoders)
