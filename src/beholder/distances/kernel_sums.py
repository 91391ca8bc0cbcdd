"""Sums of a kernel over all pairs of images, block by block, from which kernel distances are computed."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beholder.distances.features import Features

Kernel = Callable[[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]]
"""From products x·y, |x|² and |y|², of shapes that broadcast, to kernel values; may overwrite the first."""

_BLOCK = 2048


@dataclass(frozen=True, eq=False)
class KernelSums:
    """Kernel matrices of two sets times columns of weights; a column of ones gives sums over rows."""

    real: NDArray[np.float64]  # K(real, real) · weights of real, (real, columns)
    generated: NDArray[np.float64]  # K(generated, generated) · weights of generated, (generated, columns)
    to_generated: NDArray[np.float64]  # K(real, generated) · weights of generated, (real, columns)
    to_real: NDArray[np.float64]  # K(generated, real) · weights of real, (generated, columns)
    real_own: NDArray[np.float64]  # k(x, x), (real,)
    generated_own: NDArray[np.float64]  # k(y, y), (generated,)


def kernel_sums(
    real: Features,
    generated: Features,
    kernel: Kernel,
    real_weights: NDArray[np.float64],
    generated_weights: NDArray[np.float64],
) -> KernelSums:
    """Return the sums over all pairs, in double precision, with no matrix larger than a block in memory."""
    forward, backward = sums_between(real, generated, kernel, real_weights, generated_weights)
    return KernelSums(
        real=sums_within(real, kernel, real_weights),
        generated=sums_within(generated, kernel, generated_weights),
        to_generated=forward,
        to_real=backward,
        real_own=own_values(real, kernel),
        generated_own=own_values(generated, kernel),
    )


def sums_between(
    real: Features,
    generated: Features,
    kernel: Kernel,
    real_weights: NDArray[np.float64],
    generated_weights: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return K(real, generated) · weights of generated, and K(generated, real) · weights of real."""
    real_squares, generated_squares = _squares(real), _squares(generated)
    forward = np.zeros((len(real), generated_weights.shape[1]))
    backward = np.zeros((len(generated), real_weights.shape[1]))
    for rows in _blocks(len(real)):
        left = real[rows].astype(np.float64)
        for columns in _blocks(len(generated)):
            right = generated[columns].astype(np.float64)
            values = kernel(left @ right.T, real_squares[rows, None], generated_squares[columns])
            forward[rows] += values @ generated_weights[columns]
            backward[columns] += values.T @ real_weights[rows]
    return forward, backward


def sums_within(vectors: Features, kernel: Kernel, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return K(x, x) · weights; each pair of blocks is computed once."""
    squares = _squares(vectors)
    sums = np.zeros((len(vectors), weights.shape[1]))
    for rows in _blocks(len(vectors)):
        left = vectors[rows].astype(np.float64)
        for columns in _blocks(len(vectors)):
            if columns.start < rows.start:
                continue
            same = columns.start == rows.start
            right = left if same else vectors[columns].astype(np.float64)
            values = kernel(left @ right.T, squares[rows, None], squares[columns])
            sums[rows] += values @ weights[columns]
            if not same:
                sums[columns] += values.T @ weights[rows]
    return sums


def own_values(vectors: Features, kernel: Kernel) -> NDArray[np.float64]:
    """Return k(x, x) of every image."""
    squares = _squares(vectors)
    return kernel(squares.copy(), squares, squares)


def _squares(vectors: Features) -> NDArray[np.float64]:
    squares = [np.square(vectors[rows].astype(np.float64)).sum(axis=1) for rows in _blocks(len(vectors))]
    return np.concatenate(squares)


def _blocks(count: int) -> Iterator[slice]:
    for start in range(0, count, _BLOCK):
        yield slice(start, min(start + _BLOCK, count))
