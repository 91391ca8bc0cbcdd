"""Eigenvalues of several symmetric matrices at once, each on a core of its own.

The reduction to a tridiagonal matrix is bound by memory bandwidth: two cores on one matrix are little faster than
one, but two matrices on two cores are. NumPy releases the global interpreter lock meanwhile; SciPy does not.
"""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits


@dataclass(frozen=True, eq=False)
class Symmetric:
    """A symmetric matrix given by its upper triangle; its ``zeros`` smallest eigenvalues are known to be 0."""

    upper: NDArray[np.float64]
    zeros: int = 0


def sums_of_roots(matrices: Sequence[Symmetric]) -> list[float]:
    """Return the sum of the roots of the eigenvalues of each matrix; those below 0 by rounding count as 0."""
    workers = min(len(matrices), os.cpu_count() or 1)
    if workers < 2:
        return [_sum_of_roots(matrix) for matrix in matrices]
    with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(workers) as pool:
        return list(pool.map(_sum_of_roots, matrices))


def _sum_of_roots(matrix: Symmetric) -> float:
    squares = np.linalg.eigvalsh(matrix.upper, UPLO="U")[matrix.zeros :]
    return float(np.sqrt(np.maximum(squares, 0)).sum())
