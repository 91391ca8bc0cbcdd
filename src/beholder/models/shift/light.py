"""What a warning of unlike images looks at: vectors of a light encoder, or, without its package, pixels alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from beholder.errors import WeightsError
from beholder.models.encoders.catalogue import ENCODERS, load_encoder
from beholder.models.encoders.encoder import Encoder, Vectors
from beholder.models.shift.warning import ShiftWarning, read_warning
from beholder.models.training_images import SHIFT_FILE
from beholder.models.weights.location import file_in_package

LIGHT = ("efficientnet-lite0-details",)
PIXELS = "pixel-statistics"


def light_encoders() -> tuple[Encoder, ...]:
    """Return the light encoder, if its weights are installed, and that of pixels after them."""
    names = [name for name in LIGHT if file_in_package(ENCODERS[name].weights, "models/*.pth")]
    return tuple(load_encoder(name) for name in (*names, PIXELS))


def encode_light(encoders: Sequence[Encoder], images: Sequence[Image.Image]) -> Vectors:
    """Return the vectors of the encoders side by side, (images, dims)."""
    opaque = [image.convert("RGB") for image in images]
    vectors = [
        encoder.network(np.stack([encoder.preprocessing.prepare(image) for image in opaque]))
        for encoder in encoders
    ]
    return np.concatenate(vectors, axis=1)


@dataclass(frozen=True, eq=False)
class LoadedWarning:
    """The warning of a trained model, with its encoders."""

    encoders: tuple[Encoder, ...]
    warning: ShiftWarning

    def shifts(self, images: Sequence[Image.Image]) -> NDArray[np.float64]:
        """Return how unlike the training images each image is, (images,); above 1: unlike them."""
        return self.warning.shifts(encode_light(self.encoders, images))


def load_warning(folder: Path) -> LoadedWarning:
    """Return the warning of a model's folder; an error says why there is none that can be used."""
    warning = read_warning(folder / SHIFT_FILE)
    encoders = tuple(load_encoder(identity.partition("@")[0]) for identity in warning.encoders)
    if (identities := tuple(encoder.identity for encoder in encoders)) != warning.encoders:
        raise WeightsError(
            f"{folder / SHIFT_FILE}: of {', '.join(warning.encoders)}; installed are {', '.join(identities)}"
        )
    return LoadedWarning(encoders, warning)
