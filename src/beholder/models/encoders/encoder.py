"""What an encoder is: a network with its weights and its preprocessing, from images to feature vectors."""

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from beholder.images.in_order import batches
from beholder.models.encoders.preprocessing import Preprocessing

Vectors = NDArray[np.float32]
"""(images, dims)"""

BATCH = 16
"""Images that go through a network together: enough to keep a core busy, few enough for its cache."""


@dataclass(frozen=True)
class Encoder:
    """From images to vectors. Its name, the hash of its weights and its preprocessing say which vectors."""

    name: str
    weights: str
    """SHA-256 of the weights, or what stands for them where there are none."""
    dims: int
    preprocessing: Preprocessing
    network: Callable[[NDArray[np.float32]], Vectors]
    """From prepared images (images, 3, side, side) to vectors; may be called by several threads at once."""
    threads: Callable[[int], AbstractContextManager[object]] = lambda _: nullcontext()
    """Within it, the network shares the cores with so many others of its kind."""

    @property
    def identity(self) -> str:
        """Name and weights, as results record them."""
        return f"{self.name}@{self.weights[:12]}"

    def encode(self, images: Iterable[NDArray[np.uint8]]) -> Vectors:
        """Vectors of images in memory, each (height, width, 3), a batch at a time."""
        parts = [
            self.network(np.stack([self.preprocessing.prepare(Image.fromarray(image)) for image in batch]))
            for batch in batches(images, BATCH)
        ]
        return np.concatenate(parts) if parts else np.empty((0, self.dims), np.float32)
