"""The warning of unlike images that a trained model carries, and its file next to the weights.

Whatever the model's own encoders are, it looks at vectors of a light one (their principal components over the
training images, and what these leave over) and at statistics of pixels.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from beholder.errors import WeightsError
from beholder.models.components import PrincipalComponents
from beholder.models.encoders.encoder import Vectors
from beholder.models.shift.detector import NUMBERS, TENSORS, ShiftDetector, detector_of
from beholder.tables.atomic import write_atomically

FORMAT = 2
"""The files before had distances to training images, and no format."""
ABOUT = "about"
"""The one entry of the metadata, as several are stored in no fixed order."""
OF_COMPONENTS = ("mean", "standard_deviation", "components")


@dataclass(frozen=True, eq=False)
class ShiftWarning:
    """A detector with the encoders and components that it looks at."""

    encoders: tuple[str, ...]
    """Names and weights of the encoders, whose vectors stand side by side; the last is that of pixels."""
    components: PrincipalComponents
    detector: ShiftDetector
    images: int
    """Of the model, that it was trained and calibrated on."""
    altered: int
    """Altered and drawn images, that it was trained against."""

    def shifts(self, vectors: Vectors) -> NDArray[np.float64]:
        """Return the shift of each image, (images,); above 1: unlike the training images."""
        return self.detector.shifts(self.components, vectors)


def write_warning(path: Path, warning: ShiftWarning) -> None:
    """Write the warning as safetensors, in single precision."""
    tensors = {name: getattr(warning.detector, name) for name in TENSORS}
    tensors |= {f"components.{name}": getattr(warning.components, name) for name in OF_COMPONENTS}
    numbers = {name: float(getattr(warning.detector, name)) for name in NUMBERS}
    about = {"encoders": warning.encoders, "images": warning.images, "altered": warning.altered, **numbers}
    stored = {name: np.ascontiguousarray(tensor, np.float32) for name, tensor in tensors.items()}
    with write_atomically(path) as file:
        file.write(save(stored, {ABOUT: json.dumps({"format": FORMAT, **about})}))


def read_warning(path: Path) -> ShiftWarning:
    """Return the warning of a file; an error names one that cannot be read, or is of an earlier version."""
    try:
        with safe_open(path, framework="numpy") as file:
            about = json.loads((file.metadata() or {}).get(ABOUT, "{}"))
            tensors = {name: file.get_tensor(name).astype(np.float64) for name in file.keys()}  # noqa: SIM118
        if about.get("format") != FORMAT:
            raise WeightsError(f"{path}: written by an earlier version; train the model again to be warned")
        return _warning(about, tensors)
    except (OSError, SafetensorError, KeyError, TypeError, ValueError) as error:
        raise WeightsError(f"{path}: not a warning of unlike images that can be read ({error})") from error


def _warning(about: Mapping[str, Any], tensors: Mapping[str, NDArray[np.float64]]) -> ShiftWarning:
    mean, standard_deviation, components = (tensors[f"components.{name}"] for name in OF_COMPONENTS)
    return ShiftWarning(
        encoders=tuple(about["encoders"]),
        components=PrincipalComponents(np.arange(len(mean)), mean, standard_deviation, components),
        detector=detector_of(tensors, {name: float(about[name]) for name in NUMBERS}),
        images=int(about["images"]),
        altered=int(about["altered"]),
    )
