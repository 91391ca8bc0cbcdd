import numpy as np
import pytest

from beholder.errors import StatisticsError
from beholder.stats.agreement.answers import long_answers, places_by_first_answer


def test_columns_are_counted() -> None:
    answers = long_answers([0, 3], [5, 5], [1, 0.5])
    assert (answers.rater_count, answers.item_count) == (4, 6)
    assert long_answers([0], [0], [1], rater_count=9).rater_count == 9


def test_items_lie_in_the_order_of_their_first_answers() -> None:
    answers = long_answers([0, 0, 1, 1, 2], [4, 2, 2, 0, 4], [1, 2, 3, 4, 5])  # 4 2 0; nobody answered 1 and 3
    assert places_by_first_answer(answers).tolist() == [2, 3, 1, 4, 0]


def test_faults_are_named() -> None:
    with pytest.raises(StatisticsError, match=r"found shapes \(2,\), \(1,\), \(2,\)"):
        long_answers([0, 1], [0], [1, 2])
    with pytest.raises(StatisticsError, match="integer indices from 0; found float64"):
        long_answers([0.0], [0], [1])
    with pytest.raises(StatisticsError, match="integer indices"):
        long_answers([-1], [0], [1])
    with pytest.raises(StatisticsError, match="found 1 that are not"):
        long_answers([0, 1], [0, 0], [np.nan, 1])
    with pytest.raises(StatisticsError, match="2 repeats, the first by rater 1 on item 4"):
        long_answers([1, 1, 2, 2], [4, 4, 3, 3], [1, 1, 1, 1])
