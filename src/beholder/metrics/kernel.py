"""The kernel distance of growing sets: KID, where the encoder is ``inception-v3-fid``."""

from pathlib import Path

import numpy as np

from beholder.distances.kernel import kernel_distance, kernel_subsets
from beholder.distances.result import Distance
from beholder.errors import UserError
from beholder.images.background import DEFAULT_BACKGROUND
from beholder.measure.settings import OFFLINE
from beholder.metrics.set_metric import OwnEncoder, TwoSetMetric
from beholder.models.encoders.encoder import Encoder


class KernelDistance(TwoSetMetric[Distance]):
    """The unbiased kernel distance (MMD², cubic kernel) between real and generated images, seen in batches.

    By default over all pairs of images, without the noise of random subsets. With ``subsets``, the mean over so
    many random subsets of ``subset_size`` images, as KID was published: over ``inception-v3-fid``, 100 of 1,000.

    Args:
        encoder: Whose features are compared: a name of the catalogue, a function from a batch to vectors, or
            ``None`` where ``update`` is called with features.
        subsets: How many; ``None``: all pairs of images.
        subset_size: Images of each set in a subset; all where there are fewer.
        weights: Of the encoder: a folder, a file or a hub name.
        background: What transparent images are flattened on, as #rrggbb.
        level: Of the confidence interval.
        seed: Of the choice of subsets.
        reset_real_features: Whether ``reset`` forgets the real images too.

    Example:
        >>> distance = KernelDistance(encoder=None)
        >>> distance.update([[0.0], [2.0]], real=True)
        >>> distance.update([[1.0], [1.0]], real=False)
        >>> float(distance.compute())  # 1³ + 2³ − 2 (1³ + 3³ + 1³ + 3³) / 4 = 9 − 28
        -19.0
    """

    def __init__(
        self,
        encoder: str | Encoder | OwnEncoder | None = OFFLINE,
        *,
        subsets: int | None = None,
        subset_size: int = 1000,
        weights: str | Path | None = None,
        background: str = DEFAULT_BACKGROUND,
        level: float = 0.95,
        seed: int = 0,
        reset_real_features: bool = True,
    ) -> None:
        if subsets is not None and (subsets < 2 or subset_size < 2):
            raise UserError(f"at least 2 subsets of 2 images are needed; found {subsets} of {subset_size}")
        super().__init__(
            encoder,
            weights=weights,
            background=background,
            level=level,
            seed=seed,
            reset_real_features=reset_real_features,
        )
        self.subsets = subsets
        self.subset_size = subset_size

    def compute(self) -> Distance:
        """Return the distance of all images since the last reset; below 0 at times, as it is unbiased.

        Returns:
            Its value, its confidence interval over the sampling of images, and the numbers of images.
        """
        sets = self.sets
        if self.subsets is None:
            return kernel_distance(sets.real, sets.generated, level=self.level)
        return kernel_subsets(
            sets.real,
            sets.generated,
            rng=np.random.default_rng(self.seed),
            subsets=self.subsets,
            size=self.subset_size,
            level=self.level,
        )

    @property
    def identity(self) -> str:
        """The subsets, the encoder with its weights, and the background."""
        subsets = "all pairs" if self.subsets is None else f"{self.subsets} subsets of {self.subset_size}"
        return f"{subsets}, {super().identity}"
