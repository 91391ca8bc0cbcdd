"""Precision, recall, density and coverage of growing sets."""

from pathlib import Path

from beholder.distances.density_coverage import coverage, density
from beholder.distances.neighbours import NEIGHBOURS, neighbours
from beholder.distances.precision_recall import precision, recall
from beholder.distances.result import Distance
from beholder.images.background import DEFAULT_BACKGROUND
from beholder.measure.settings import OFFLINE
from beholder.metrics.set_metric import OwnEncoder, TwoSetMetric
from beholder.models.encoders.encoder import Encoder


class PRDC(TwoSetMetric[dict[str, Distance]]):
    """Precision, recall, density and coverage of generated images, seen in batches; higher is better.

    Args:
        encoder: Whose features are compared: a name of the catalogue, a function from a batch to vectors, or
            ``None`` where ``update`` is called with features.
        k: Nearest neighbours that determine the radius of an image's ball.
        weights: Of the encoder: a folder, a file or a hub name.
        background: What transparent images are flattened on, as #rrggbb.
        level: Of the confidence intervals.
        reset_real_features: Whether ``reset`` forgets the real images too.

    Example:
        >>> import numpy as np
        >>> prdc = PRDC(encoder=None, k=1)
        >>> prdc.update(np.array([[0.0], [1.0], [2.0]]), real=True)
        >>> prdc.update(np.array([[0.5], [9.0]]), real=False)
        >>> float(prdc.compute()["precision"])  # of 0.5 and 9, the first lies in a ball of radius 1
        0.5
    """

    def __init__(
        self,
        encoder: str | Encoder | OwnEncoder | None = OFFLINE,
        *,
        k: int = NEIGHBOURS,
        weights: str | Path | None = None,
        background: str = DEFAULT_BACKGROUND,
        level: float = 0.95,
        reset_real_features: bool = True,
    ) -> None:
        super().__init__(
            encoder,
            weights=weights,
            background=background,
            level=level,
            reset_real_features=reset_real_features,
        )
        self.k = k

    def compute(self) -> dict[str, Distance]:
        """Return the four proportions for all images since the last reset.

        Returns:
            By name, each with its confidence interval and the numbers of images.
        """
        sets = self.sets
        balls = neighbours(sets.real, sets.generated, k=self.k)
        return {
            name: measure(balls, level=self.level)
            for name, measure in (
                *(("precision", precision), ("recall", recall)),
                *(("density", density), ("coverage", coverage)),
            )
        }

    @property
    def identity(self) -> str:
        """The neighbours, the encoder with its weights, and the background."""
        return f"k = {self.k}, {super().identity}"
