"""Distances between two growing sets of images."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike

from beholder.distances.catalogue import DISTANCES, Sets, compute_distances
from beholder.distances.result import Distance
from beholder.errors import UserError, unknown_name
from beholder.images.background import DEFAULT_BACKGROUND, checked_background
from beholder.images.in_memory import InMemory, Tensor, pixels_of
from beholder.measure.settings import OFFLINE
from beholder.metrics.metric import Metric, Rows
from beholder.models.encoders.catalogue import load_encoder
from beholder.models.encoders.encoder import Encoder

Batch: TypeAlias = InMemory | Sequence[InMemory]
"""Images of one batch: Pillow images, arrays with channels last, or tensors with channels first; bytes, or numbers
from 0 to 1."""

OwnEncoder: TypeAlias = Callable[[Batch], ArrayLike | Tensor]
"""A network of the caller's own, from a batch as it is to vectors (images, dims)."""

Figure_co = TypeVar("Figure_co", covariant=True)


class TwoSetMetric(Metric[Figure_co]):
    """Features of real and of generated images."""

    names = ("real", "generated")

    def __init__(
        self,
        encoder: str | Encoder | OwnEncoder | None = OFFLINE,
        *,
        weights: str | Path | None = None,
        background: str = DEFAULT_BACKGROUND,
        level: float = 0.95,
        seed: int = 0,
        reset_real_features: bool = True,
    ) -> None:
        super().__init__()
        self.encoder = load_encoder(encoder, weights) if isinstance(encoder, str) else encoder
        self.background = checked_background(background)
        self.level = level
        self.seed = seed
        self.reset_real_features = reset_real_features

    def update(self, images: Batch | ArrayLike, real: bool) -> None:
        """Add a batch of images.

        Args:
            images: Pillow images, arrays with channels last or tensors with channels first, of bytes or of numbers
                from 0 to 1; where the metric has no encoder, their features (images, dims).
            real: Whether they are real; else they are generated.
        """
        vectors = self._vectors(images)
        if vectors.ndim != 2:
            raise UserError(f"features have the shape (images, dims); found {vectors.shape}")
        self._append("real" if real else "generated", vectors)

    def reset(self) -> None:
        """Forget the generated images, and the real ones unless ``reset_real_features`` is off."""
        self._batches["generated"].clear()
        if self.reset_real_features:
            self._batches["real"].clear()

    @property
    def identity(self) -> str:
        """The encoder with its weights, and the background of transparent images."""
        if isinstance(self.encoder, Encoder):
            return f"{self.encoder.identity}, {self.encoder.preprocessing.version}, {self.background}"
        return "own features" if self.encoder is None else "own encoder"

    @property
    def sets(self) -> Sets:
        """Both sets of features, as the distances take them."""
        return Sets(self._rows("real"), self._rows("generated"), seed=self.seed, level=self.level)

    def _vectors(self, images: Batch | ArrayLike) -> Rows:
        if self.encoder is None:
            return _as_floats(images)
        if isinstance(self.encoder, Encoder):
            return self.encoder.encode(pixels_of(images, self.background))  # type: ignore[arg-type] # checked there
        return _as_floats(self.encoder(images))  # type: ignore[arg-type] # as the caller's encoder takes it


class ImageSetMetric(TwoSetMetric[Distance]):
    """Any distance of the catalogue that compares two sets of images, or looks at the generated ones alone.

    Args:
        metric: Its name, such as ``frechet_infinity``, ``cmmd`` or ``vendi``.
        encoder: Whose features are compared: a name of the catalogue, a function from a batch to vectors, or
            ``None`` where ``update`` is called with features.
        weights: Of the encoder: a folder, a file or a hub name.
        background: What transparent images are flattened on, as #rrggbb.
        level: Of the confidence interval.
        seed: Of metrics that sample subsets.
        reset_real_features: Whether ``reset`` forgets the real images too.

    Example:
        >>> import numpy as np
        >>> rng = np.random.default_rng(0)
        >>> vendi = ImageSetMetric("vendi", encoder="pixel")
        >>> vendi.update(rng.integers(0, 256, (12, 8, 8, 3), dtype=np.uint8), real=False)
        >>> 1 <= vendi.compute().value <= 12
        True
    """

    def __init__(
        self,
        metric: str,
        encoder: str | Encoder | OwnEncoder | None = OFFLINE,
        *,
        weights: str | Path | None = None,
        background: str = DEFAULT_BACKGROUND,
        level: float = 0.95,
        seed: int = 0,
        reset_real_features: bool = True,
    ) -> None:
        offered = [name for name, recipe in DISTANCES.items() if not {"train", "logits"} & set(recipe.needs)]
        if metric not in offered:
            raise UserError(unknown_name("metric", metric, offered))
        super().__init__(
            encoder,
            weights=weights,
            background=background,
            level=level,
            seed=seed,
            reset_real_features=reset_real_features,
        )
        self.metric = metric

    def compute(self) -> Distance:
        """Return the distance of all images since the last reset.

        Returns:
            Its value, its confidence interval over the sampling of images, and the numbers of images.
        """
        return compute_distances([self.metric], self.sets)[self.metric]

    @property
    def identity(self) -> str:
        """The metric, the encoder with its weights, and the background."""
        return f"{self.metric}, {super().identity}"


def _as_floats(vectors: object) -> Rows:
    array = vectors.detach().cpu().numpy() if isinstance(vectors, Tensor) else np.asarray(vectors)
    return cast("Rows", array) if array.dtype in (np.float32, np.float64) else array.astype(np.float64)
