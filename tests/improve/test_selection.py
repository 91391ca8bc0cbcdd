"""The best of n, and thresholds from held-out labels, by hand."""

import numpy as np
import pytest

from beholder.errors import StatisticsError
from beholder.improve.selection import best_of, choose_threshold


def test_the_best_of_each_prompt() -> None:
    assert best_of([[0.1, 0.9, 0.9], [0.5, 0.4, 0.3]]).tolist() == [1, 0]


def test_the_least_threshold_that_is_good_enough() -> None:
    """Scores 0 … 99; images are good from 60 on. Of the 50 from 50 on, 40 are good: Wilson [.670, .888]."""
    scores = np.arange(100.0)
    chosen = choose_threshold(scores, scores, good=60.0, precision=0.66)
    assert chosen.threshold == 50.0
    assert chosen.precision == pytest.approx(0.8)
    assert (round(chosen.low, 3), round(chosen.high, 3)) == (0.67, 0.888)
    assert chosen.passed == pytest.approx(0.5)
    assert chosen.reached


def test_where_no_threshold_is_good_enough() -> None:
    rng = np.random.default_rng(0)
    chosen = choose_threshold(rng.normal(0, 1, 60), rng.normal(0, 1, 60), precision=0.95)
    assert not chosen.reached
    assert chosen.low < 0.95


def test_too_few_labels() -> None:
    with pytest.raises(StatisticsError, match="at least 10"):
        choose_threshold([1.0], [1.0])
