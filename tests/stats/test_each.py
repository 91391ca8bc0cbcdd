"""How work on many parts is done in this process."""

import numpy as np
from threadpoolctl import threadpool_info, threadpool_limits

from beholder.stats.each import in_turn


def blas_threads(_: int = 0) -> set[int]:
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def test_products_have_one_thread_there_and_as_many_as_before_elsewhere() -> None:
    np.eye(2) @ np.eye(2)  # so that the library is there
    with threadpool_limits(2, user_api="blas"):
        answers = in_turn(blas_threads, range(2))
        assert next(answers) == {1}
        assert blas_threads() == {2}  # between two answers
        assert list(answers) == [{1}]
        assert blas_threads() == {2}
