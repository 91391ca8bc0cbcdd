"""What a model of rich feedback says of images, kept beside its weights: one ``.npz`` file that numpy alone reads.

Heatmaps are kept in half precision: whole levels of 1/255 would turn what is small into 0, to which the divergence
from people's maps is infinite.
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
    """Of images in one order; what the model does not predict is empty."""

    images: tuple[str, ...]
    scores: Mapping[str, NDArray[np.float32]]
    """Aspect -> (images,), from 0 to 1."""
    heatmaps: Mapping[str, NDArray[np.float16]]
    """Aspect -> (images, side, side), from 0 to 1."""
    misaligned: Sequence[NDArray[np.float32]]
    """For each image the chance that each word of its prompt was missed; nan for words past what is read."""
    weights: str
    """Hash of the weights that said so."""


def write_predictions(path: Path, said: RichPredictions) -> None:
    """Write the file; it takes its place as a whole."""
    with write_atomically(path) as file:
        np.savez_compressed(
            file,
            images=np.array(said.images, np.str_),
            scored=np.array(list(said.scores), np.str_),
            scores=np.array(list(said.scores.values()), np.float32),
            mapped=np.array(list(said.heatmaps), np.str_),
            heatmaps=np.array(list(said.heatmaps.values()), np.float16),
            counts=np.array([len(one) for one in said.misaligned], np.int64),
            misaligned=np.concatenate([np.empty(0, np.float32), *said.misaligned]),
            weights=np.array(said.weights, np.str_),
        )


def read_predictions(path: Path) -> RichPredictions | None:
    """What was written; nothing where there is no such file, or a damaged one: it can be made again."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as found:
            if sum(entry.file_size for entry in found.zip.infolist()) > LARGEST_UNPACKED:
                return None
            counts = found["counts"]
            return RichPredictions(
                tuple(map(str, found["images"])),
                dict(zip(map(str, found["scored"]), found["scores"], strict=True)),
                dict(zip(map(str, found["mapped"]), found["heatmaps"], strict=True)),
                np.split(found["misaligned"], np.cumsum(counts)[:-1]) if len(counts) else [],
                str(found["weights"]),
            )
    except (OSError, ValueError, KeyError, EOFError, BadZipFile):
        return None
