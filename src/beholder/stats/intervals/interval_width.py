"""How wide a confidence interval would be with fewer or more raters like those available."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from beholder.errors import StatisticsError
from beholder.stats.intervals.bootstrap_intervals import percentile_interval


def width_by_raters(
    values: ArrayLike,
    sizes: Sequence[int],
    replicates: int,
    rng: np.random.Generator,
    *,
    level: float = 0.95,
    expand: bool = True,
) -> NDArray[np.float64]:
    """Return the width of the mean's bootstrap confidence interval for each number of raters in ``sizes``.

    ``values`` holds one number per rater; the widths are (sizes,). A replicate takes that many raters with
    replacement, so ``sizes`` may exceed the raters available. The interval is the expanded percentile one, as for
    so many raters (:func:`beholder.stats.intervals.bootstrap_intervals.percentile_interval`); ``expand=False``
    gives the plain one.
    """
    score = np.asarray(values, np.float64)
    if score.ndim != 1 or len(score) < 2 or not np.all(np.isfinite(score)):
        raise StatisticsError(f"interval widths need finite values of at least two raters; found {score.shape}")
    if replicates < 1 or len(sizes) == 0 or min(sizes) < 2:
        raise StatisticsError(
            f"interval widths need replicates, and sizes of at least 2; found {replicates} and {list(sizes)}"
        )
    widths = np.empty(len(sizes))
    for place, size in enumerate(sizes):
        means = score[rng.integers(0, len(score), (replicates, size))].mean(axis=1)  # (replicates,)
        low, high = percentile_interval(means[:, None], size, level=level, expand=expand)
        widths[place] = high[0] - low[0]
    return widths
