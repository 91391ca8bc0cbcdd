"""Sums of roots of eigenvalues, by hand and against another library."""

import numpy as np
import pytest
from scipy import linalg
from threadpoolctl import threadpool_info

from beholder.distances.eigenvalues import Symmetric, sums_of_roots


def test_by_hand() -> None:
    # [[2, 1], [1, 2]] has the eigenvalues 1 and 3; what lies below the diagonal does not count
    sums = sums_of_roots(
        [Symmetric(np.array([[2.0, 1.0], [np.nan, 2.0]])), Symmetric(np.diag([4.0, 9.0, -1e-18]))]
    )
    assert sums == pytest.approx([1 + 3**0.5, 5])
    assert sums_of_roots([]) == []


def test_the_smallest_ones_can_be_known_to_be_0() -> None:
    matrix = np.diag([1e-16, 4.0])
    assert sums_of_roots([Symmetric(matrix, zeros=1)]) == [2.0]
    assert sums_of_roots([Symmetric(matrix)]) != [2.0]


@pytest.mark.parametrize("count", [1, 5])
def test_as_many_as_there_are_and_in_their_order(count: int) -> None:
    before = [matrix["num_threads"] for matrix in threadpool_info()]
    rng = np.random.default_rng(0)
    matrices = [(rows := rng.standard_normal((40, 30))).T @ rows for _ in range(count)]
    expected = [np.sqrt(linalg.eigvalsh(matrix)).sum() for matrix in matrices]
    assert sums_of_roots([Symmetric(np.triu(matrix)) for matrix in matrices]) == pytest.approx(expected, rel=1e-12)
    assert [matrix["num_threads"] for matrix in threadpool_info()] == before
