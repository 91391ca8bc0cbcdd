"""How work on many parts is done in this process."""

import os
import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from beholder.stats.each import in_threads, in_turn


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


def test_several_threads_at_a_time_with_one_thread_for_products(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    meet = threading.Barrier(3)  # broken unless three parts are worked on together

    def work(part: int) -> tuple[int, set[int]]:
        meet.wait(timeout=30)
        return part, blas_threads()

    np.eye(2) @ np.eye(2)
    with threadpool_limits(2, user_api="blas"):
        answers = in_threads(work, iter(range(6)))
        assert next(answers) == (0, {1})
        assert blas_threads() == {2}  # between two answers
        assert list(answers) == [(part, {1}) for part in range(1, 6)]


def test_a_fault_of_one_part_is_raised_and_threads_are_as_before() -> None:
    with threadpool_limits(2, user_api="blas"):
        with pytest.raises(ZeroDivisionError):
            list(in_threads(lambda part: 1 // part, [1, 0]))
        assert blas_threads() <= {2}
