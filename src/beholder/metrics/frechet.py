"""The Fréchet distance of growing sets: FID, where the encoder is ``inception-v3-fid``."""

from beholder.distances.frechet import frechet
from beholder.distances.result import Distance
from beholder.metrics.set_metric import TwoSetMetric


class FrechetDistance(TwoSetMetric[Distance]):
    """The Fréchet distance between real and generated images, seen in batches; 0 for identical sets.

    With ``encoder="inception-v3-fid"`` and its weights it is FID, with ``encoder="dinov2"`` FD-DINOv2. All
    features are kept, because the confidence interval needs more than their moments: 50,000 images at 2,048 dims
    take 400 MB.

    Args:
        encoder: Whose features are compared: a name of the catalogue, a function from a batch to vectors, or
            ``None`` where ``update`` is called with features.
        weights: Of the encoder: a folder, a file or a hub name.
        background: What transparent images are flattened on, as #rrggbb.
        level: Of the confidence interval.
        reset_real_features: Whether ``reset`` forgets the real images too.

    Example:
        >>> import numpy as np
        >>> rng = np.random.default_rng(0)
        >>> distance = FrechetDistance(encoder=None)
        >>> for _ in range(4):
        ...     distance.update(rng.normal(0, 1, (50, 2)), real=True)
        ...     distance.update(rng.normal(3, 1, (50, 2)), real=False)
        >>> figure = distance.compute()  # 3² + 3² = 18 if there were no noise
        >>> figure.low < 18 < figure.high
        True
    """

    def compute(self) -> Distance:
        """Return the distance of all images since the last reset.

        Returns:
            Its value, its confidence interval over the sampling of images, and the numbers of images.
        """
        sets = self.sets
        return frechet(sets.real, sets.generated, level=self.level)
