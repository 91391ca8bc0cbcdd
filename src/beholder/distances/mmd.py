"""Squared maximum mean discrepancy from sums of a kernel, with the standard error of the jackknife.

MMD² = E k(x, x′) + E k(y, y′) − 2 E k(x, y). The unbiased form leaves k(x, x) out; the biased form includes it and
is never negative. Gretton et al., "A kernel two-sample test" (2012).
"""

import numpy as np
from numpy.typing import NDArray

from beholder.distances.features import Features
from beholder.distances.kernel_sums import Kernel, KernelSums, kernel_sums


def mmd(real: Features, generated: Features, kernel: Kernel, *, unbiased: bool) -> tuple[float, float]:
    """Return MMD² over all pairs of images, and its standard error by leaving out one image at a time.

    The standard error is nan for fewer than three images in either set. For two sets of one distribution it is too
    large by up to √2.
    """
    ones = np.ones((len(real), 1)), np.ones((len(generated), 1))
    return mmd_of_sums(kernel_sums(real, generated, kernel, *ones), unbiased=unbiased)


def mmd_of_sums(sums: KernelSums, *, unbiased: bool) -> tuple[float, float]:
    """Return the same from sums over all images of either set, with weights of 1."""
    n, m = len(sums.real_own), len(sums.generated_own)
    cross = float(sums.to_generated.sum())
    parts = []
    for within, own, outward, count, other in (
        (sums.real[:, 0], sums.real_own, sums.to_generated[:, 0], n, m),
        (sums.generated[:, 0], sums.generated_own, sums.to_real[:, 0], m, n),
    ):
        total = float(within.sum())
        without = _mean_within(total - 2 * within + own, own.sum() - own, count - 1, unbiased=unbiased)
        # What changes when one image is left out: the mean within its set, and the mean across.
        left_out = without - 2 * (cross - outward) / max((count - 1) * other, 1)
        parts.append((_mean_within(np.array(total), own.sum(), count, unbiased=unbiased), left_out, count))
    value = float(parts[0][0] + parts[1][0]) - 2 * cross / (n * m)
    if min(n, m) < 3:
        return value, float("nan")
    variance = sum((count - 1) * float(np.var(left_out)) for _, left_out, count in parts)
    return value, float(np.sqrt(variance))


def _mean_within(
    total: NDArray[np.float64], own: NDArray[np.float64] | float, count: int, *, unbiased: bool
) -> NDArray[np.float64]:
    if unbiased:
        return (total - own) / max(count * (count - 1), 1)
    return total / max(count * count, 1)
