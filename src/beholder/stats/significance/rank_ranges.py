"""The range of ranks that the comparisons of all pairs leave each cell (generator, say): "1–3"."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from beholder.errors import StatisticsError


def rank_ranges(
    first: ArrayLike, second: ArrayLike, advantage: ArrayLike, separated: ArrayLike, cells: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the best and the worst rank of each cell (cells,); rank 1 is best.

        best = 1 + number of cells separated and better,    worst = cells − number of cells separated and worse

    ``first`` and ``second`` (pairs,) are cells, ``advantage`` says by how much the first is better, ``separated``
    whether the pair is significantly different. If no pair is separated falsely, every true rank lies in its
    range; so where the separations allow for all pairs, all ranges hold together at their level.
    """
    left, right = np.asarray(first, np.int64), np.asarray(second, np.int64)
    lead, significant = np.asarray(advantage, np.float64), np.asarray(separated, np.bool_)
    columns = (left, right, lead, significant)
    if any(column.ndim != 1 or column.shape != left.shape for column in columns):
        shapes = ", ".join(str(column.shape) for column in columns)
        raise StatisticsError(f"rank ranges need columns of one length; found {shapes}")
    if cells < 1 or (len(left) and (min(left.min(), right.min()) < 0 or max(left.max(), right.max()) >= cells)):
        raise StatisticsError(f"rank ranges need cells of 0…{cells - 1}, at least one")
    up, down = significant & (lead > 0), significant & (lead < 0)
    better = np.bincount(right[up], minlength=cells) + np.bincount(left[down], minlength=cells)
    worse = np.bincount(left[up], minlength=cells) + np.bincount(right[down], minlength=cells)
    return (1 + better).astype(np.int64), (cells - worse).astype(np.int64)
