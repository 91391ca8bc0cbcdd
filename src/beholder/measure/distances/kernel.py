"""Kernel distance: MMD² with the polynomial kernel (x·y/dims + 1)³ (KID, where the features are Inception's).

Bińkowski et al., "Demystifying MMD GANs" (2018). :func:`kernel_distance` takes every pair of images once: the
unbiased estimate of least variance. :func:`kernel_subsets` is the form that other tools report, the mean over
random subsets, which adds the chance of the draw to a number that is expected to be the same.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from beholder.errors import StatisticsError
from beholder.measure.distances.features import Features, checked_pair
from beholder.measure.distances.kernel_sums import Kernel, kernel_sums
from beholder.measure.distances.mmd import mmd
from beholder.measure.distances.result import Distance, normal_quantile


def kernel_distance(real: ArrayLike, generated: ArrayLike, *, level: float = 0.95) -> Distance:
    """Return the unbiased MMD² over all pairs; about 0, and as often below, for sets of one distribution."""
    z = normal_quantile(level)
    one, two = checked_pair("kernel distance", real, generated)
    value, error = mmd(one, two, cubic(one.shape[1]), unbiased=True)
    return Distance(
        name="kernel",
        value=value,
        low=value - z * error,
        high=value + z * error,
        level=level,
        method="jackknife over images",
        real=len(one),
        generated=len(two),
        dims=one.shape[1],
    )


def kernel_subsets(
    real: ArrayLike,
    generated: ArrayLike,
    *,
    rng: np.random.Generator,
    subsets: int = 100,
    size: int = 1000,
    level: float = 0.95,
) -> Distance:
    """Return the mean unbiased MMD² over random subsets of ``size`` images a side, as other tools do.

    Where there are fewer images, a subset is all of them. The interval is the middle 95 % of the subsets: what a
    single one of that size would give.
    """
    normal_quantile(level)
    if subsets < 2 or size < 2:
        raise StatisticsError(f"kernel distance: 2 subsets of 2 images are the least; found {subsets}, {size}")
    one, two = checked_pair("kernel distance", real, generated)
    drawn = min(size, len(one), len(two))
    picked = [
        (rng.choice(len(one), drawn, replace=False), rng.choice(len(two), drawn, replace=False))
        for _ in range(subsets)
    ]
    values = kernel_of_subsets(one, two, picked)
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return Distance(
        name="kernel_subsets",
        value=float(values.mean()),
        low=float(low),
        high=float(high),
        level=level,
        method=f"middle {level:.0%} of subsets",
        real=len(one),
        generated=len(two),
        dims=one.shape[1],
        settings={"subsets": subsets, "size": drawn},
    )


def kernel_of_subsets(
    real: Features, generated: Features, picked: list[tuple[NDArray[np.int64], NDArray[np.int64]]]
) -> NDArray[np.float64]:
    """Return the unbiased MMD² of each pair of subsets, given as rows of each set; all subsets are of one size.

    Where subsets overlap so much that all pairs of images are fewer than the pairs within subsets, the kernel is
    computed once for all pairs, and summed by subset.
    """
    size = len(picked[0][0])
    kernel = cubic(real.shape[1])
    if (len(real) + len(generated)) ** 2 > len(picked) * (2 * size) ** 2:
        one = np.ones((size, 1))
        return np.array(
            [
                _unbiased(*_totals(real[rows], generated[columns], kernel, one, one), size)[0]
                for rows, columns in picked
            ]
        )
    real_members, generated_members = np.zeros((len(real), len(picked))), np.zeros((len(generated), len(picked)))
    for place, (rows, columns) in enumerate(picked):
        real_members[rows, place] = 1
        generated_members[columns, place] = 1
    return _unbiased(*_totals(real, generated, kernel, real_members, generated_members), size)


def cubic(dims: int) -> Kernel:
    """The kernel (x·y/dims + 1)³."""

    def values(
        products: NDArray[np.float64],
        rows: NDArray[np.float64],  # noqa: ARG001
        columns: NDArray[np.float64],  # noqa: ARG001
    ) -> NDArray[np.float64]:
        products /= dims
        products += 1
        squared = products * products
        products *= squared
        return products

    return values


def _totals(
    real: Features,
    generated: Features,
    kernel: Kernel,
    real_members: NDArray[np.float64],
    generated_members: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Sums over unequal pairs within, and over pairs across, for each column of members."""
    sums = kernel_sums(real, generated, kernel, real_members, generated_members)
    within = np.einsum("ns,ns->s", real_members, sums.real) - sums.real_own @ real_members
    within += np.einsum("ns,ns->s", generated_members, sums.generated) - sums.generated_own @ generated_members
    return within, np.einsum("ns,ns->s", real_members, sums.to_generated)


def _unbiased(within: NDArray[np.float64], across: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    return within / (size * (size - 1)) - 2 * across / size**2
