"""Values in groups (one number per rater, by the generator they judged): the check that group tests start with."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from beholder.errors import StatisticsError


@dataclass(frozen=True, eq=False)
class Grouped:
    """Checked values, and what every group test needs of them."""

    values: NDArray[np.float64]  # (n,)
    groups: NDArray[np.int64]  # (n,) 0 … k − 1
    counts: NDArray[np.int64]  # (k,) at least one each
    means: NDArray[np.float64]  # (k,)

    @property
    def k(self) -> int:
        """How many groups."""
        return len(self.counts)

    @property
    def residuals(self) -> NDArray[np.float64]:
        """Values minus the mean of their group (n,)."""
        return np.asarray(self.values - self.means[self.groups], np.float64)

    @property
    def variances(self) -> NDArray[np.float64]:
        """Unbiased variance of each group (k,); nan for a group of one."""
        squares = np.bincount(self.groups, self.residuals**2, self.k)
        return np.where(self.counts > 1, squares / np.maximum(self.counts - 1, 1), np.nan)


def grouped(values: ArrayLike, groups: ArrayLike) -> Grouped:
    """Check two columns of one length: finite values, and group indices 0 … k − 1 that all occur, k ≥ 2."""
    value, group = np.asarray(values, np.float64), np.asarray(groups)
    if value.ndim != 1 or value.shape != group.shape or len(value) == 0:
        raise StatisticsError(
            f"a group test needs values and groups of one length; found shapes {value.shape}, {group.shape}"
        )
    if group.dtype.kind not in "iu" or group.min() < 0:
        raise StatisticsError(f"groups need to be integer indices from 0; found {group.dtype}")
    if not np.all(np.isfinite(value)):
        raise StatisticsError(
            f"a group test needs finite values; found {int((~np.isfinite(value)).sum())} others; leave them out"
        )
    counts = np.bincount(group)
    if len(counts) < 2 or np.any(counts == 0):
        raise StatisticsError(
            f"a group test needs at least two groups, each with a value; found {np.count_nonzero(counts)} of "
            f"{len(counts)} group indices in use"
        )
    means = np.bincount(group, value) / counts
    return Grouped(value, group.astype(np.int64), counts.astype(np.int64), means)
