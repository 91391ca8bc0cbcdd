"""Kernel distance: MMD² with the polynomial kernel (x·y/dims + 1)³ (KID, where the features are Inception's).

Bińkowski et al., "Demystifying MMD GANs" (2018). :func:`kernel_distance` takes every pair of images once: the
unbiased estimate of least variance. :func:`kernel_subsets` is the form that other tools report, the mean over
random subsets, which has the same expectation and more variance.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from beholder.distances.features import Features, checked_pair
from beholder.distances.kernel_sums import Kernel, kernel_sums
from beholder.distances.mmd import mmd
from beholder.distances.result import Distance, normal_quantile
from beholder.errors import StatisticsError


def kernel_distance(real: ArrayLike, generated: ArrayLike, *, level: float = 0.95) -> Distance:
    """Return the unbiased MMD² over all pairs; for two sets of one distribution about 0, and as often below it."""
    z = normal_quantile(level)
    real_features, generated_features = checked_pair("kernel distance", real, generated)
    value, error = mmd(real_features, generated_features, cubic(real_features.shape[1]), unbiased=True)
    return Distance(
        name="kernel",
        value=value,
        low=value - z * error,
        high=value + z * error,
        level=level,
        method="jackknife over images",
        real=len(real_features),
        generated=len(generated_features),
        dims=real_features.shape[1],
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
    """Return the mean unbiased MMD² over random subsets of ``size`` images of each set, as other tools do.

    Where there are fewer images, a subset is all of them. The interval is the central 95 % of the subsets: the
    range of a single subset of that size.
    """
    real_features, generated_features = checked_pair("kernel distance", real, generated)
    return subsets_distance(
        partial(kernel_of_subsets, real_features, generated_features),
        len(real_features),
        len(generated_features),
        real_features.shape[1],
        rng=rng,
        subsets=subsets,
        size=size,
        level=level,
    )


SubsetRows = list[tuple[NDArray[np.int64], NDArray[np.int64]]]
"""The rows of each subset in either set."""


def subsets_distance(
    values_of: Callable[[SubsetRows], NDArray[np.float64]],
    real: int,
    generated: int,
    dims: int,
    *,
    rng: np.random.Generator,
    subsets: int,
    size: int,
    level: float,
) -> Distance:
    """Draw subsets of sets of so many images, and return the mean and the middle of their values."""
    normal_quantile(level)
    if subsets < 2 or size < 2:
        raise StatisticsError(f"kernel distance: 2 subsets of 2 images are the least; found {subsets}, {size}")
    subset_size = min(size, real, generated)
    subset_rows = [
        (rng.choice(real, subset_size, replace=False), rng.choice(generated, subset_size, replace=False))
        for _ in range(subsets)
    ]
    values = values_of(subset_rows)
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return Distance(
        name="kernel_subsets",
        value=float(values.mean()),
        low=float(low),
        high=float(high),
        level=level,
        method=f"middle {level:.0%} of subsets",
        real=real,
        generated=generated,
        dims=dims,
        settings={"subsets": subsets, "size": subset_size},
    )


def kernel_of_subsets(real: Features, generated: Features, subset_rows: SubsetRows) -> NDArray[np.float64]:
    """Return the unbiased MMD² of each pair of subsets, given as rows of each set; all subsets have one size.

    Where subsets overlap so much that all pairs of images are fewer than the pairs within subsets, the kernel is
    computed once for all pairs, and summed by subset.
    """
    size = len(subset_rows[0][0])
    kernel = cubic(real.shape[1])
    if (len(real) + len(generated)) ** 2 > len(subset_rows) * (2 * size) ** 2:
        ones = np.ones((size, 1))
        return np.array(
            [
                _unbiased(*_totals(real[rows], generated[columns], kernel, ones, ones), size)[0]
                for rows, columns in subset_rows
            ]
        )
    real_members, generated_members = (
        np.zeros((len(real), len(subset_rows))),
        np.zeros((len(generated), len(subset_rows))),
    )
    for subset, (rows, columns) in enumerate(subset_rows):
        real_members[rows, subset] = 1
        generated_members[columns, subset] = 1
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
    """Sums over pairs of different images within the sets, and over pairs across, for each column of members."""
    sums = kernel_sums(real, generated, kernel, real_members, generated_members)
    within = np.einsum("ns,ns->s", real_members, sums.real) - sums.real_own @ real_members
    within += np.einsum("ns,ns->s", generated_members, sums.generated) - sums.generated_own @ generated_members
    return within, np.einsum("ns,ns->s", real_members, sums.to_generated)


def _unbiased(within: NDArray[np.float64], across: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    return within / (size * (size - 1)) - 2 * across / size**2
