"""A rich-feedback model's predictions for images, next to its weights: one ``.npz`` file that numpy alone reads.

Heatmaps are stored in half precision: integer levels of 1/255 would round small values to 0, to which the
divergence from raters' maps is infinite.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from beholder.tables.atomic import write_atomically

FILE_NAME = "predictions.npz"
LARGEST_UNPACKED = 8 << 30
"""Bytes that a file may hold unpacked: many times what 100,000 images need. A larger one is damaged."""


@dataclass(frozen=True, eq=False)
class RichPredictions:
    """Predictions for images in one order; what the model does not predict is empty."""

    images: tuple[str, ...]
    scores: Mapping[str, NDArray[np.float32]]
    """Aspect -> (images,), from 0 to 1."""
    heatmaps: Mapping[str, NDArray[np.float16]]
    """Aspect -> (images, side, side), from 0 to 1."""
    misaligned: Sequence[NDArray[np.float32]]
    """For each image the probability that each word of its prompt is misaligned; nan for words beyond what the
    model reads."""
    weights: str
    """Hash of the model's weights."""


def write_predictions(path: Path, predictions: RichPredictions) -> None:
    """Write the file, atomically."""
    with write_atomically(path) as file:
        np.savez_compressed(
            file,
            images=np.array(predictions.images, np.str_),
            scored=np.array(list(predictions.scores), np.str_),
            scores=np.array(list(predictions.scores.values()), np.float32),
            mapped=np.array(list(predictions.heatmaps), np.str_),
            heatmaps=np.array(list(predictions.heatmaps.values()), np.float16),
            counts=np.array([len(words) for words in predictions.misaligned], np.int64),
            misaligned=np.concatenate([np.empty(0, np.float32), *predictions.misaligned]),
            weights=np.array(predictions.weights, np.str_),
        )


def read_predictions(path: Path) -> RichPredictions | None:
    """Return what was written; nothing where the file is absent or damaged: it can be computed again."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            if sum(entry.file_size for entry in archive.zip.infolist()) > LARGEST_UNPACKED:
                return None
            counts = archive["counts"]
            return RichPredictions(
                tuple(map(str, archive["images"])),
                dict(zip(map(str, archive["scored"]), archive["scores"], strict=True)),
                dict(zip(map(str, archive["mapped"]), archive["heatmaps"], strict=True)),
                np.split(archive["misaligned"], np.cumsum(counts)[:-1]) if len(counts) else [],
                str(archive["weights"]),
            )
    except (OSError, ValueError, KeyError, EOFError, BadZipFile):
        return None
