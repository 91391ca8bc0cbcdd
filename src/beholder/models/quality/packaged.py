"""The head that beholder carries, with its model card and the hashes of its training images."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from beholder.errors import WeightsError
from beholder.models.encoders.catalogue import load_encoder
from beholder.models.encoders.encoder import Encoder
from beholder.models.quality.head import KernelHead, read_head
from beholder.models.quality.training_set import FOLDER, training_images
from beholder.models.training_images import TrainingImages
from beholder.models.weights.files import hash_files

HEAD, CARD = "agiqa-quality.safetensors", "agiqa-quality.md"
ENCODERS = ("efficientnet-lite0-moments", "efficientnet-lite0-details")


@dataclass(frozen=True, eq=False)
class QualityModel:
    """Encoders, and a head on their vectors side by side."""

    encoders: tuple[Encoder, ...]
    head: KernelHead
    sha256: str
    """Of the head's file."""
    training_images: TrainingImages


@lru_cache(maxsize=1)
def load_quality_model() -> QualityModel:
    """Load the packaged model; other weights of the encoder than those it was trained on are refused."""
    encoders = tuple(load_encoder(name) for name in ENCODERS)
    head, metadata = read_head(FOLDER / HEAD)
    if identities(encoders) != metadata.get("encoders"):
        raise WeightsError(
            f"{HEAD}: trained on {metadata.get('encoders')}; the installed weights are {identities(encoders)}"
        )
    return QualityModel(encoders, head, hash_files([FOLDER / HEAD]), training_images())


def identities(encoders: Iterable[Encoder]) -> str:
    """Names and weights of the encoders, as the head's file records them."""
    return ", ".join(encoder.identity for encoder in encoders)
