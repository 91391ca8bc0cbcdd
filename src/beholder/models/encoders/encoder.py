"""An encoder: a network with its weights and its preprocessing, from images to feature vectors."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from beholder.images.in_order import batches
from beholder.models.encoders.preprocessing import Preprocessing

if TYPE_CHECKING:
    import torch

WithGradients: TypeAlias = "Callable[[torch.Tensor], torch.Tensor]"
"""From prepared images (images, 3, side, side) to vectors (images, dims), through which gradients flow."""

Vectors = NDArray[np.float32]
"""(images, dims)"""

BATCH = 16
"""Images per forward pass: enough to keep a core busy, few enough for its cache."""


@dataclass(frozen=True)
class Encoder:
    """From images to vectors, identified by its name, the hash of its weights and its preprocessing."""

    name: str
    weights: str
    """SHA-256 of the weights, or a fixed string where there are none."""
    dims: int
    preprocessing: Preprocessing
    network: Callable[[NDArray[np.float32]], Vectors]
    """From prepared images (images, 3, side, side) to vectors; may be called by several threads at once."""
    threads: Callable[[int], AbstractContextManager[object]] = lambda _: nullcontext()
    """A context in which the network shares the cores with this number of workers."""
    parts: Mapping[str, slice] = field(default_factory=dict, compare=False)
    """Columns that are the vectors of another encoder with the same weights and preprocessing, by its name."""
    groups: tuple[int, ...] = field(default=(), compare=False)
    """Numbers of columns that belong together, such as the means of one stage, in order; empty: all of them."""
    gradients: "WithGradients | None" = field(default=None, compare=False)
    """The same network with gradients towards the images; ``None`` where there are none."""

    @property
    def identity(self) -> str:
        """Name and weights, as results record them."""
        return f"{self.name}@{self.weights[:12]}"

    def encode(self, images: Iterable[NDArray[np.uint8]]) -> Vectors:
        """Vectors of images in memory, each (height, width, 3), a batch at a time."""
        vectors = [
            self.network(np.stack([self.preprocessing.prepare(Image.fromarray(image)) for image in batch]))
            for batch in batches(images, BATCH)
        ]
        return np.concatenate(vectors) if vectors else np.empty((0, self.dims), np.float32)
