"""How wide an interval would be with fewer or more people like those at hand."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from beholder.errors import StatisticsError
from beholder.stats.intervals.bootstrap_intervals import percentile_interval


def width_by_people(
    values: ArrayLike,
    sizes: Sequence[int],
    draws: int,
    rng: np.random.Generator,
    *,
    level: float = 0.95,
    expand: bool = True,
) -> NDArray[np.float64]:
    """Return the width of the bootstrap interval of the mean for each number of people in ``sizes`` (sizes,).

    ``values`` holds one number a person. A draw takes that many people with replacement, so ``sizes`` may exceed
    the people at hand. The interval is the expanded percentile one, as for so many people
    (:func:`beholder.stats.intervals.bootstrap_intervals.percentile_interval`); ``expand=False`` gives the plain
    one.
    """
    score = np.asarray(values, np.float64)
    if score.ndim != 1 or len(score) < 2 or not np.all(np.isfinite(score)):
        raise StatisticsError(f"interval widths need finite values of at least two people; found {score.shape}")
    if draws < 1 or len(sizes) == 0 or min(sizes) < 2:
        raise StatisticsError(
            f"interval widths need draws, and sizes of at least 2; found {draws} and {list(sizes)}"
        )
    widths = np.empty(len(sizes))
    for place, size in enumerate(sizes):
        means = score[rng.integers(0, len(score), (draws, size))].mean(axis=1)  # (draws,)
        low, high = percentile_interval(means[:, None], size, level=level, expand=expand)
        widths[place] = high[0] - low[0]
    return widths
